//! <https://docs.joinmastodon.org/methods/statuses/>

use database::Engine;
use serde_json::{Value, json};

use crate::harness::{Client, TestApp, status_path};
use crate::platform::contract;

#[tokio::test]
async fn status_is_published_per_contract() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let status =
        alice.publish(json!({"status": "Hello @bob #Rookery https://example.org/a?b=1", "language": "en-US"})).await;

    contract::check("Status", &status);
    assert_eq!(status["visibility"], "public");
    assert_eq!(status["language"], "en");
    assert_eq!(status["mentions"][0]["acct"], "bob");
    assert_eq!(status["mentions"][0]["id"], bob.id().to_string());
    assert_eq!(status["tags"][0]["name"], "rookery");
    assert_eq!(status["url"], format!("https://example.test/@alice/{}", status["id"].as_str().unwrap()));
    assert!(status["content"].as_str().unwrap().starts_with("<p>Hello <span class=\"h-card\""));
    assert_eq!(status["account"]["statuses_count"], 1);
    assert_eq!(status["favourited"], false);
    let seen = app.anonymous().status(&status).ok().await;
    contract::check("Status", &seen);
    assert!(seen.get("favourited").is_none());
}

#[tokio::test]
async fn trailing_slash_of_path_is_ignored() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = alice.post("/api/v1/statuses/").json(&json!({"status": "slash"})).ok().await;
    assert_eq!(app.anonymous().get(&status_path(&status, "/?limit=1")).ok().await["id"], status["id"]);
}

#[tokio::test]
async fn invalid_status_is_refused_with_reason() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let cases = [
        (json!({}), 422),
        (json!({"status": "   "}), 422),
        (json!({"status": "x".repeat(501)}), 422),
        (json!({"status": "x", "visibility": "secret"}), 422),
        (json!({"status": "x", "in_reply_to_id": "123"}), 404),
        (json!({"status": "x", "in_reply_to_id": "nonsense"}), 422),
        (json!({"status": "x", "media_ids": ["1"]}), 422),
        (json!({"status": ["x"]}), 422),
        (json!({"status": "a\u{0}b"}), 422),
        (json!({"status": "x", "visibility": "circle"}), 422),
        (json!({"status": "x", "visibility": "limited"}), 422),
        (json!({"status": "x", "visibility": "limited", "circle_id": "1"}), 422),
        (json!({"status": "x", "visibility": "reply"}), 422),
        (json!({"status": "x", "poll": {"options": ["a", "b"]}}), 422),
        (json!({"status": "x", "scheduled_at": "2030"}), 422),
    ];
    for (body, status) in cases {
        alice.post("/api/v1/statuses").json(&body).fails(status).await;
    }
    assert_eq!(alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await["statuses_count"], 0);
    alice.with_scopes("read").await.post("/api/v1/statuses").json(&json!({"status": "x"})).fails(403).await;
    app.anonymous().post("/api/v1/statuses").json(&json!({"status": "x"})).fails(401).await;
    app.application("write").await.post("/api/v1/statuses").json(&json!({"status": "x"})).fails(422).await;
}

#[tokio::test]
async fn repeated_idempotency_key_publishes_once() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let send = |text: &'static str| {
        alice.post("/api/v1/statuses").header("idempotency-key", "k").json(&json!({"status": text})).ok()
    };

    let first = send("one").await;
    let second = send("").await;
    app.app.clock.advance(chrono::Duration::hours(2));
    let later = send("two").await;

    assert_eq!(first["id"], second["id"]);
    assert_ne!(first["id"], later["id"]);
}

#[tokio::test]
async fn repeated_idempotency_key_gets_its_response_after_a_sync() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    app.known(&alice).await;
    let send = || alice.post("/api/v1/statuses").header("idempotency-key", "k").json(&json!({"status": "once"})).ok();
    let first = send().await;
    let before = app.db().syncs();
    assert_eq!(send().await["id"], first["id"]);
    if app.db().engine() == Engine::Sqlite {
        // The first may be committed but not synced: readers see it, and a power cut would lose it.
        assert!(app.db().syncs() > before, "the repeat waited for a sync");
    }
}

#[tokio::test]
async fn concurrent_requests_with_one_idempotency_key_publish_one_status() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for key in ["a", "b", "c"] {
        app.tick();
        let send =
            || alice.post("/api/v1/statuses").header("idempotency-key", key).json(&json!({"status": "at once"})).ok();
        let (one, other, third) = tokio::join!(send(), send(), send());
        assert_eq!((&one["id"], &one["id"]), (&other["id"], &third["id"]));
    }
    let written: Vec<(i64,)> = app.db().fetch_raw("SELECT COUNT(*) FROM statuses").await.unwrap();
    assert_eq!(written[0].0, 3);
    assert_eq!(alice.get(&format!("/api/v1/accounts/{}", alice.id())).ok().await["statuses_count"], 3);
}

#[tokio::test]
async fn unexpected_mentions_are_reported_and_nothing_is_saved() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;

    let body = alice
        .post("/api/v1/statuses")
        .json(&json!({"status": "@bob", "allowed_mentions": [alice.id().to_string()]}))
        .expect(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
        .await;

    contract::check("UnexpectedMentionsError", &body);
    assert_eq!(body["unexpected_accounts"][0]["id"], bob.id().to_string());
    alice.post("/api/v1/statuses").json(&json!({"status": "@bob", "allowed_mentions": []})).fails(422).await;
    assert_eq!(alice.get("/api/v1/timelines/home").ok().await, json!([]));
}

#[tokio::test]
async fn edit_replaces_status_and_keeps_history() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish(json!({"status": "one @bob", "spoiler_text": "cw", "language": "de"})).await;
    app.tick();

    let edited = alice.edit(&status, "two").ok().await;
    app.tick();
    let again = alice.edit(&status, "two").ok().await;

    contract::check("Status", &edited);
    assert_eq!((edited["spoiler_text"].as_str(), edited["language"].as_str()), (Some(""), Some("de")));
    assert_eq!(edited["mentions"], json!([]));
    assert_eq!(edited["edited_at"], again["edited_at"], "a change that changes nothing leaves no trace");
    let history = app.anonymous().get(&status_path(&status, "/history")).ok().await;
    contract::check("StatusEdit[]", &history);
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert_eq!(history[0]["spoiler_text"], "cw");
    assert_eq!(history[0]["created_at"], status["created_at"]);
    assert_eq!(history[1]["content"], "<p>two</p>");
    assert_eq!(alice.get(&status_path(&status, "/source")).ok().await["text"], "two");
    bob.edit(&status, "mine").fails(404).await;
}

#[tokio::test]
async fn deletion_returns_the_source_and_deletes_reblogs() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("gone soon").await;
    bob.reblog(&status).ok().await;
    bob.delete_status(&status).fails(404).await;

    let deleted = alice.delete_status(&status).ok().await;

    assert_eq!(deleted["text"], "gone soon");
    assert!(deleted.get("content").is_none());
    alice.status(&status).fails(404).await;
    for client in [&alice, &bob] {
        let account = app.anonymous().get(&format!("/api/v1/accounts/{}", client.id())).ok().await;
        assert_eq!(account["statuses_count"], 0, "{}", client.name);
        assert_eq!(client.get("/api/v1/timelines/home").ok().await, json!([]));
    }
}

#[tokio::test]
async fn author_always_sees_the_application() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = alice.publish("by a token of no application").await;
    assert_eq!(status.get("application"), Some(&json!(null)));
    assert_eq!(bob.status(&status).ok().await.get("application"), None);
}

/// Anonymous viewers get the sixty nearest descendants: a thread is not read completely to find the oldest.
#[tokio::test]
async fn long_thread_shows_its_nearest_replies() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let root = alice.publish("root").await;
    let reply = |to: &Value| json!({"status": "reply", "in_reply_to_id": to["id"]});
    let first = alice.publish(reply(&root)).await;
    for _ in 0..5 {
        alice.publish(reply(&first)).await;
    }
    for _ in 0..60 {
        alice.publish(reply(&root)).await;
    }
    let shown = async |client: &Client| {
        let context = client.get(&status_path(&root, "/context")).ok().await;
        let replies = context["descendants"].as_array().unwrap().clone();
        (replies.len(), replies.iter().filter(|status| status["in_reply_to_id"] == root["id"]).count())
    };
    assert_eq!(shown(&app.anonymous()).await, (60, 60));
    assert_eq!(shown(&alice).await, (66, 61));
}

#[tokio::test]
async fn context_is_depth_first() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let root = alice.publish("root").await;
    let reply = |to: &Value, text: &str| json!({"status": text, "in_reply_to_id": to["id"]});
    let a = bob.publish(reply(&root, "a")).await;
    let own = alice.publish(reply(&root, "own")).await;
    let aa = alice.publish(reply(&a, "aa")).await;

    let context = app.anonymous().get(&status_path(&root, "/context")).ok().await;
    contract::check("Context", &context);
    let ids: Vec<&Value> = context["descendants"].as_array().unwrap().iter().map(|status| &status["id"]).collect();
    assert_eq!(ids, [&own["id"], &a["id"], &aa["id"]], "the author's own answer first, then depth first");
    let above = alice.get(&status_path(&aa, "/context")).ok().await;
    assert_eq!(above["ancestors"][0]["id"], root["id"]);
    assert_eq!(above["ancestors"][1]["id"], a["id"]);
    assert_eq!(app.anonymous().status(&root).ok().await["replies_count"], 2);
    assert_eq!(aa["in_reply_to_account_id"], bob.id().to_string());
}

#[tokio::test]
async fn visibilities_beyond_the_plain_ones_keep_their_audience() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    bob.follow(&alice).ok().await;
    alice.follow(&bob).ok().await;

    let login = alice.publish_to("login", "l").await;
    let mutual = alice.publish_to("mutual", "m").await;
    let personal = carol.publish_to("mutual", "p").await;
    let answer = bob.publish(json!({"status": "r", "visibility": "reply", "in_reply_to_id": mutual["id"]})).await;

    assert_eq!((login["visibility"].as_str(), login["visibility_ex"].as_str()), (Some("public"), Some("login")));
    assert_eq!((mutual["visibility"].as_str(), mutual["visibility_ex"].as_str()), (Some("private"), Some("limited")));
    assert_eq!((&mutual["limited_scope"], &answer["limited_scope"]), (&json!("mutual"), &json!("reply")));
    assert_eq!((&personal["limited_scope"], &login["limited_scope"]), (&json!("personal"), &json!(null)));
    app.anonymous().status(&login).fails(404).await;
    carol.status(&login).ok().await;
    bob.status(&mutual).ok().await;
    carol.status(&mutual).fails(404).await;
    bob.status(&personal).fails(404).await;
    alice.status(&answer).ok().await;
    carol.status(&answer).fails(404).await;
    assert_eq!(mutual["mentions"], json!([]), "an audience is not shown as mentions");
    assert_eq!(alice.get(&status_path(&mutual, "/mentioned_by")).ok().await[0]["acct"], "bob");
    bob.get(&status_path(&mutual, "/mentioned_by")).fails(404).await;
}

#[tokio::test]
async fn limited_reply_reaches_accounts_mentioned_by_its_parent() {
    let app = TestApp::new().await;
    let [alice, bob, carol, dave, erin] = app.accounts(["alice", "bob", "carol", "dave", "erin"]).await;
    erin.follow(&alice).ok().await;
    carol.block(&dave).ok().await;
    for visibility in ["public", "unlisted", "private", "direct"] {
        let text = format!("@carol @dave what do you say, {visibility}?");
        let root = alice.publish(json!({"status": text, "visibility": visibility})).await;
        for word in ["limited", "reply"] {
            let body = json!({"status": "between us", "visibility": word, "in_reply_to_id": root["id"]});
            let answer = carol.publish(body).await;
            assert_eq!((&answer["visibility_ex"], &answer["limited_scope"]), (&json!("limited"), &json!("reply")));
            assert_eq!((&answer["in_reply_to_id"], &answer["mentions"]), (&root["id"], &json!([])));
            alice.status(&answer).ok().await;
            for other in [&bob, &dave, &erin] {
                other.status(&answer).fails(404).await;
            }
            app.anonymous().status(&answer).fails(404).await;
            app.run_jobs().await;
            let told = alice.get("/api/v1/notifications?limit=1").ok().await;
            assert_eq!(told[0]["status"]["id"], answer["id"], "the author of the parent is notified");
        }
    }
    let alone = bob.publish("nobody else").await;
    let body = json!({"status": "to myself", "visibility": "limited", "in_reply_to_id": alone["id"]});
    assert_eq!(bob.publish(body).await["limited_scope"], "reply");
    assert_eq!(bob.get("/api/v1/notifications").ok().await, json!([]));
}

#[tokio::test]
async fn audience_is_readable_by_its_author() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for (one, other) in [(&bob, &carol), (&carol, &bob)] {
        one.follow(&other).ok().await;
    }
    let root = alice.publish_to("public", "all of you").await;
    let answer =
        |visibility: &str, to: &Value| json!({"status": "r", "visibility": visibility, "in_reply_to_id": to["id"]});
    let of_bob = bob.publish(answer("mutual", &root)).await;
    let of_carol = carol.publish(answer("mutual", &root)).await;
    let below = bob.publish(answer("reply", &of_carol)).await;
    let deepest = carol.publish(answer("limited", &below)).await;
    for (status, reader, others) in [
        (&of_bob, &bob, [&alice, &carol]),
        (&of_carol, &carol, [&alice, &bob]),
        (&below, &carol, [&alice, &bob]),
        (&deepest, &carol, [&alice, &bob]),
    ] {
        assert_eq!(reader.get(&status_path(status, "/mentioned_by")).ok().await.as_array().unwrap().len(), 1);
        for other in others {
            other.get(&status_path(status, "/mentioned_by")).fails(404).await;
        }
    }
    carol.delete_status(&of_carol).ok().await;
    bob.get(&status_path(&below, "/mentioned_by")).ok().await;
    carol.get(&status_path(&below, "/mentioned_by")).fails(404).await;
    carol.get(&status_path(&deepest, "/mentioned_by")).fails(404).await;
}

#[tokio::test]
async fn audience_of_many_costs_as_audience_of_two() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let mut costs = Vec::new();
    for names in [&["b0", "b1"][..], &["b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9"][..]] {
        for name in names {
            let friend = app.account(name).await;
            friend.follow(&alice).ok().await;
            alice.follow(&friend).ok().await;
        }
        alice.publish("warm").await;
        app.known(&alice).await;
        let work = alice.publish_to("mutual", "to my friends");
        costs.push(app.cost(work).await.0);
    }
    assert_eq!(costs[0], costs[1]);
}
