//! <https://docs.joinmastodon.org/methods/accounts/>

use model::AccountId;
use serde_json::json;
use service::signing_key;
use store::account::AccountCounts;

use crate::harness::TestApp;

#[tokio::test]
async fn new_account_has_empty_profile() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;

    let account = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;

    assert_eq!(account["acct"], "alice");
    assert_eq!(account["url"], "https://example.test/@alice");
    assert_eq!(account["created_at"], "2026-01-15T00:00:00.000Z");
    assert_eq!(account["statuses_count"], 0);
}

#[tokio::test]
async fn malformed_account_id_is_not_found() {
    let app = TestApp::new().await;
    for id in ["0", "nonsense", "99999999999999999999"] {
        app.anonymous().get(&format!("/api/v1/accounts/{id}")).fails(404).await;
    }
}

#[tokio::test]
async fn signing_key_of_new_account_is_created_by_job() {
    let app = TestApp::new().await;
    app.set("registrations_mode", "open").await;
    let form = [("username", "alice"), ("email", "a@mail.test"), ("password", "correct horse"), ("agreement", "true")];
    app.application("write:accounts").await.post("/api/v1/accounts").form(&form).ok().await;
    app.run_jobs().await;

    let select = "SELECT id, public_key, private_key FROM accounts WHERE username = 'alice'";
    let keys: Vec<(i64, String, String)> = app.db().fetch_raw(select).await.unwrap();
    let (alice, public, private) = &keys[0];

    assert!(public.starts_with("-----BEGIN PUBLIC KEY-----"));
    assert!(!private.contains("PRIVATE"), "it is sealed");
    let opened = signing_key::open(&app.app, (*alice).into(), private).expect("it is this account's");
    assert!(opened.expose().starts_with("-----BEGIN PRIVATE KEY-----"));
    assert!(signing_key::open(&app.app, 1.into(), private).is_none(), "and not another account's");
}

#[tokio::test]
async fn accounts_are_listed_by_id() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let path = format!("/api/v1/accounts?id[]={}&id[]={}&id[]=1&id[]={}", alice.id(), bob.id(), bob.id());
    assert_eq!(app.anonymous().get(&path).ok().await.as_array().unwrap().len(), 2);

    let many: String = (1..=41).map(|id| format!("id[]={id}&")).collect();
    app.anonymous().get(&format!("/api/v1/accounts?{many}")).fails(422).await;
    app.anonymous().get("/api/v1/accounts").fails(400).await;
}

#[tokio::test]
async fn followers_are_listed_as_far_as_the_viewer_may_know() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave] = app.accounts(["alice", "bob", "carol", "dave"]).await;
    for follower in [&bob, &carol] {
        follower.follow(&alice).ok().await;
    }
    let followers = format!("/api/v1/accounts/{}/followers", alice.id());
    let names = |json: serde_json::Value| -> Vec<String> {
        json.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect()
    };

    assert_eq!(names(app.anonymous().get(&followers).ok().await), ["carol", "bob"]);
    assert_eq!(names(bob.get(&format!("/api/v1/accounts/{}/following", bob.id())).ok().await), ["alice"]);

    dave.mute(&carol).ok().await;
    assert_eq!(names(dave.get(&followers).ok().await), ["bob"]);
    let page = dave.get(&format!("{followers}?limit=1")).send().await;
    assert_eq!(page.json(), serde_json::json!([]));
    assert!(page.header("link").contains("rel=\"next\""), "a page that lost an entry still links on");

    let path = |client: &crate::harness::Client| format!("/api/v1/accounts/{}/block", client.id());
    alice.post(&path(&dave)).ok().await;
    assert_eq!(names(dave.get(&followers).ok().await), Vec::<String>::new());

    alice.update_profile(json!({"hide_collections": true})).ok().await;
    assert_eq!(names(bob.get(&followers).ok().await), Vec::<String>::new());
    assert_eq!(names(alice.get(&followers).ok().await), ["carol", "bob"]);

    app.suspend(&alice).await;
    assert_eq!(names(bob.get(&followers).ok().await), Vec::<String>::new());
    bob.get("/api/v1/accounts/1/followers").fails(404).await;
}

#[tokio::test]
async fn suspended_account_shows_no_content() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.suspend(&alice).await;

    let account = app.anonymous().get(&format!("/api/v1/accounts/{}", alice.id())).ok().await;
    assert_eq!(account["suspended"], true);
    assert_eq!((&account["display_name"], &account["note"]), (&"".into(), &"".into()));
    assert_eq!(account["locked"], false);
    alice.get(&format!("/api/v1/accounts/{}", alice.id())).fails(403).await;
}

#[tokio::test]
async fn accounts_are_looked_up_by_name() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    remote(&app, 77, "carol", "far.test").await;

    for acct in ["alice", "@Alice", "alice@example.test", "@ALICE@EXAMPLE.TEST"] {
        let found = app.anonymous().get(&format!("/api/v1/accounts/lookup?acct={acct}")).ok().await;
        assert_eq!(found["id"], alice.id().to_string());
    }
    let found = bob.get("/api/v1/accounts/lookup?acct=Carol@far.test").ok().await;
    assert_eq!(found["acct"], "carol@far.test");
    for acct in ["carol", "alice@far.test", "", "@", "a@b@c"] {
        bob.get(&format!("/api/v1/accounts/lookup?acct={acct}")).fails(404).await;
    }
    bob.get("/api/v1/accounts/lookup").fails(400).await;
    app.unconfirm(&alice).await;
    bob.get("/api/v1/accounts/lookup?acct=alice").fails(404).await;
}

/// Inserts a remote account.
async fn remote(app: &TestApp, id: i64, username: &str, domain: &str) {
    let row = format!(
        "INSERT INTO accounts (id, username, domain, uri, actor_type, display_name, note, note_html, fields, locked,
                               indexable, searchability, memorial, also_known_as, other_settings,
                               followers_count, following_count, statuses_count, created_at, updated_at, version)
         SELECT {id}, '{username}', '{domain}', 'https://{domain}/{id}', 'Person', '', '', '', '[]', FALSE,
                FALSE, 'direct', FALSE, '[]', '{{}}', 0, 0, 0, created_at, created_at, 0
         FROM accounts ORDER BY id LIMIT 1"
    );
    app.execute(&row).await;
    let name = format!("INSERT INTO account_names (rank, name, account_id) VALUES (0, '{username}', {id})");
    app.execute(&name).await;
}

#[tokio::test]
async fn search_ranks_most_followed_accounts_first_among_many() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    // More accounts than are ranked, and the last in alphabetical order.
    for id in 500..800 {
        remote(&app, id, &format!("bird{id}"), "far.test").await;
    }
    let mut tx = app.db().begin().await.unwrap();
    let followed = AccountCounts { followers: 12, ..AccountCounts::default() };
    store::account::add_counts(&mut tx, AccountId::from(799), followed).await.unwrap();
    tx.commit().await.unwrap();
    let found = alice.get("/api/v1/accounts/search?q=bird&limit=3").ok().await;
    let found: Vec<&str> = found.as_array().unwrap().iter().map(|one| one["acct"].as_str().unwrap()).collect();
    assert_eq!(found[0], "bird799@far.test");
    assert_eq!(found.len(), 3);
}

#[tokio::test]
async fn search_matches_prefixes_of_names_best_first() {
    let app = TestApp::new().await;
    let [alice, al, alf, zoe, waits] = app.accounts(["alice", "al", "alf", "zoe", "alwaits"]).await;
    remote(&app, 77, "al", "far.test").await;
    remote(&app, 78, "al", "farther.test").await;
    zoe.patch("/api/v1/accounts/update_credentials").form(&[("display_name", "Älvira")]).ok().await;
    alice.follow(&alf).ok().await;
    zoe.follow(&alice).ok().await;
    app.unapprove(&waits).await;
    let search = async |query: &str| -> Vec<String> {
        let found = alice.get(&format!("/api/v1/accounts/search?{query}")).ok().await;
        found.as_array().unwrap().iter().map(|account| account["acct"].as_str().unwrap().to_owned()).collect()
    };

    assert_eq!(search("q=al").await, ["al", "al@far.test", "al@farther.test", "alf", "alice"]);
    assert_eq!(search("q=@AL&limit=2&offset=1").await, ["al@far.test", "al@farther.test"]);
    assert_eq!(search("q=%C3%84lv").await, ["zoe"]);
    assert_eq!(search("q=al@far").await, ["al@far.test", "al@farther.test"]);
    assert_eq!(search("q=al@example.test").await, ["al"]);
    assert_eq!(search("q=al&following=true").await, ["alf"]);
    assert_eq!(search("q=z&follower=true").await, ["zoe"]);
    assert_eq!(search("q=a%25").await, Vec::<String>::new());
    assert_eq!(search("q=").await, Vec::<String>::new());
    assert_eq!(search("q=al&limit=0").await, Vec::<String>::new());
    assert_eq!(search("q=al&offset=-5&limit=1").await, ["al"]);
    let _ = al;

    zoe.patch("/api/v1/accounts/update_credentials").form(&[("display_name", "Yuki TANAKA Meier")]).ok().await;
    assert_eq!(search("q=%C3%84lv").await, Vec::<String>::new(), "it is no longer a name");
    for query in ["q=tanaka", "q=Tanaka%20me", "q=meier", "q=yuki%20t", "q=tan&following=false"] {
        assert_eq!(search(query).await, ["zoe"], "{query}");
    }
    assert_eq!(search("q=anaka").await, Vec::<String>::new(), "a part of a word is not a prefix");

    alice.get("/api/v1/accounts/search").fails(400).await;
    app.anonymous().get("/api/v1/accounts/search?q=al").fails(401).await;
    alice.with_scopes("read:search").await.get("/api/v1/accounts/search?q=al").fails(403).await;
}

#[tokio::test]
async fn featured_tags_and_lists_of_an_account_are_shown() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    alice.post("/api/v1/featured_tags").json(&json!({ "name": "Rooks" })).ok().await;
    bob.follow(&alice).ok().await;
    let list = bob.make_list("Birds").await;
    bob.add_to_list(&list, &[&alice]).ok().await;

    let tags_path = format!("/api/v1/accounts/{}/featured_tags", alice.id());
    let tags = app.anonymous().get(&tags_path).ok().await;
    crate::platform::contract::check("FeaturedTag[]", &tags);
    assert_eq!(tags[0]["url"], "https://example.test/@alice/tagged/rooks");
    let lists_path = format!("/api/v1/accounts/{}/lists", alice.id());
    let lists = bob.get(&lists_path).ok().await;
    assert_eq!(lists[0]["title"], "Birds");
    assert_eq!(alice.get(&lists_path).ok().await, serde_json::json!([]));
    bob.with_scopes("read:accounts").await.get(&lists_path).fails(403).await;

    app.suspend(&alice).await;
    assert_eq!(bob.get(&lists_path).ok().await, serde_json::json!([]));
    assert_eq!(app.anonymous().get(&tags_path).ok().await, serde_json::json!([]));
    bob.get("/api/v1/accounts/5/lists").fails(404).await;
    app.anonymous().get("/api/v1/accounts/5/featured_tags").fails(404).await;
}
