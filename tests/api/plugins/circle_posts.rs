//! Posts to circles: recipients, notifications, and the effect of later changes. The circles themselves are in
//! [`circles`](super::circles).

use chrono::Duration;
use database::Engine;
use serde_json::{Value, json};

use super::circles::{add, circle_of, create, path};
use super::groups::{served, settle, switch_on};
use crate::harness::{Browser, Client, Published, TestApp, id, ids};
use crate::platform::contract;
use crate::seed::Seed;

const STATUSES: &str = "/api/v1/statuses";

fn of(status: &Value, rest: &str) -> String {
    format!("{STATUSES}/{}{rest}", id(status))
}

fn to_circle(text: &str, circle: &Value) -> Value {
    json!({ "status": text, "visibility": "circle", "circle_id": circle["id"] })
}

/// The `people` who see a status.
async fn seeing<'a>(status: &Value, people: &[&'a Client]) -> Vec<&'a str> {
    let mut seeing = Vec::new();
    for person in people {
        let answer = person.get(&of(status, "")).send().await;
        assert!(matches!(answer.status.as_u16(), 200 | 404), "{}", answer.text());
        if answer.status == 200 {
            seeing.push(person.name.as_str());
        }
    }
    seeing
}

/// Names in the audience of a status, as returned to `reader`.
async fn reaching(reader: &Client, status: &Value) -> Vec<String> {
    let accounts = reader.get(&of(status, "/mentioned_by?limit=80")).ok().await;
    let mut names: Vec<String> =
        accounts.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

async fn history(owner: &Client, circle: &Value) -> Vec<String> {
    let statuses = owner.get(&path(circle, "/statuses")).ok().await;
    contract::check("Status[]", &statuses);
    ids(&statuses).into_iter().map(str::to_owned).collect()
}

/// Statuses of mention notifications, newest first.
async fn mentions(person: &Client) -> Vec<String> {
    let told = person.get("/api/v1/notifications?types[]=mention").ok().await;
    told.as_array().unwrap().iter().map(|told| told["status"]["id"].as_str().unwrap().to_owned()).collect()
}

async fn conversation(app: &TestApp, status: &Value) -> i64 {
    let text = format!("SELECT conversation_id FROM statuses WHERE id = {}", id(status));
    app.number(&text).await
}

#[tokio::test]
async fn circle_is_posted_to_by_three_words_and_three_encodings() {
    let app = served("circles").await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    carol.follow(&alice).ok().await;
    let people = [&alice, &bob, &carol, &dave];
    let mut posted = Vec::new();
    for word in ["circle", "limited", "reply"] {
        let fields = [("status", "for rooks"), ("visibility", word), ("circle_id", id(&rooks))];
        let json = json!({ "status": "for rooks", "visibility": word, "circle_id": rooks["id"] });
        for request in [
            alice.post(STATUSES).json(&json),
            alice.post(STATUSES).form(&fields),
            alice.post(STATUSES).multipart(&fields, &[]),
        ] {
            app.tick();
            let status = request.ok().await;
            contract::check("Status", &status);
            let shown = ["visibility", "visibility_ex", "limited_scope"].map(|name| status[name].as_str().unwrap());
            assert_eq!(shown, ["private", "limited", "circle"], "{word}");
            assert_eq!((&status["mentions"], &status["searchability"]), (&json!([]), &json!("direct")), "{word}");
            assert_eq!(seeing(&status, &people).await, ["alice", "bob"], "{word}");
            app.anonymous().get(&of(&status, "")).fails(404).await;
            posted.push(id(&status).to_owned());
        }
    }
    assert_eq!(reaching(&alice, &json!({ "id": posted[0] })).await, ["bob"]);
    for other in [&bob, &carol] {
        other.get(&of(&json!({ "id": posted[0] }), "/mentioned_by")).fails(404).await;
    }
    posted.reverse();
    settle(&app).await;
    assert_eq!(history(&alice, &rooks).await, posted);
    let public = alice.publish(json!({ "status": "x", "visibility": "public", "circle_id": rooks["id"] })).await;
    assert_eq!((&public["visibility"], seeing(&public, &[&dave]).await.len()), (&json!("public"), 1), "not asked");
}

#[tokio::test]
async fn unusable_circle_is_refused_and_nothing_is_created() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (own, other) = (circle_of(&alice, "Rooks", &[&bob]).await, create(&bob, "Of bob").await);
    alice.publish("hello").await;
    for (word, circle, status) in [
        ("circle", json!(null), 422),
        ("circle", json!(""), 422),
        ("circle", json!("999"), 404),
        ("circle", json!("no id"), 404),
        ("circle", other["id"].clone(), 422),
        ("limited", json!(null), 422),
        ("limited", json!(""), 422),
        ("limited", json!("999"), 404),
        ("limited", other["id"].clone(), 422),
        ("reply", json!(null), 422),
        ("reply", json!("999"), 404),
        ("reply", other["id"].clone(), 422),
        ("ring", own["id"].clone(), 422),
    ] {
        let body = json!({ "status": "x", "visibility": word, "circle_id": circle });
        alice.post(STATUSES).json(&body).fails(status).await;
        let later =
            json!({ "status": "x", "visibility": word, "circle_id": circle, "scheduled_at": "2026-01-16T12:00:00Z" });
        alice.post(STATUSES).json(&later).fails(status).await;
    }
    let gone = json!({ "status": "x", "visibility": "limited", "in_reply_to_id": "999" });
    alice.post(STATUSES).json(&gone).fails(404).await;
    let account = alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["statuses_count"], 1);
    assert_eq!(alice.get("/api/v1/scheduled_statuses").ok().await, json!([]));
}

#[tokio::test]
async fn audience_is_frozen_when_the_post_is_published() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let status = alice.publish(to_circle("for rooks", &rooks)).await;
    settle(&app).await;
    carol.follow(&alice).ok().await;
    add(&alice, &rooks, &[&carol]).await;
    let bobs = json!({ "account_ids": [bob.id()] });
    alice.delete(&path(&rooks, "/accounts")).json(&bobs).ok().await;
    assert_eq!(seeing(&status, &[&bob, &carol]).await, ["bob"]);
    bob.unfollow(&alice).ok().await;
    settle(&app).await;
    assert_eq!(seeing(&status, &[&bob, &carol]).await, ["bob"]);
    assert_eq!(history(&alice, &rooks).await, [id(&status)]);

    let second = alice.publish(to_circle("for carol", &rooks)).await;
    alice.delete(&path(&rooks, "")).ok().await;
    settle(&app).await;
    assert_eq!((seeing(&status, &[&bob]).await.len(), seeing(&second, &[&carol]).await.len()), (1, 1));
    assert_eq!(alice.get(&of(&second, "")).ok().await["limited_scope"], "circle", "its posts stay");
    alice.get(&path(&rooks, "/statuses")).fails(404).await;
}

#[tokio::test]
async fn reply_to_circle_opens_a_new_conversation() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let root = carol.publish("a question").await;
    for word in ["circle", "limited"] {
        let mut body = to_circle("let us talk about it", &rooks);
        (body["visibility"], body["in_reply_to_id"]) = (json!(word), root["id"].clone());
        let status = alice.publish(body).await;
        assert_eq!((&status["in_reply_to_id"], &status["in_reply_to_account_id"]), (&root["id"], &json!(null)));
        assert_eq!(status["limited_scope"], "circle");
        assert_ne!(conversation(&app, &status).await, conversation(&app, &root).await);
        assert_eq!(seeing(&status, &[&bob, &carol]).await, ["bob"]);
        settle(&app).await;
        assert_eq!(mentions(&carol).await, [""; 0], "the author of the parent is not notified");
        assert_eq!(reaching(&alice, &status).await, ["bob"]);
    }
}

#[tokio::test]
async fn reply_in_thread_reaches_audience_of_thread() {
    let app = served("circles").await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob, &carol]).await;
    let of_bob = circle_of(&bob, "Of bob", &[&dave]).await;
    let root = alice.publish(to_circle("who comes?", &rooks)).await;
    let people = [&alice, &bob, &carol, &dave];
    let mut answers = Vec::new();
    for (word, circle) in [("reply", json!(null)), ("limited", json!("")), ("reply", of_bob["id"].clone())] {
        let body = json!({ "status": "I do", "visibility": word, "in_reply_to_id": root["id"], "circle_id": circle });
        let answer = bob.publish(body).await;
        assert_eq!((&answer["limited_scope"], &answer["mentions"]), (&json!("reply"), &json!([])), "{word} {circle}");
        assert_eq!(seeing(&answer, &people).await, ["alice", "bob", "carol"], "{word} {circle}");
        assert_eq!(answer["in_reply_to_account_id"].as_str(), Some(alice.id().to_string().as_str()));
        assert_eq!(conversation(&app, &answer).await, conversation(&app, &root).await);
        answers.push(answer);
    }
    assert_eq!(reaching(&alice, &answers[0]).await, ["alice", "carol"], "the owner of the conversation may read it");
    bob.get(&of(&answers[0], "/mentioned_by")).fails(404).await;
    settle(&app).await;
    assert_eq!(history(&bob, &of_bob).await, [""; 0]);

    let own = json!({ "status": "for mine", "visibility": "limited", "in_reply_to_id": root["id"], "circle_id": of_bob["id"] });
    let own = bob.publish(own).await;
    assert_eq!(seeing(&own, &people).await, ["bob", "dave"], "a circle was named");
    assert_eq!(reaching(&bob, &own).await, ["dave"]);
}

#[tokio::test]
async fn audience_is_notified_only_in_conversations_it_wrote_in() {
    let app = served("circles").await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob, &carol]).await;
    let root = alice.publish(to_circle("hello @dave", &rooks)).await;
    settle(&app).await;
    assert_eq!(root["mentions"].as_array().unwrap().len(), 1, "accounts mentioned in the text are shown");
    assert_eq!((mentions(&bob).await.len(), mentions(&carol).await.len()), (0, 0));
    assert_eq!(mentions(&dave).await, [id(&root)]);
    assert_eq!(reaching(&alice, &root).await, ["bob", "carol", "dave"]);

    let reply = |text: &str| json!({ "status": text, "visibility": "reply", "in_reply_to_id": root["id"] });
    let first = bob.publish(reply("I am here")).await;
    settle(&app).await;
    assert_eq!(mentions(&alice).await, [id(&first)], "she wrote before");
    assert_eq!((mentions(&carol).await.len(), mentions(&dave).await.len()), (0, 1), "they did not");
    let second = alice.publish(reply("good")).await;
    settle(&app).await;
    assert_eq!((mentions(&bob).await, mentions(&carol).await.len()), (vec![id(&second).to_owned()], 0));
    let told = bob.get("/api/v1/notifications?types[]=mention").ok().await;
    assert_eq!(told[0]["status"]["mentions"], json!([]));

    // They did not write in another conversation.
    let other = alice.publish(to_circle("something else", &rooks)).await;
    settle(&app).await;
    assert!(!mentions(&bob).await.contains(&id(&other).to_owned()));
}

#[tokio::test]
async fn blocked_accounts_and_domains_are_left_out() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob, &carol]).await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let far = seed.account("far", Some("far.test"));
    seed.follow(far, alice.id().into());
    seed.write(app.db()).await;
    alice.post(&path(&rooks, "/accounts")).json(&json!({ "account_ids": [far.to_string()] })).ok().await;
    let root = alice.publish(to_circle("all of you", &rooks)).await;
    assert_eq!(reaching(&alice, &root).await, ["bob", "carol", "far@far.test"]);

    bob.block(&carol).ok().await;
    bob.post("/api/v1/domain_blocks").form(&[("domain", "far.test")]).ok().await;
    let answer = json!({ "status": "to alice", "visibility": "reply", "in_reply_to_id": root["id"] });
    let answer = bob.publish(answer).await;
    assert_eq!(reaching(&alice, &answer).await, ["alice"]);
    // Before the follows of that domain have ended.
    alice.post("/api/v1/domain_blocks").form(&[("domain", "far.test")]).ok().await;
    let second = alice.publish(to_circle("those left", &rooks)).await;
    assert_eq!(reaching(&alice, &second).await, ["bob", "carol"]);
}

#[tokio::test]
async fn post_without_other_recipients_is_personal() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let empty = create(&alice, "Nobody").await;
    let personal = alice.publish(to_circle("a note", &empty)).await;
    assert_eq!((&personal["limited_scope"], &personal["visibility_ex"]), (&json!("personal"), &json!("limited")));
    assert_eq!(alice.publish(to_circle("to @alice", &empty)).await["limited_scope"], "personal", "to oneself");
    let mentioning = alice.publish(to_circle("to @bob", &empty)).await;
    assert_eq!(mentioning["limited_scope"], "circle");
    assert_eq!(seeing(&mentioning, &[&bob, &carol]).await, ["bob"]);
    assert_eq!(seeing(&personal, &[&alice, &bob]).await, ["alice"]);
    settle(&app).await;
    assert_eq!(history(&alice, &empty).await.len(), 3);
    let answer = json!({ "status": "to myself", "visibility": "reply", "in_reply_to_id": personal["id"] });
    assert_eq!(alice.publish(answer).await["limited_scope"], "reply");
}

#[tokio::test]
async fn edit_keeps_the_audience_and_adds_mentions() {
    let app = served("circles").await;
    let [alice, bob, carol, dave, erin] = app.accounts(["alice", "bob", "carol", "dave", "erin"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let other = circle_of(&alice, "Others", &[&erin]).await;
    let status = alice.publish(to_circle("hello @carol", &rooks)).await;
    erin.follow(&alice).ok().await;
    add(&alice, &rooks, &[&erin]).await;
    let edit = json!({ "status": "hello @dave", "visibility": "public", "circle_id": other["id"] });
    let edited = alice.put(&of(&status, "")).json(&edit).ok().await;
    let shown: Vec<&Value> = edited["mentions"].as_array().unwrap().iter().map(|mention| &mention["acct"]).collect();
    assert_eq!((shown, &edited["limited_scope"]), (vec![&json!("dave")], &json!("circle")));
    assert_eq!(edited["visibility_ex"], "limited");
    assert_eq!(seeing(&status, &[&bob, &carol, &dave, &erin]).await, ["bob", "carol", "dave"]);
    settle(&app).await;
    assert_eq!((mentions(&dave).await, mentions(&bob).await.len()), (vec![id(&status).to_owned()], 0));
    assert_eq!((history(&alice, &rooks).await.len(), history(&alice, &other).await.len()), (1, 0));

    let empty = create(&alice, "Nobody").await;
    let note = alice.publish(to_circle("a note", &empty)).await;
    let edited = alice.put(&of(&note, "")).json(&json!({ "status": "a note for @bob" })).ok().await;
    assert_eq!((&edited["limited_scope"], seeing(&note, &[&bob]).await.len()), (&json!("personal"), 1));
}

#[tokio::test]
async fn circle_post_is_not_reblogged() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let status = alice.publish(to_circle("for rooks", &rooks)).await;
    for (person, refused) in [(&alice, 403), (&bob, 403), (&carol, 404)] {
        person.post(&of(&status, "/reblog")).fails(refused).await;
    }
    let public = alice.publish("hello").await;
    for word in ["limited", "direct", "circle"] {
        bob.post(&of(&public, "/reblog")).form(&[("visibility", word)]).fails(422).await;
    }
}

#[tokio::test]
async fn scheduled_post_reaches_the_circle_as_it_is_then() {
    let app = served("circles").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let (rooks, doomed) = (circle_of(&alice, "Rooks", &[&bob]).await, circle_of(&alice, "Doomed", &[&bob]).await);
    let mut scheduled = Vec::new();
    for (circle, word) in [(&rooks, "limited"), (&doomed, "circle")] {
        let mut body = to_circle("later", circle);
        (body["visibility"], body["scheduled_at"]) = (json!(word), json!("2026-01-15T13:00:00Z"));
        let made = alice.post(STATUSES).json(&body).ok().await;
        contract::check("ScheduledStatus", &made);
        assert_eq!((&made["params"]["circle_id"], &made["params"]["visibility"]), (&circle["id"], &json!(word)));
        scheduled.push(made);
    }
    carol.follow(&alice).ok().await;
    add(&alice, &rooks, &[&carol]).await;
    bob.unfollow(&alice).ok().await;
    alice.delete(&path(&doomed, "")).ok().await;
    app.app.clock.advance(Duration::hours(2));
    settle(&app).await;

    let posted = history(&alice, &rooks).await;
    let status = json!({ "id": posted[0] });
    assert_eq!((posted.len(), seeing(&status, &[&bob, &carol]).await), (1, vec!["carol"]));
    assert_eq!(alice.get(&of(&status, "")).ok().await["limited_scope"], "circle");
    let left = alice.get("/api/v1/scheduled_statuses").ok().await;
    assert_eq!(ids(&left), [id(&scheduled[1])], "without its circle it is kept, and its author notified");
    let account = alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["statuses_count"], 1);
}

#[tokio::test]
async fn circle_post_enters_only_feeds_of_audience() {
    let app = served("circles").await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    carol.follow(&alice).ok().await;
    let mut lists = Vec::new();
    for person in [&bob, &carol] {
        let list = person.post("/api/v1/lists").form(&[("title", "hers")]).ok().await;
        let members = json!({ "account_ids": [alice.id()] });
        person.post(&format!("/api/v1/lists/{}/accounts", id(&list))).json(&members).ok().await;
        lists.push(format!("/api/v1/timelines/list/{}", id(&list)));
    }
    for person in [&alice, &bob, &carol, &dave] {
        person.get("/api/v1/timelines/home").ok().await;
    }
    for (person, list) in [(&bob, &lists[0]), (&carol, &lists[1])] {
        person.get(list).ok().await;
    }
    settle(&app).await;
    let mut streams = Vec::new();
    for (person, channel) in [(&bob, "user"), (&carol, "user"), (&bob, "public"), (&bob, "hashtag?tag=rooks")] {
        streams.push((channel, person.events(channel).await));
    }
    let status = alice.publish(to_circle("for #rooks, and @dave", &rooks)).await;
    settle(&app).await;
    let shown = async |person: &Client, path: &str| ids(&person.get(path).ok().await).contains(&id(&status));
    let home = "/api/v1/timelines/home";
    let homes =
        [shown(&alice, home).await, shown(&bob, home).await, shown(&carol, home).await, shown(&dave, home).await];
    assert_eq!(homes, [true, true, false, false], "dave does not follow her");
    assert_eq!([shown(&bob, &lists[0]).await, shown(&carol, &lists[1]).await], [true, false]);
    for person in [&alice, &bob, &carol] {
        for timeline in ["public", "public?local=true", "tag/rooks"] {
            assert!(!shown(person, &format!("/api/v1/timelines/{timeline}")).await, "{}: {timeline}", person.name);
        }
    }
    app.mark(&[&bob, &carol]);
    let mut heard = Vec::new();
    for (channel, mut events) in streams {
        let told = if channel == "user" { events.until_mark().await } else { Vec::new() };
        let mut text: String = told.into_iter().map(|event| event.payload).collect();
        if channel != "user" {
            while let Some(Some(event)) =
                futures_util::FutureExt::now_or_never(tokio::task::unconstrained(events.next()))
            {
                text.push_str(&event.payload);
            }
        }
        heard.push(text.contains(id(&status)));
    }
    assert_eq!(heard, [true, false, false, false]);
    let profile = format!("/api/v1/accounts/{}/statuses", alice.id());
    assert_eq!([shown(&bob, &profile).await, shown(&carol, &profile).await], [true, false]);
}

#[tokio::test]
async fn antennas_of_the_audience_catch_a_circle_post() {
    let app = served("circles").await;
    switch_on(&app, "antennas").await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    carol.follow(&alice).ok().await;
    let mut timelines = Vec::new();
    for person in [&bob, &carol] {
        let antenna = person.post("/api/v1/antennas").json(&json!({ "title": "Hers" })).ok().await;
        let accounts = json!({ "account_ids": [alice.id().to_string()] });
        person.post(&format!("/api/v1/antennas/{}/accounts", id(&antenna))).json(&accounts).ok().await;
        timelines.push(format!("/api/v1/timelines/antenna/{}", id(&antenna)));
    }
    let status = alice.publish(to_circle("for rooks", &rooks)).await;
    settle(&app).await;
    assert_eq!(ids(&bob.get(&timelines[0]).ok().await), [id(&status)]);
    assert_eq!(carol.get(&timelines[1]).ok().await, json!([]));
    let caught = format!("SELECT COUNT(*) FROM feed_entries WHERE kind >= 100 AND status_id = {}", id(&status));
    assert_eq!(app.number(&caught).await, 1, "it is in no other feed");
}

#[tokio::test]
async fn history_is_paged_without_deleted_statuses() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (rooks, other) = (circle_of(&alice, "Rooks", &[&bob]).await, create(&alice, "Others").await);
    let mut posted = Vec::new();
    for number in 0..45 {
        posted.push(alice.publish(to_circle(&format!("number {number}"), &rooks)).await);
    }
    let elsewhere = alice.publish(to_circle("elsewhere", &other)).await;
    settle(&app).await;
    posted.reverse();
    let newest: Vec<&str> = posted.iter().map(Published::id).collect();
    let place = path(&rooks, "/statuses");
    let first = alice.get(&place).send().await;
    assert_eq!(ids(&first.json()), newest[..20]);
    let link = first.header("link").to_owned();
    assert!(link.contains(&format!("{place}?max_id={}", newest[19])), "{link}");
    assert!(link.contains(&format!("since_id={}", newest[0])), "{link}");
    assert_eq!(ids(&alice.get(&format!("{place}?limit=100")).ok().await).len(), 40);
    assert_eq!(ids(&alice.get(&format!("{place}?max_id={}&limit=40", newest[19])).ok().await), newest[20..]);
    assert_eq!(ids(&alice.get(&format!("{place}?since_id={}", newest[2])).ok().await), newest[..2]);
    let all = alice.get(&format!("{place}?limit=0")).send().await;
    assert_eq!((ids(&all.json()).len(), all.header("link")), (45, ""));
    assert_eq!(history(&alice, &other).await, [id(&elsewhere)]);

    alice.delete(&of(&posted[0], "")).ok().await;
    assert_eq!(history(&alice, &rooks).await[0], newest[1], "immediately");
    settle(&app).await;
    let kept = store::plugin_data::export_account(app.db(), alice.id()).await.unwrap();
    assert_eq!(kept["circles"]["entries"].as_array().unwrap().len(), 45);
}

#[tokio::test]
async fn circle_of_many_costs_as_many_statements_as_one_of_two() {
    let app = served("circles").await;
    let alice = app.account("alice").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let followers: Vec<i64> = (0..502).map(|number| seed.account(&format!("follower{number}"), None)).collect();
    followers.iter().for_each(|follower| seed.follow(*follower, alice.id().into()));
    seed.write(app.db()).await;
    let mut costs = Vec::new();
    for (title, members) in [("Warm", &followers[..1]), ("Few", &followers[..2]), ("Many", &followers[2..])] {
        let circle = create(&alice, title).await;
        let sent: Vec<String> = members.iter().map(i64::to_string).collect();
        app.known(&alice).await;
        let adding = alice.post(&path(&circle, "/accounts")).json(&json!({ "account_ids": sent }));
        let (added, _) = app.cost(adding.ok()).await;
        alice.publish(to_circle("warm", &circle)).await;
        settle(&app).await;
        let (written, status) = app.cost(alice.publish(to_circle("for all of you", &circle))).await;
        costs.push((added, written));
        let reached = format!("SELECT COUNT(*) FROM mentions WHERE silent AND status_id = {}", id(&status));
        assert_eq!(app.number(&reached).await, i64::try_from(members.len()).unwrap());
    }
    assert_eq!(costs[1], costs[2]);
}

/// More members than one statement of the plugin returns.
#[tokio::test]
async fn large_circle_reaches_all_of_its_members() {
    const MEMBERS: i64 = 10_001;
    let app = served("circles").await;
    let alice = app.account("alice").await;
    let circle = create(&alice, "Everyone").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let followers: Vec<i64> = (0..MEMBERS).map(|number| seed.account(&format!("follower{number}"), None)).collect();
    followers.iter().for_each(|follower| seed.follow(*follower, alice.id().into()));
    seed.write(app.db()).await;
    let table = match app.db().engine() {
        Engine::Sqlite => "p_circles__members",
        Engine::Postgres => "p_circles.members",
    };
    let insert = format!(
        "INSERT INTO {table} (circle_id, member_id, account_id, follow_id)
         SELECT {}, f.account_id, f.target_account_id, f.id FROM follows f WHERE f.target_account_id = {}",
        id(&circle),
        alice.id()
    );
    app.execute(&insert).await;
    let status = alice.publish(to_circle("for all of you", &circle)).await;
    let reached = format!("SELECT COUNT(*) FROM mentions WHERE silent AND status_id = {}", id(&status));
    assert_eq!(app.number(&reached).await, MEMBERS);
}

#[tokio::test]
async fn disabled_circle_visibility_is_refused_by_every_name() {
    let app = served("circles").await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let rooks = circle_of(&alice, "Rooks", &[&bob]).await;
    let browser = Browser::signed_in(&app, "alice").await;
    let page = browser.get("/settings/preferences").await;
    assert!(page.text().contains("<span>The members of a circle</span>"), "the plugin resolves its visibility");
    let saved = browser.submit(&page, "/settings/preferences", &[("disabled_visibilities[]", "circle")]).await;
    assert_eq!(saved.status, 302, "a visibility of a plugin is offered: {}", saved.text());
    for word in ["circle", "limited", "reply"] {
        let body = json!({ "status": "x", "visibility": word, "circle_id": rooks["id"] });
        assert!(alice.post(STATUSES).json(&body).fails(422).await.contains("circle"), "{word}");
    }
    alice.post(STATUSES).json(&json!({ "status": "x", "visibility": "mutual" })).ok().await;
}
