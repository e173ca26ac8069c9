//! Permission to quote a status, revoked quotes, and the list of quotes.
//!
//! <https://docs.joinmastodon.org/client/quotes/>

use serde_json::{Value, json};

use crate::harness::{Client, Published, TestApp, id, status_path};
use crate::platform::contract;
use crate::routes::references::{address, show};
use crate::seed::{Seed, Status};

/// Quote approval of a status as shown to `viewer`: the policy, and the viewer's permission.
async fn approval(viewer: &Client, status: &Value) -> (Value, Value) {
    let approval = show(viewer, status).await["quote_approval"].clone();
    assert_eq!(approval["manual"], json!([]));
    (approval["automatic"].clone(), approval["current_user"].clone())
}

async fn quote(author: &Client, target: &Value) -> Published {
    author.publish(json!({"status": "look", "quoted_status_id": id(target)})).await
}

async fn quotes(viewer: &Client, target: &Value) -> Vec<String> {
    let page = viewer.get(&status_path(target, "/quotes")).ok().await;
    contract::check("Status[]", &page);
    page.as_array().unwrap().iter().map(|status| id(status).to_owned()).collect()
}

async fn revoke(actor: &Client, target: &Value, quoting: &Value) -> Value {
    actor.post(&status_path(target, &format!("/quotes/{}/revoke", id(quoting)))).ok().await
}

async fn prefer(client: &Client, policy: &str) -> Value {
    let body = json!({"source": {"quote_policy": policy}});
    client.patch("/api/v1/accounts/update_credentials").json(&body).ok().await
}

#[tokio::test]
async fn policy_of_author_applies_to_new_statuses() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let before = alice.publish("hello").await;
    assert_eq!(approval(&bob, &before).await, (json!(["public"]), json!("automatic")));
    assert_eq!(approval(&app.anonymous(), &before).await, (json!(["public"]), json!("denied")));

    let account = prefer(&alice, "followers").await;
    contract::check("CredentialAccount", &account);
    assert_eq!(
        (&account["source"]["quote_policy"], &account["other_settings"]["allow_quote"]),
        (&json!("followers"), &json!(true))
    );
    assert_eq!(alice.get("/api/v1/preferences").ok().await["posting:default:quote_policy"], "followers");
    let status = alice.publish("hello").await;
    assert_eq!(approval(&bob, &status).await, (json!(["followers"]), json!("denied")));
    assert_eq!(approval(&alice, &status).await, (json!(["followers"]), json!("automatic")));
    bob.follow(&alice).ok().await;
    assert_eq!(approval(&bob, &status).await, (json!(["followers"]), json!("automatic")));
    assert_eq!(approval(&bob, &before).await, (json!(["public"]), json!("automatic")), "the older one stays");
    let asked = alice.publish(json!({"status": "hello", "quote_approval_policy": "public"})).await;
    assert_eq!(approval(&bob, &asked).await, (json!(["public"]), json!("automatic")));
    for (visibility, own) in [("private", "automatic"), ("direct", "denied"), ("login", "denied")] {
        let narrow = alice.publish(json!({"status": "hello @bob", "visibility": visibility})).await;
        assert_eq!(approval(&alice, &narrow).await, (json!([]), json!(own)), "{visibility}");
        assert_eq!(approval(&bob, &narrow).await, (json!([]), json!("denied")), "{visibility}");
    }

    let account = prefer(&alice, "nobody").await;
    assert_eq!(account["other_settings"]["allow_quote"], false, "other servers are told");
    let answer = alice.update_profile(json!({"source": {"quote_policy": "friends"}}));
    answer.fails(422).await;
    let body = json!({"status": "later", "quote_approval_policy": "followers", "quoted_status_id": id(&before),
        "scheduled_at": "2026-01-15T14:00:00Z"});
    let scheduled = alice.publish(&body).await;
    assert_eq!(
        (&scheduled["params"]["quote_approval_policy"], &scheduled["params"]["quoted_status_id"]),
        (&json!("followers"), &before["id"])
    );
    app.app.clock.advance(chrono::Duration::hours(3));
    app.run_jobs().await;
    let published = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await[0].clone();
    assert_eq!(published["quote"]["id"], before["id"]);
    assert_eq!(approval(&bob, &published).await, (json!(["followers"]), json!("automatic")));
}

#[tokio::test]
async fn quote_by_id_needs_permission() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let target = alice.publish("hello").await;
    let quoting = quote(&bob, &target).await;
    contract::check("Status", &quoting);
    assert_eq!((&quoting["quote_id"], &quoting["quote"]["id"]), (&target["id"], &target["id"]));
    assert_eq!(quoting["quote"]["quotes_count"], 1);
    let shown = &quoting["quote"]["quoted_status"];
    assert_eq!((&quoting["quote"]["state"], &shown["id"]), (&json!("accepted"), &target["id"]));
    assert_eq!(shown["content"], quoting["quote"]["content"]);
    let named = id(&target).parse::<i64>().unwrap();
    assert_eq!(quoting["status_reference_ids"], json!([named]));
    let edited = bob.edit(&quoting, "see").ok().await;
    assert_eq!(edited["quote"]["id"], target["id"], "an edit does not end it");

    let closed = alice.publish(json!({"status": "hello", "quote_approval_policy": "nobody"})).await;
    let private = alice.publish_to("private", "psst").await;
    let ask = |target: &Value| json!({"status": "look", "quoted_status_id": id(target)});
    bob.post("/api/v1/statuses").json(&ask(&closed)).fails(422).await;
    bob.post("/api/v1/statuses").json(&ask(&private)).fails(404).await;
    assert_eq!(quote(&alice, &closed).await["quote"]["id"], closed["id"], "one's own");
    assert!(
        bob.publish(&format!("QT {}", address(&closed))).await.get("quote").is_none(),
        "a text does not request it"
    );

    let opened =
        alice.put(&status_path(&closed, "/interaction_policy")).json(&json!({"quote_approval_policy": "public"}));
    let opened = opened.ok().await;
    assert_eq!((&opened["quote_approval"]["automatic"], &opened["edited_at"]), (&json!(["public"]), &Value::Null));
    assert_eq!(quote(&bob, &closed).await["quote"]["id"], closed["id"]);
    let by_edit = json!({"status": "hello", "quote_approval_policy": "followers"});
    let edited = alice.edit(&closed, &by_edit).ok().await;
    assert_eq!((&edited["quote_approval"]["automatic"], &edited["edited_at"]), (&json!(["followers"]), &Value::Null));
    let edited = alice.edit(&closed, "hello again").ok().await;
    assert_eq!(edited["quote_approval"]["automatic"], json!(["followers"]), "left out, it stays");
}

#[tokio::test]
async fn own_status_for_followers_is_quoted_no_wider_than_it_is() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    bob.follow(&alice).ok().await;
    let private = alice.publish_to("private", "psst").await;
    for (wanted, made) in [("public", "private"), ("unlisted", "private"), ("login", "private"), ("direct", "direct")] {
        let body = json!({"status": "look @carol", "quoted_status_id": id(&private), "visibility": wanted});
        let quoting = alice.publish(body).await;
        assert_eq!((&quoting["visibility"], &quoting["quote"]["id"]), (&json!(made), &private["id"]), "{wanted}");
        if wanted != "direct" {
            assert_eq!(bob.status(&quoting).ok().await["quote"]["id"], private["id"], "{wanted}");
        }
        // Mentioned, but not a follower.
        let seen = carol.status(&quoting).ok().await;
        assert_eq!(seen["quote"], json!({"state": "unauthorized", "quoted_status": null}), "{wanted}");
        app.anonymous().status(&quoting).fails(404).await;
    }
    // An edit cannot narrow the audience of a status.
    let public = alice.publish("look").await;
    let text = json!({"status": format!("QT {}", address(&private))});
    assert!(alice.edit(&public, &text).ok().await.get("quote").is_none());
    // A followers-only status of another account cannot be quoted.
    let ask = json!({"status": "look", "quoted_status_id": id(&private), "visibility": "private"});
    bob.post("/api/v1/statuses").json(&ask).fails(422).await;
}

#[tokio::test]
async fn revoked_quote_does_not_come_back() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let target = alice.publish("hello").await;
    let text = format!("QT {}", address(&target));
    let [quoting, other] = [bob.publish(&text).await, carol.publish(&text).await];
    assert_eq!(show(&alice, &target).await["quotes_count"], 2);
    assert_eq!(quotes(&carol, &target).await, [id(&other), id(&quoting)]);
    bob.post(&status_path(&target, &format!("/quotes/{}/revoke", id(&other)))).fails(403).await;
    bob.post(&status_path(&target, &format!("/quotes/{}/revoke", id(&quoting)))).fails(403).await;

    let seen = revoke(&alice, &target, &quoting).await;
    let revoked = json!({"state": "revoked", "quoted_status": null});
    assert_eq!((&seen["id"], &seen["quote"], seen.get("quote_id")), (&quoting["id"], &revoked, None));
    contract::check("Status", &seen);
    assert_eq!(seen["status_references_count"], 1, "it still refers to it");
    alice.post(&status_path(&target, &format!("/quotes/{}/revoke", id(&quoting)))).fails(404).await;
    assert_eq!(show(&alice, &target).await["quotes_count"], 1);
    assert_eq!(quotes(&carol, &target).await, [id(&other)]);
    assert_eq!(show(&carol, &other).await["quote"]["id"], target["id"], "the other is another's");
    for edit in [format!("again {text}"), "nothing".to_owned(), text.clone()] {
        let edited = bob.edit(&quoting, json!({ "status": edit })).ok().await;
        assert!(edited.get("quote_id").is_none(), "{edit}");
    }
    assert_eq!(show(&alice, &target).await["quotes_count"], 1);
    assert_eq!(bob.publish(&text).await["quote"]["id"], target["id"], "a new status may");
    assert_eq!(show(&alice, &target).await["quotes_count"], 2);

    carol.delete_status(&other).ok().await;
    assert_eq!(show(&alice, &target).await["quotes_count"], 1);
    let unrelated = bob.publish("hello").await;
    alice.post(&status_path(&target, &format!("/quotes/{}/revoke", id(&unrelated)))).fails(404).await;
}

#[tokio::test]
async fn quote_outlives_a_change_of_the_policy() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let target = alice.publish("hello").await;
    let text = format!("QT {}", address(&target));
    let quoting = bob.publish(&text).await;
    let policy = json!({"quote_approval_policy": "nobody"});
    alice.put(&status_path(&target, "/interaction_policy")).json(&policy).ok().await;
    let edited = bob.edit(&quoting, &format!("{text} !")).ok().await;
    assert_eq!(edited["quote"]["id"], target["id"]);
    let left = bob.edit(&quoting, "nothing").ok().await;
    assert_eq!((left.get("quote"), &show(&alice, &target).await["quotes_count"]), (None, &json!(0)));
    let again = bob.edit(&quoting, json!({"status": text})).ok().await;
    assert!(again.get("quote").is_none(), "a new quote needs permission");
}

#[tokio::test]
async fn quotes_are_listed_as_their_viewer_may_see_them() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    let target = alice.publish("hello").await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.insert(0, quote(&bob, &target).await.into_id());
    }
    let psst = json!({"status": "psst", "quoted_status_id": id(&target), "visibility": "private"});
    let psst = bob.publish(psst).await;
    assert_eq!(psst["quote"]["quotes_count"], 3, "a counter does not reveal hidden quotes");
    assert_eq!(quotes(&carol, &target).await, made);
    assert_eq!(quotes(&bob, &target).await.len(), 4);
    let page = bob.get(&status_path(&target, "/quotes?limit=2")).send().await;
    assert!(page.header("link").contains(&format!("max_id={}", made[0])), "{}", page.header("link"));
    carol.mute(&bob).ok().await;
    assert_eq!(quotes(&carol, &target).await, [""; 0]);
    app.anonymous().get(&status_path(&target, "/quotes")).fails(401).await;
    let hidden = alice.publish_to("direct", "psst").await;
    bob.get(&status_path(&hidden, "/quotes")).fails(404).await;
}

#[tokio::test]
async fn revoked_quote_updates_status_on_streams_of_viewers() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.follow(&bob).ok().await;
    app.run_jobs().await;
    let target = alice.publish("hello").await;
    let quoting = quote(&bob, &target).await;
    app.run_jobs().await;
    let mut streams = [carol.events("user").await, bob.events("user").await];
    for (person, events) in [&carol, &bob].into_iter().zip(&mut streams) {
        app.told(person, events).await;
    }

    revoke(&alice, &target, &quoting).await;
    for (person, events) in [&carol, &bob].into_iter().zip(&mut streams) {
        let told = app.told(person, events).await;
        assert_eq!(told.iter().map(|event| event.name.as_str()).collect::<Vec<_>>(), ["status.update"]);
        let status = told[0].json();
        assert_eq!((&status["id"], &status["edited_at"]), (&quoting["id"], &Value::Null));
        assert_eq!(status["quote"]["state"], "revoked");
        assert_eq!(status, show(person, &quoting).await);
    }
    alice.post(&status_path(&target, &format!("/quotes/{}/revoke", id(&quoting)))).fails(404).await;
    assert!(app.told(&carol, &mut streams[0]).await.is_empty(), "repetition has no effect");
}

#[tokio::test]
async fn remote_author_without_quotes_is_not_quoted() {
    let app = TestApp::new().await;
    let bob = app.account("bob").await;
    let mut seed = Seed::new(app.db().engine(), "example.test");
    let [open, closed] = ["open", "closed"].map(|name| {
        let author = seed.account(name, Some("far.test"));
        seed.status(&Status { author, local: false, ..Status::default() })
    });
    seed.write(app.db()).await;
    let sql = "UPDATE accounts SET other_settings = '{\"allow_quote\": false}' WHERE username = 'closed'";
    app.execute(sql).await;
    let ask = |target: i64| json!({"status": "look", "quoted_status_id": target.to_string()});
    let quoted = bob.publish(ask(open)).await;
    assert_eq!(quoted["quote"]["id"], open.to_string());
    bob.post("/api/v1/statuses").json(&ask(closed)).fails(422).await;
    let target = bob.status(&closed).ok().await;
    let marked = bob.publish(&format!("QT {}", address(&target))).await;
    assert_eq!((marked.get("quote"), marked["status_references_count"].as_i64()), (None, Some(1)), "it refers to it");
}
