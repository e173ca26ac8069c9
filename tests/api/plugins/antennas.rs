//! The group `antennas`: `plugins/antennas`.

use axum::http::Method;
use serde_json::{Value, json};

use super::collections::belong_to_owner;
use super::groups::{capabilities, served, settle, switch_off};
use crate::harness::{Client, Published, RequestBuilder, TestApp, id, ids};
use crate::platform::contract;

const GROUP: &str = "antennas";
const ANTENNAS: &str = "/api/v1/antennas";

async fn create(person: &Client, choices: Value) -> Value {
    let antenna = person.post(ANTENNAS).json(&choices).ok().await;
    contract::check("Antenna", &antenna);
    antenna
}

fn path(antenna: &Value, rest: &str) -> String {
    format!("{ANTENNAS}/{}{rest}", id(antenna))
}

/// Request body with `entries` for one of the lists of an antenna.
fn body(list: &str, entries: &[&str]) -> Value {
    match list.trim_start_matches("exclude_") {
        "accounts" => json!({ "account_ids": entries }),
        other => json!({ other: entries }),
    }
}

fn add(person: &Client, antenna: &Value, list: &str, entries: &[&str]) -> RequestBuilder {
    person.post(&path(antenna, &format!("/{list}"))).json(&body(list, entries))
}

fn remove(person: &Client, antenna: &Value, list: &str, entries: &[&str]) -> RequestBuilder {
    person.delete(&path(antenna, &format!("/{list}"))).json(&body(list, entries))
}

async fn show(person: &Client, antenna: &Value) -> Value {
    person.get(&path(antenna, "")).ok().await
}

/// Ids on the timeline of an antenna, after all pending work is done.
async fn caught(person: &Client, antenna: &Value) -> Vec<String> {
    settle(&person.server).await;
    let timeline = person.get(&format!("/api/v1/timelines/antenna/{}", id(antenna))).ok().await;
    contract::check("Status[]", &timeline);
    ids(&timeline).into_iter().map(str::to_owned).collect()
}

async fn home(person: &Client) -> Vec<String> {
    settle(&person.server).await;
    ids(&person.get("/api/v1/timelines/home").ok().await).into_iter().map(str::to_owned).collect()
}

/// Active accounts, so that statuses reach them.
async fn people<const N: usize>(app: &TestApp, names: [&str; N]) -> [Client; N] {
    let people = app.accounts(names).await;
    for person in &people {
        person.get("/api/v1/accounts/verify_credentials").ok().await;
        app.noted().await;
    }
    people
}

#[tokio::test]
async fn choices_of_antenna_are_shown_and_changed() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    let birds = create(&alice, json!({"title": "Birds", "with_media_only": "true"})).await;
    assert_eq!(
        birds,
        json!({
            "id": birds["id"], "title": "Birds", "stl": false, "ltl": false, "insert_feeds": false,
            "with_media_only": true, "ignore_reblog": false, "accounts_count": 0, "domains_count": 0, "tags_count": 0,
            "keywords_count": 0, "list": null,
        })
    );
    let form = [("title", "Rooks"), ("insert_feeds", "1"), ("ignore_reblog", "on"), ("with_media_only", "false")];
    let changed = alice.put(&path(&birds, "")).form(&form).ok().await;
    contract::check("Antenna", &changed);
    assert_eq!(
        [&changed["title"], &changed["insert_feeds"], &changed["ignore_reblog"], &changed["with_media_only"]],
        [&json!("Rooks"), &json!(true), &json!(true), &json!(false)]
    );
    let patched = alice.patch(&path(&birds, "")).json(&json!({"title": "Crows"})).ok().await;
    assert_eq!((&patched["title"], &patched["insert_feeds"]), (&json!("Crows"), &json!(true)), "the rest stays");
}

#[tokio::test]
async fn concurrent_requests_make_one_social_timeline_and_lose_nothing() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    let first = create(&alice, json!({"title": "1"})).await;
    let (title, media) = (json!({"title": "renamed"}), json!({"with_media_only": true}));
    for _ in 0..5 {
        alice.put(&path(&first, "")).json(&json!({"title": "1", "with_media_only": false})).ok().await;
        let both = tokio::join!(
            alice.put(&path(&first, "")).json(&title).send(),
            alice.put(&path(&first, "")).json(&media).send()
        );
        assert_eq!((both.0.status.as_u16(), both.1.status.as_u16()), (200, 200));
        let shown = show(&alice, &first).await;
        assert_eq!((&shown["title"], &shown["with_media_only"]), (&json!("renamed"), &json!(true)));
    }
    let more = json!({"title": "more", "stl": true});
    let made = futures_util::future::join_all((0..6).map(|_| alice.post(ANTENNAS).json(&more).send())).await;
    let made = made.iter().filter(|answer| answer.status.as_u16() == 200).count();
    assert_eq!(made, 1, "one social timeline");
}

#[tokio::test]
async fn antenna_entries_are_bounded() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = people(&app, ["alice", "bob", "carol"]).await;
    let long: Vec<String> = (0..60).map(|number| format!("{number:-<256}")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let mut full = json!(null);
    for number in 0..30 {
        full = create(&alice, json!({"title": number.to_string()})).await;
        add(&alice, &full, "keywords", &long).ok().await;
    }
    add(&alice, &full, "keywords", &[&"x".repeat(257)]).fails(422).await;
    let why = add(&alice, &full, "exclude_keywords", &long).fails(422).await;
    assert!(why.contains("16 KiB"), "{why}");
    assert_eq!(ids(&alice.get(ANTENNAS).ok().await).len(), 30);

    let rooks = create(&bob, json!({"title": "Rooks"})).await;
    add(&bob, &rooks, "keywords", &["rook"]).ok().await;
    let status = carol.publish(&format!("a rook {}", long[7])).await;
    assert_eq!(caught(&bob, &rooks).await, [id(&status)]);
    assert_eq!(caught(&alice, &full).await, [id(&status)]);
    assert_eq!(alice.delete(&path(&full, "")).ok().await, json!({}));
}

#[tokio::test]
async fn antenna_timeline_is_one_for_each_place() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    for flag in ["stl", "ltl"] {
        let nowhere = create(&alice, json!({"title": "nowhere", flag: true})).await;
        alice.post(ANTENNAS).json(&json!({"title": "again", flag: true})).fails(422).await;
        alice.post(ANTENNAS).json(&json!({"title": "home", flag: true, "insert_feeds": true})).fails(422).await;
        alice.delete(&path(&nowhere, "")).ok().await;
        create(&alice, json!({"title": "home", flag: true, "insert_feeds": true})).await;
        let plain = create(&alice, json!({"title": "nowhere", flag: true})).await;
        alice.put(&path(&plain, "")).json(&json!({"insert_feeds": true})).fails(422).await;
        assert_eq!(alice.put(&path(&plain, "")).json(&json!({flag: false})).ok().await[flag], false);
    }
}

async fn list(owner: &Client, options: Value) -> String {
    let list = owner.post("/api/v1/lists").json(&options).ok().await;
    contract::check("List", &list);
    assert_eq!(list["antennas"], json!([]), "always there");
    id(&list).to_owned()
}

#[tokio::test]
async fn antenna_writes_to_list_of_its_owner() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let own = list(&alice, json!({"title": "Rooks", "notify": true})).await;
    let others = list(&bob, json!({"title": "Crows"})).await;
    let antenna = create(&alice, json!({"title": "Birds", "insert_feeds": true})).await;
    for wrong in [&*others, "99", "x"] {
        alice.put(&path(&antenna, "")).json(&json!({"list_id": wrong})).fails(422).await;
        alice.post(ANTENNAS).json(&json!({"title": "Rooks", "list_id": wrong})).fails(422).await;
    }
    let made = alice.post(ANTENNAS).json(&json!({"title": "Own", "insert_feeds": true, "list_id": own})).ok().await;
    assert_eq!(made["list"], json!({"id": own, "title": "Rooks"}));
    alice.delete(&path(&made, "")).ok().await;
    let shown = alice.put(&path(&antenna, "")).json(&json!({"list_id": own})).ok().await;
    contract::check("Antenna", &shown);
    assert_eq!(shown["list"], json!({"id": own, "title": "Rooks"}));
    assert_eq!(show(&alice, &antenna).await, shown);
    let shown = alice.get(&format!("/api/v1/lists/{own}")).ok().await;
    contract::check("List", &shown);
    assert_eq!(shown["antennas"], json!([{"id": antenna["id"], "title": "Birds", "stl": false}]));
    assert_eq!(alice.get("/api/v1/lists").ok().await, json!([shown]));
    let off = alice.put(&path(&antenna, "")).json(&json!({"insert_feeds": false})).ok().await;
    assert_eq!(off["list"]["id"], json!(own), "it is used once something is inserted");
    assert_eq!(alice.get(&format!("/api/v1/lists/{own}")).ok().await["antennas"], json!([]));
    alice.put(&path(&antenna, "")).json(&json!({"insert_feeds": true})).ok().await;
    add(&alice, &antenna, "keywords", &["rook"]).ok().await;
    let status = bob.publish("a rook").await;
    assert_eq!(caught(&alice, &antenna).await, [id(&status)]);
    assert!(!home(&alice).await.contains(&id(&status).to_owned()));
    let timeline = alice.get(&format!("/api/v1/timelines/list/{own}")).ok().await;
    assert_eq!(ids(&timeline), [id(&status)]);
    let told = alice.get("/api/v1/notifications?types[]=list_status").ok().await;
    contract::check("Notification[]", &told);
    assert_eq!((&told[0]["status"]["id"], &told[0]["list"]["id"]), (&status["id"], &json!(own)));

    alice.delete(&format!("/api/v1/lists/{own}")).ok().await;
    settle(&app).await;
    assert_eq!(show(&alice, &antenna).await["list"], json!(null), "it writes home now");
    let other = list(&alice, json!({"title": "Jays"})).await;
    alice.put(&path(&antenna, "")).json(&json!({"list_id": other})).ok().await;
    assert_eq!(alice.put(&path(&antenna, "")).json(&json!({"list_id": "0"})).ok().await["list"], json!(null));
}

#[tokio::test]
async fn each_list_is_stored_counted_and_limited() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    let antenna = create(&alice, json!({"title": "Birds"})).await;
    for (list, entry, other, limit) in
        [("domains", "far.test", "日本語.jp", 20), ("keywords", "rook", "小鳥", 100), ("tags", "rook", "Bird", 50)]
    {
        let side = format!("exclude_{list}");
        assert_eq!(add(&alice, &antenna, list, &[entry]).ok().await, json!({}));
        assert_eq!(add(&alice, &antenna, &side, &[entry, other]).ok().await, json!({}));
        add(&alice, &antenna, list, &[entry]).fails(422).await;
        add(&alice, &antenna, list, &["aaa.test", "aaa.test"]).fails(422).await;
        let shown = alice.get(&path(&antenna, &format!("/{list}"))).ok().await;
        assert_eq!((&shown[list], shown[&side].as_array().unwrap().len()), (&json!([entry]), 2), "{list}");
        assert_eq!(show(&alice, &antenna).await[format!("{list}_count")], 1);
        alice.get(&path(&antenna, &format!("/{side}"))).fails(404).await;

        let many: Vec<String> = (1..limit)
            .map(|number| format!("aa{number}.test").replace('.', if list == "tags" { "_" } else { "." }))
            .collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        add(&alice, &antenna, list, &many).ok().await;
        add(&alice, &antenna, list, &["onemore"]).fails(422).await;
        assert_eq!(remove(&alice, &antenna, list, &many).ok().await, json!({}));
        assert_eq!(remove(&alice, &antenna, list, &[entry, "never"]).ok().await, json!({}));
        assert_eq!(show(&alice, &antenna).await[format!("{list}_count")], 0);
        remove(&alice, &antenna, &side, &[other]).ok().await;
        assert_eq!(alice.get(&path(&antenna, &format!("/{list}"))).ok().await[&side], json!([entry]));
    }
    add(&alice, &antenna, "keywords", &["x"]).fails(422).await;
    add(&alice, &antenna, "exclude_keywords", &["x"]).ok().await;
    add(&alice, &antenna, "domains", &["no domain"]).fails(422).await;
    let mixed = add(&alice, &antenna, "domains", &[" FAR.Test. "]);
    mixed.ok().await;
    let shown = alice.get(&path(&antenna, "/domains")).ok().await;
    assert_eq!(shown["domains"], json!(["far.test"]), "one form of a name");
}

#[tokio::test]
async fn accounts_are_included_and_excluded() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let antenna = create(&alice, json!({"title": "People"})).await;
    let (bob_id, carol_id) = (bob.id().to_string(), carol.id().to_string());
    for (list, of_account) in [("accounts", "antennas"), ("exclude_accounts", "exclude_antennas")] {
        let place = path(&antenna, &format!("/{list}"));
        assert_eq!(add(&alice, &antenna, list, &[&bob_id, &carol_id]).ok().await, json!({}));
        add(&alice, &antenna, list, &[&bob_id]).fails(422).await;
        for unknown in ["1", "x"] {
            add(&alice, &antenna, list, &[unknown]).fails(404).await;
        }
        let page = alice.get(&format!("{place}?limit=1")).send().await;
        contract::check("Account[]", &page.json());
        assert_eq!(ids(&page.json()), [carol_id.as_str()]);
        assert!(page.header("link").contains(&format!("{place}?limit=1&max_id={carol_id}")), "{}", page.header("link"));
        let all = alice.get(&format!("{place}?limit=0")).send().await;
        assert_eq!((ids(&all.json()).len(), all.header("link")), (2, ""));
        let naming = alice.get(&format!("/api/v1/accounts/{bob_id}/{of_account}")).ok().await;
        contract::check("Antenna[]", &naming);
        assert_eq!(ids(&naming), [id(&antenna)]);
        assert_eq!(bob.get(&format!("/api/v1/accounts/{bob_id}/{of_account}")).ok().await, json!([]));
        alice.get(&format!("/api/v1/accounts/1/{of_account}")).fails(404).await;

        let query = format!("{place}?account_ids[]={bob_id}");
        assert_eq!(alice.delete(&query).ok().await, json!({}));
        assert_eq!(ids(&alice.get(&place).ok().await), [carol_id.as_str()]);
    }
    assert_eq!(show(&alice, &antenna).await["accounts_count"], 1, "only listed ones");
    remove(&alice, &antenna, "accounts", &["1"]).ok().await;
    remove(&alice, &antenna, "exclude_accounts", &["1"]).fails(404).await;
    app.suspend(&carol_id).await;
    assert_eq!(alice.get(&path(&antenna, "/accounts")).ok().await, json!([]));
    assert_eq!(alice.get(&format!("/api/v1/accounts/{carol_id}/antennas")).ok().await, json!([]));
}

#[tokio::test]
async fn antenna_matches_status_traits() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = people(&app, ["alice", "bob", "carol"]).await;
    let bob_id = bob.id().to_string();
    let mut antennas = Vec::new();
    for (list, entry) in
        [("keywords", "rook"), ("tags", "Chess"), ("accounts", bob_id.as_str()), ("domains", "example.test")]
    {
        let antenna = create(&alice, json!({ "title": list })).await;
        add(&alice, &antenna, list, &[entry]).ok().await;
        antennas.push(antenna);
    }
    let empty = create(&alice, json!({"title": "listens for nothing"})).await;
    let word = bob.publish("the brooks of yore").await;
    let tag = bob.publish("let us play #chess").await;
    let warned = bob.publish(json!({"status": "hidden", "spoiler_text": "rookery"})).await;
    let (word, tag, warned) = (id(&word), id(&tag), id(&warned));
    assert_eq!(caught(&alice, &antennas[0]).await, [warned, word], "any part of text and warning");
    assert_eq!(caught(&alice, &antennas[1]).await, [tag]);
    assert_eq!(caught(&alice, &antennas[2]).await, [warned, tag, word]);
    assert_eq!(caught(&alice, &antennas[3]).await, [warned, tag, word]);
    assert_eq!(caught(&alice, &empty).await, [""; 0]);

    let known = bob.reblog(&word).ok().await;
    let other = carol.publish("about rooks").await;
    let reblog = bob.reblog(&other).ok().await;
    assert_eq!(caught(&alice, &antennas[0]).await, [id(&other), warned, word], "a reblog has no text");
    assert_eq!(caught(&alice, &antennas[2]).await[0], id(&reblog));
    assert!(!caught(&alice, &antennas[2]).await.contains(&id(&known).to_owned()), "it is there already");
    assert!(home(&alice).await.is_empty());
}

#[tokio::test]
async fn antenna_requires_every_kind_and_no_exclusion() {
    let app = served(GROUP).await;
    let [alice, bob, carol] = people(&app, ["alice", "bob", "carol"]).await;
    let antenna = create(&alice, json!({"title": "Bob on rooks"})).await;
    add(&alice, &antenna, "keywords", &["rook", "crow"]).ok().await;
    add(&alice, &antenna, "accounts", &[&bob.id().to_string()]).ok().await;
    add(&alice, &antenna, "exclude_keywords", &["takes"]).ok().await;
    add(&alice, &antenna, "exclude_tags", &["spoiler"]).ok().await;
    carol.publish("a rook").await;
    bob.publish("a knight").await;
    bob.publish("rook takes knight").await;
    bob.publish("rook waits #spoiler").await;
    let fits = bob.publish("a crow waits").await;
    assert_eq!(caught(&alice, &antenna).await, [id(&fits)]);
    add(&alice, &antenna, "exclude_accounts", &[&bob.id().to_string()]).ok().await;
    bob.publish("another crow").await;
    assert_eq!(caught(&alice, &antenna).await, [id(&fits)], "nothing is taken back, nothing new comes");
}

#[tokio::test]
async fn antenna_checks_edited_status_again() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let antenna = create(&alice, json!({"title": "Rooks"})).await;
    add(&alice, &antenna, "keywords", &["rook"]).ok().await;
    let status = bob.publish("a kmight").await;
    assert_eq!(caught(&alice, &antenna).await, [""; 0]);
    app.tick();
    bob.edit(&status, "a rook").ok().await;
    assert_eq!(caught(&alice, &antenna).await, [id(&status)]);
    bob.delete_status(&status).ok().await;
    assert_eq!(caught(&alice, &antenna).await, [""; 0]);
}

#[tokio::test]
async fn antenna_skips_statuses_hidden_from_owner() {
    let app = served(GROUP).await;
    let [stranger, follower, author] = people(&app, ["stranger", "follower", "author"]).await;
    follower.follow(&author).ok().await;
    let mut antennas = Vec::new();
    for person in [&stranger, &follower] {
        let antenna = create(person, json!({"title": "Author"})).await;
        add(person, &antenna, "accounts", &[&author.id().to_string()]).ok().await;
        antennas.push(antenna);
    }
    let mut public = Vec::new();
    let mut all = Vec::new();
    for visibility in ["public", "public_unlisted", "login", "unlisted", "private", "direct"] {
        let status = author.publish(json!({"status": visibility, "visibility": visibility})).await;
        match visibility {
            "public" | "public_unlisted" | "login" => public.insert(0, id(&status).to_owned()),
            _ => {}
        }
        if visibility != "direct" {
            all.insert(0, id(&status).to_owned());
        }
    }
    assert_eq!(caught(&stranger, &antennas[0]).await, public);
    assert_eq!(caught(&follower, &antennas[1]).await, all);

    stranger.mute(&author).ok().await;
    author.publish("one more").await;
    assert_eq!(caught(&stranger, &antennas[0]).await.len(), 0, "the home filter decides, when written and when read");
    follower.block(&author).ok().await;
    assert_eq!(caught(&follower, &antennas[1]).await, [""; 0], "blocking clears");
}

#[tokio::test]
async fn searchable_unlisted_statuses_match_keywords_of_strangers() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let (words, people) =
        (create(&alice, json!({"title": "words"})).await, create(&alice, json!({"title": "people"})).await);
    add(&alice, &words, "keywords", &["rook"]).ok().await;
    add(&alice, &people, "accounts", &[&bob.id().to_string()]).ok().await;
    let found = bob.publish(json!({"status": "rook", "visibility": "unlisted", "searchability": "public"})).await;
    bob.publish(json!({"status": "rook", "visibility": "unlisted", "searchability": "private"})).await;
    assert_eq!(caught(&alice, &words).await, [id(&found)]);
    assert_eq!(caught(&alice, &people).await, [""; 0]);
}

#[tokio::test]
async fn antenna_inserts_into_home_feed() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let (first, second) = (
        create(&alice, json!({"title": "Rooks", "insert_feeds": true})).await,
        create(&alice, json!({"title": "Chess", "insert_feeds": true})).await,
    );
    add(&alice, &first, "keywords", &["rook"]).ok().await;
    add(&alice, &second, "tags", &["chess"]).ok().await;
    let status = bob.publish("a rook #chess").await;
    assert_eq!(home(&alice).await, [id(&status)]);
    assert_eq!(caught(&alice, &first).await, [id(&status)]);
    assert_eq!(caught(&alice, &second).await, [id(&status)], "each fills its own feed");
    let shown = alice.get("/api/v1/timelines/home").ok().await;
    contract::check("Status[]", &shown);
}

#[tokio::test]
async fn timelines_ignore_lists_and_need_the_local_timeline() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let mut antennas = Vec::new();
    for flag in ["stl", "ltl"] {
        let antenna = create(&alice, json!({"title": flag, flag: true, "with_media_only": true})).await;
        add(&alice, &antenna, "keywords", &["nobody writes this"]).ok().await;
        antennas.push(antenna);
    }
    let public = bob.publish("hello").await;
    let private = bob.publish_to("private", "for followers").await;
    assert_eq!(caught(&alice, &antennas[0]).await, [id(&public)]);
    assert_eq!(caught(&alice, &antennas[1]).await, [id(&public)]);
    alice.follow(&bob).ok().await;
    let later = bob.publish_to("private", "for followers").await;
    assert_eq!(caught(&alice, &antennas[0]).await, [id(&later), id(&public)], "what follows write belongs to it");
    assert_eq!(caught(&alice, &antennas[1]).await, [id(&public)]);
    assert_ne!(id(&private), id(&later));
}

#[tokio::test]
async fn antenna_skips_owner_inactive_for_week() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let antenna = create(&alice, json!({"title": "Rooks"})).await;
    add(&alice, &antenna, "keywords", &["rook"]).ok().await;
    app.app.clock.advance(chrono::Duration::days(8));
    bob.publish("a rook").await;
    settle(&app).await;
    assert_eq!(caught(&alice, &antenna).await, [""; 0]);

    app.noted().await;
    app.set_user(&alice, "last_active_at = NULL").await;
    app.app.clock.advance(chrono::Duration::days(1));
    alice.get(ANTENNAS).ok().await;
    app.noted().await;
    let status = bob.publish("another rook").await;
    assert_eq!(caught(&alice, &antenna).await, [id(&status)]);
}

#[tokio::test]
async fn antenna_timeline_is_paged() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let antenna = create(&alice, json!({"title": "Bob"})).await;
    add(&alice, &antenna, "accounts", &[&bob.id().to_string()]).ok().await;
    let mut statuses = Vec::new();
    for number in 0..25 {
        statuses.insert(0, bob.publish(&number.to_string()).await);
    }
    let newest: Vec<&str> = statuses.iter().map(Published::id).collect();
    settle(&app).await;
    let place = format!("/api/v1/timelines/antenna/{}", id(&antenna));
    let first = alice.get(&place).send().await;
    assert_eq!(ids(&first.json()), newest[..20]);
    assert!(first.header("link").contains(&format!("max_id={}", newest[19])), "{}", first.header("link"));
    assert!(first.header("link").contains(&format!("min_id={}", newest[0])), "{}", first.header("link"));
    let rest = alice.get(&format!("{place}?max_id={}", newest[19])).ok().await;
    assert_eq!(ids(&rest), newest[20..]);
    assert_eq!(ids(&alice.get(&format!("{place}?min_id={}&limit=2", newest[4])).ok().await), newest[2..4]);
    assert_eq!(ids(&alice.get(&format!("{place}?since_id={}&limit=2", newest[4])).ok().await), newest[..2]);
}

#[tokio::test]
async fn only_their_owner_sees_and_changes_antennas() {
    let app = served(GROUP).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let antenna = create(&alice, json!({"title": "Birds"})).await;
    let included = ["/accounts", "/domains", "/keywords", "/tags"];
    let excluded = ["/exclude_accounts", "/exclude_domains", "/exclude_keywords", "/exclude_tags"];
    let mut reads: Vec<String> = included.iter().chain(&excluded[..1]).map(|rest| path(&antenna, rest)).collect();
    reads.push(format!("/api/v1/timelines/antenna/{}", id(&antenna)));
    let mut writes = Vec::new();
    for list in included.into_iter().chain(excluded) {
        writes.extend([Method::POST, Method::DELETE].map(|method| (method, path(&antenna, list))));
    }
    belong_to_owner(&app, [&alice, &bob], "statuses", &path(&antenna, ""), &reads, &writes).await;
    let reader = alice.with_scopes("read:statuses").await;
    let catching = format!("/api/v1/accounts/{}/antennas", bob.id());
    app.anonymous().get(&catching).fails(401).await;
    reader.get(&catching).fails(403).await;
}

#[tokio::test]
async fn disabled_group_is_absent() {
    let app = served(GROUP).await;
    let alice = app.account("alice").await;
    let antenna = create(&alice, json!({"title": "Birds"})).await;
    assert!(capabilities(&app).await.contains(&"kmyblue_antenna".to_owned()));

    switch_off(&app, GROUP).await;
    alice.get(ANTENNAS).fails(404).await;
    alice.post(ANTENNAS).json(&json!({"title": "Birds"})).fails(404).await;
    alice.get(&format!("/api/v1/timelines/antenna/{}", id(&antenna))).fails(404).await;
    alice.get(&format!("/api/v1/accounts/{}/antennas", alice.id())).fails(404).await;
    assert!(!capabilities(&app).await.contains(&"kmyblue_antenna".to_owned()));
    alice.publish("goes on").await;
}

#[tokio::test]
async fn antenna_stream_shows_new_entries_until_deletion() {
    let app = served(GROUP).await;
    let [alice, bob] = people(&app, ["alice", "bob"]).await;
    let antenna = create(&alice, json!({ "title": "Birds" })).await;
    add(&alice, &antenna, "keywords", &["rook"]).ok().await;
    let channel = format!("antenna?antenna={}", id(&antenna));
    let asked = format!("/api/v1/streaming/{channel}");
    assert_eq!(bob.get(&asked).fails(401).await, "Not authorized to stream this antenna");
    assert_eq!(alice.get("/api/v1/streaming/antenna").fails(400).await, "Missing antenna name parameter");

    let mut events = alice.events(&channel).await;
    bob.publish("a knight").await;
    let rook = bob.publish("a rook").await.into_id();
    settle(&app).await;
    let told = events.next().await.unwrap();
    assert_eq!((told.name.as_str(), told.json()["id"].as_str().unwrap()), ("update", rook.as_str()));
    bob.delete_status(&rook).ok().await;
    let told = events.next().await.unwrap();
    assert_eq!((told.name.as_str(), told.payload.as_str()), ("delete", rook.as_str()));
    alice.delete(&path(&antenna, "")).ok().await;
    assert!(events.rest().await.contains(":This stream has ended"));
    switch_off(&app, GROUP).await;
    assert_eq!(alice.get(&asked).fails(400).await, "Unknown stream type");
}
