//! <https://docs.joinmastodon.org/methods/polls/>

use chrono::Duration;
use serde_json::{Value, json};

use crate::harness::{Client, Published, TestApp, status_path};
use crate::platform::contract;
use crate::routes::notifications::{index, types};

fn poll(options: &[&str]) -> Value {
    json!({"options": options, "expires_in": 600})
}

async fn ask(author: &Client, poll: Value) -> Published {
    author.publish(json!({"status": "which?", "poll": poll})).await
}

fn of(status: &Value) -> String {
    format!("/api/v1/polls/{}", status["poll"]["id"].as_str().unwrap())
}

fn votes(status: &Value) -> String {
    format!("{}/votes", of(status))
}

fn tallies(poll: &Value) -> Vec<Option<i64>> {
    poll["options"].as_array().unwrap().iter().map(|option| option["votes_count"].as_i64()).collect()
}

#[tokio::test]
async fn poll_is_shown_with_its_status_per_contract() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, poll(&[" red ", "", "green"])).await;

    contract::check("Status", &status);
    let own = &status["poll"];
    assert_eq!((&own["voted"], &own["own_votes"]), (&json!(true), &json!([])), "an author does not vote");
    assert_eq!((&own["multiple"], &own["expired"], &own["votes_count"]), (&json!(false), &json!(false), &json!(0)));
    assert_eq!(own["options"], json!([{"title": "red", "votes_count": 0}, {"title": "green", "votes_count": 0}]));
    assert_eq!(own["expires_at"], "2026-01-15T12:10:03.000Z");

    let anonymous = app.anonymous().get(&of(&status)).ok().await;
    contract::check("Poll", &anonymous);
    assert!(anonymous.get("voted").is_none() && anonymous.get("own_votes").is_none());
    let seen = bob.get(&of(&status)).ok().await;
    assert_eq!((&seen["voted"], &seen["own_votes"]), (&json!(false), &json!([])));
    let reblog = bob.reblog(&status).ok().await;
    assert_eq!((&reblog["poll"], &reblog["reblog"]["poll"]["id"]), (&Value::Null, &own["id"]));
}

#[tokio::test]
async fn poll_is_created_from_forms() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let fields = [
        ("status", "which?"),
        ("poll[options][]", "a"),
        ("poll[options][]", "b"),
        ("poll[expires_in]", "300"),
        ("poll[multiple]", "true"),
        ("poll[hide_totals]", "1"),
    ];
    for request in
        [alice.post("/api/v1/statuses").form(&fields), alice.post("/api/v1/statuses").multipart(&fields, &[])]
    {
        let status = request.ok().await;
        assert_eq!(status["poll"]["multiple"], true);
        assert_eq!(status["poll"]["options"][1]["title"], "b");
        assert_eq!(tallies(&status["poll"]), [None, None], "hidden until the end");
    }
    let none = alice.post("/api/v1/statuses").form(&[("status", "no poll"), ("poll", "")]).ok().await;
    assert_eq!(none["poll"], Value::Null);
    assert_eq!(ask(&alice, json!({})).await["poll"], Value::Null);
}

#[tokio::test]
async fn poll_that_breaks_a_rule_is_refused_with_the_status() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let nine: Vec<String> = (0..9).map(|number| number.to_string()).collect();
    for (poll, name) in [
        (json!({"options": ["a"], "expires_in": 600}), "poll[options]"),
        (json!({"options": nine, "expires_in": 600}), "poll[options]"),
        (json!({"options": ["a", " a"], "expires_in": 600}), "poll[options]"),
        (json!({"options": ["a", "x".repeat(51)], "expires_in": 600}), "poll[options]"),
        (json!({"options": ["a", "b"]}), "poll[expires_in]"),
        (json!({"options": ["a", "b"], "expires_in": 299}), "poll[expires_in]"),
        (json!({"options": ["a", "b"], "expires_in": 2_629_747}), "poll[expires_in]"),
        (json!({"options": ["a", "b"], "expires_in": "soon"}), "poll"),
        (json!("yes"), "poll"),
    ] {
        let body = json!({"status": "which?", "poll": poll});
        let error = alice.post("/api/v1/statuses").json(&body).fails(422).await;
        assert!(error.contains(name), "{error}");
    }
    alice.post("/api/v1/statuses").json(&json!({"poll": poll(&["a", "b"])})).fails(422).await;
    let rows = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM statuses").await.unwrap();
    assert_eq!(rows[0].0, 0);
}

#[tokio::test]
async fn single_choice_accepts_one_vote() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let status = ask(&alice, poll(&["a", "b"])).await;
    let path = votes(&status);

    bob.post(&path).json(&json!({})).fails(400).await;
    bob.post(&path).json(&json!({"choices": [0, 1]})).fails(422).await;
    bob.post(&path).json(&json!({"choices": [2]})).fails(422).await;
    bob.post(&path).json(&json!({"choices": [-1]})).fails(422).await;
    bob.post(&path).json(&json!({"choices": ["x"]})).fails(422).await;
    alice.post(&path).json(&json!({"choices": [0]})).fails(422).await;
    let voted = bob.post(&path).form(&[("choices[]", "1")]).ok().await;
    contract::check("Poll", &voted);
    assert_eq!((&voted["voted"], &voted["own_votes"]), (&json!(true), &json!([1])));
    bob.post(&path).json(&json!({"choices": [0]})).fails(422).await;
    bob.post(&path).json(&json!({"choices": [1]})).fails(422).await;
    carol.post(&path).json(&json!({"choices": ["1", 1]})).ok().await;

    let now = alice.status(&status).ok().await;
    assert_eq!(tallies(&now["poll"]), [Some(0), Some(2)]);
    assert_eq!((&now["poll"]["votes_count"], &now["poll"]["voters_count"]), (&json!(2), &json!(2)));
    assert_eq!(now["edited_at"], Value::Null);
}

#[tokio::test]
async fn multiple_choices_may_be_added_later() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, json!({"options": ["a", "b", "c"], "expires_in": 600, "multiple": true})).await;
    let path = votes(&status);

    bob.post(&path).json(&json!({"choices": [2, 0]})).ok().await;
    bob.post(&path).json(&json!({"choices": [0, 1]})).fails(422).await;
    let now = bob.post(&path).json(&json!({"choices": [1]})).ok().await;

    assert_eq!(now["own_votes"], json!([2, 0, 1]), "in the order cast");
    assert_eq!((&now["votes_count"], &now["voters_count"]), (&json!(3), &json!(1)));
}

#[tokio::test]
async fn votes_need_access_to_the_poll_and_no_block() {
    let app = TestApp::core().await;
    let [alice, bob, carol, dan] = app.accounts(["alice", "bob", "carol", "dan"]).await;
    let status = ask(&alice, poll(&["a", "b"])).await;
    bob.block(&alice).ok().await;
    alice.block(&carol).ok().await;
    let vote = json!({"choices": [0]});

    bob.post(&votes(&status)).json(&vote).fails(403).await;
    carol.post(&votes(&status)).json(&vote).fails(404).await;
    carol.get(&of(&status)).fails(404).await;
    dan.post("/api/v1/polls/1/votes").json(&vote).fails(404).await;

    let direct = json!({"status": "@dan which?", "visibility": "direct", "poll": poll(&["a", "b"])});
    let direct = alice.publish(&direct).await;
    assert!(app.anonymous().get(&of(&direct)).fails(401).await.contains("sign in"));
    bob.get(&of(&direct)).fails(404).await;
    dan.post(&votes(&direct)).json(&vote).ok().await;
}

#[tokio::test]
async fn poll_end_notifies_author_and_voters_once() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let hidden = json!({"options": ["a", "b"], "expires_in": 600, "hide_totals": true});
    let status = ask(&alice, hidden).await;
    let vote = bob.post(&votes(&status)).json(&json!({"choices": [0]})).ok().await;
    assert_eq!((tallies(&vote), &vote["votes_count"]), (vec![None, None], &json!(1)));
    app.app.clock.advance(Duration::seconds(599));
    app.run_jobs().await;
    assert!(index(&bob, "").await.is_empty());

    app.app.clock.advance(Duration::seconds(2));
    app.run_jobs().await;
    app.run_jobs().await;
    for person in [&alice, &bob] {
        let told = index(person, "").await;
        assert_eq!(types(&told), ["poll"]);
        assert_eq!(told[0]["account"]["acct"], "alice");
        assert_eq!(told[0]["status"]["poll"]["expired"], true);
        assert_eq!(tallies(&told[0]["status"]["poll"]), [Some(1), Some(0)]);
    }
    assert!(index(&carol, "").await.is_empty());
    carol.post(&votes(&status)).json(&json!({"choices": [0]})).fails(422).await;
}

#[tokio::test]
async fn edited_options_reset_the_votes_and_others_keep_them() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, poll(&["a", "b"])).await;
    bob.post(&votes(&status)).json(&json!({"choices": [0]})).ok().await;
    let edit = |poll: Value| alice.edit(&status, json!({"status": "which?", "poll": poll}));
    let revisions = async || alice.get(&status_path(&status, "/history")).ok().await.as_array().unwrap().len();

    app.tick();
    let longer = edit(json!({"options": ["a", "b"], "expires_in": 900, "hide_totals": true})).ok().await;
    assert_eq!((&longer["poll"]["votes_count"], &longer["edited_at"]), (&json!(1), &Value::Null));
    assert_eq!(tallies(&longer["poll"]), [None, None]);
    assert_eq!(revisions().await, 1, "a longer poll is the same text");

    app.tick();
    let other = edit(poll(&["a", "c"])).ok().await;
    assert_eq!((&other["poll"]["id"], &other["poll"]["votes_count"]), (&status["poll"]["id"], &json!(0)));
    assert_ne!(other["edited_at"], Value::Null);
    assert_eq!(bob.get(&of(&status)).ok().await["voted"], false);
    bob.post(&votes(&status)).json(&json!({"choices": [1]})).ok().await;

    app.tick();
    let many = edit(json!({"options": ["a", "c"], "expires_in": 600, "multiple": true})).ok().await;
    assert_eq!((&many["poll"]["voters_count"], &many["poll"]["multiple"]), (&json!(0), &json!(true)));

    app.tick();
    let without = alice.edit(&status, "which?").ok().await;
    assert_eq!(without["poll"], Value::Null);
    bob.get(&of(&status)).fails(404).await;
    let history = alice.get(&status_path(&status, "/history")).ok().await;
    contract::check("StatusEdit[]", &history);
    let titles: Vec<Value> =
        history.as_array().unwrap().iter().map(|edit| edit["poll"]["options"][1]["title"].clone()).collect();
    assert_eq!(titles, [json!("b"), json!("c"), json!("c"), Value::Null]);
    edit(poll(&["a"])).fails(422).await;
}

#[tokio::test]
async fn reopened_poll_ends_again() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, poll(&["a", "b"])).await;
    bob.post(&votes(&status)).json(&json!({"choices": [0]})).ok().await;
    app.app.clock.advance(Duration::minutes(5));
    let longer = json!({"status": "which?", "poll": poll(&["a", "b"])});
    alice.edit(&status, &longer).ok().await;
    app.app.clock.advance(Duration::minutes(6));
    app.run_jobs().await;
    assert!(index(&bob, "").await.is_empty(), "the first end was moved");
    app.app.clock.advance(Duration::minutes(5));
    app.run_jobs().await;
    assert_eq!(types(&index(&bob, "").await), ["poll"]);

    let reopened = alice.edit(&status, &longer).ok().await;
    assert_eq!((&reopened["poll"]["expired"], &reopened["poll"]["votes_count"]), (&json!(false), &json!(1)));
    assert!(index(&bob, "").await.is_empty());
    app.app.clock.advance(Duration::minutes(11));
    app.run_jobs().await;
    assert_eq!(types(&index(&bob, "").await), ["poll"]);
}

#[tokio::test]
async fn poll_is_deleted_with_its_status() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, poll(&["a", "b"])).await;
    bob.post(&votes(&status)).json(&json!({"choices": [0]})).ok().await;
    let deleted = alice.delete_status(&status).ok().await;
    assert_eq!((&deleted["poll"]["options"][1]["title"], &deleted["text"]), (&json!("b"), &json!("which?")));
    bob.get(&of(&status)).fails(404).await;
    for table in ["polls", "poll_options", "poll_votes"] {
        let rows = app.db().fetch_raw::<(i64,)>(&format!("SELECT COUNT(*) FROM {table}")).await.unwrap();
        assert_eq!(rows[0].0, 0, "{table}");
    }
    app.app.clock.advance(Duration::minutes(11));
    app.run_jobs().await;
    assert!(index(&alice, "").await.is_empty());
}

#[tokio::test]
async fn custom_emojis_of_options_are_listed() {
    let app = TestApp::core().await;
    let alice = app.account("alice").await;
    let pack = tempfile::tempdir().unwrap();
    std::fs::write(pack.path().join("rook.png"), crate::routes::media::png(8, 8)).unwrap();
    app.run(&["emoji", "import", pack.path().to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
    let status = ask(&alice, poll(&["a :rook:", "b"])).await;
    assert_eq!(status["poll"]["emojis"][0]["shortcode"], "rook");
}

#[tokio::test]
async fn page_of_a_status_shows_its_poll() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = ask(&alice, poll(&["<b>red</b>", "green"])).await;
    bob.post(&votes(&status)).json(&json!({"choices": [1]})).ok().await;
    let page = app.anonymous().get(&format!("/@alice/{}", status["id"].as_str().unwrap())).send().await.text();
    assert!(page.contains("&lt;b&gt;red") && page.contains("1 vote "), "{page}");
    let leading = "<li class=\"leads\"><span class=\"poll-title\">green</span><span class=\"poll-share\">100 %</span>";
    assert!(page.contains(leading), "{page}");
}
