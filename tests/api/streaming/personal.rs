//! Events for one account: the home feed, lists, notifications, conversations, filters, announcements.

use axum::http::Method;
use serde_json::json;

use crate::harness::{Client, Event, TestApp};
use service::announcement::{self, Draft, Publication};

pub(super) async fn follow(person: &Client, other: &Client) {
    person.follow(&other).ok().await;
    person.server.run_jobs().await;
}

pub(super) fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[tokio::test]
async fn followers_receive_statuses_in_their_own_rendering() {
    let app = TestApp::core().await;
    let [alice, bob, eve] = app.accounts(["alice", "bob", "eve"]).await;
    follow(&bob, &alice).await;
    bob.post("/api/v2/filters")
        .json(&json!({ "title": "T", "context": ["home"], "keywords_attributes": [{ "keyword": "spoiler" }] }))
        .ok()
        .await;
    let mut streams = [alice.events("user").await, bob.events("user").await, eve.events("user").await];
    // Events of earlier changes may arrive after the streams were opened: alice is notified of her follower.
    app.told(&alice, &mut streams[0]).await;
    app.told(&bob, &mut streams[1]).await;

    let id = alice.publish("a spoiler").await.into_id();
    app.run_jobs().await;
    let [own, followers, strangers] = &mut streams;
    let own = app.told(&alice, own).await;
    assert_eq!(names(&own), ["update"]);
    assert_eq!(own[0].json(), alice.status(&id).ok().await, "as by REST");
    let told = app.told(&bob, followers).await;
    assert_eq!(names(&told), ["update"]);
    assert_eq!(told[0].json(), bob.status(&id).ok().await);
    assert_eq!(told[0].json()["filtered"][0]["filter"]["title"], "T");
    assert!(app.told(&eve, strangers).await.is_empty());

    alice.edit(&id, "harmless").ok().await;
    let told = app.told(&bob, followers).await;
    assert_eq!(names(&told), ["status.update"]);
    assert_eq!(told[0].json(), bob.status(&id).ok().await);
    assert_eq!(told[0].json()["filtered"], json!([]));

    alice.delete_status(&id).ok().await;
    assert_eq!(app.told(&bob, followers).await, [Event { name: "delete".to_owned(), payload: id }]);
    assert!(app.told(&eve, strangers).await.is_empty());

    let id = alice.publish("@bob hello").await.into_id();
    app.run_jobs().await;
    app.told(&bob, followers).await;
    alice.edit(&id, "@bob hi").ok().await;
    assert_eq!(
        names(&app.told(&bob, followers).await),
        ["status.update"],
        "once, though both feed and mention show it"
    );
}

#[tokio::test]
async fn reblog_event_has_receivers_own_marks() {
    let app = TestApp::core().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for follower in [&bob, &carol] {
        follow(follower, &alice).await;
    }
    let id =
        carol.publish(json!({ "status": "x", "poll": { "options": ["a", "b"], "expires_in": 3600 } })).await.into_id();
    let poll = bob.status(&id).ok().await["poll"]["id"].as_str().unwrap().to_owned();
    bob.post(&format!("/api/v1/polls/{poll}/votes")).json(&json!({ "choices": [1] })).ok().await;
    bob.bookmark(&id).ok().await;
    app.run_jobs().await;
    let (mut bobs, mut carols) = (bob.events("user").await, carol.events("user/notification").await);

    let reblog = alice.reblog(&id).ok().await;
    app.run_jobs().await;
    let told = app.told(&bob, &mut bobs).await;
    assert_eq!(names(&told), ["update"]);
    let expected = bob.status(&reblog).ok().await;
    assert_eq!(told[0].json(), expected);
    assert_eq!(expected["reblog"]["bookmarked"], true);
    assert_eq!(expected["reblog"]["poll"]["own_votes"], json!([1]));
    let told = carols.next().await.unwrap();
    assert_eq!((told.name.as_str(), &told.json()["type"]), ("notification", &json!("reblog")));
}

#[tokio::test]
async fn notifications_are_sent_to_tokens_that_may_read_them() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let [statuses, both] = ["read:statuses", "read:statuses read:notifications"];
    let (statuses, both) = (bob.with_scopes(statuses).await, bob.with_scopes(both).await);
    let (mut without, mut with) = (statuses.events("user").await, both.events("user").await);
    let mut alone = both.events("user/notification").await;

    alice.publish("@bob hello").await;
    app.run_jobs().await;
    let told = app.told(&bob, &mut with).await;
    assert_eq!(names(&told), ["notification"]);
    let id = told[0].json()["id"].as_str().unwrap().to_owned();
    assert_eq!(told[0].json(), bob.get(&format!("/api/v1/notifications/{id}")).ok().await);
    assert!(app.told(&bob, &mut without).await.is_empty());
    assert_eq!(alone.next().await.unwrap(), told[0]);

    // Mentioned accounts receive edits, also without following.
    let status = told[0].json()["status"]["id"].as_str().unwrap().to_owned();
    alice.edit(&status, "@bob hi").ok().await;
    assert_eq!(alone.next().await.unwrap().name, "status.update");
    alice.delete_status(&status).ok().await;
    assert_eq!(alone.next().await.unwrap(), Event { name: "delete".to_owned(), payload: status });
}

#[tokio::test]
async fn filtered_notifications_are_not_sent() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    bob.put("/api/v2/notifications/policy").json(&json!({ "for_not_following": "filter" })).ok().await;
    let mut events = bob.events("user").await;
    alice.publish("@bob hello").await;
    app.run_jobs().await;
    assert!(app.told(&bob, &mut events).await.is_empty());

    let requests = bob.get("/api/v1/notifications/requests").ok().await;
    let id = requests[0]["id"].as_str().unwrap();
    bob.post(&format!("/api/v1/notifications/requests/{id}/accept")).ok().await;
    app.run_jobs().await;
    let told = app.told(&bob, &mut events).await;
    assert_eq!(told, [Event { name: "notifications_merged".to_owned(), payload: "1".to_owned() }]);
}

#[tokio::test]
async fn lists_show_their_members_until_they_are_deleted() {
    let app = TestApp::core().await;
    let server = app.listen().await;
    let [alice, bob, eve] = app.accounts(["alice", "bob", "eve"]).await;
    follow(&bob, &alice).await;
    let list = bob.post("/api/v1/lists").json(&json!({ "title": "friends" })).ok().await;
    let list = list["id"].as_str().unwrap();
    bob.post(&format!("/api/v1/lists/{list}/accounts")).json(&json!({ "account_ids": [alice.id()] })).ok().await;
    app.run_jobs().await;
    let path = format!("list?list={list}");
    let (mut events, mut socket) =
        (bob.events(&path).await, server.socket(&bob, &format!("?stream=list&list={list}")).await);
    assert_eq!(eve.get(&format!("/api/v1/streaming/{path}")).send().await.status, 401);

    let id = alice.publish("to the list").await.into_id();
    app.run_jobs().await;
    let told = events.next().await.unwrap();
    assert_eq!((told.name.as_str(), told.json()["id"].as_str().unwrap()), ("update", id.as_str()));
    bob.delete(&format!("/api/v1/lists/{list}")).ok().await;
    assert!(events.rest().await.contains(":This stream has ended"));
    assert_eq!(socket.next().await["event"], "update");
    // The next message is the response to this subscription.
    socket.subscribe(&json!({ "stream": "user" })).await;
}

/// The job that fills a feed inserts statuses published after it was queued; their fan-out then finds them already
/// inserted.
#[tokio::test]
async fn status_during_feed_fill_is_streamed_once() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let list = bob.post("/api/v1/lists").json(&json!({ "title": "friends" })).ok().await;
    let list = list["id"].as_str().unwrap();
    let mut streams = [bob.events("user").await, bob.events(&format!("list?list={list}")).await];
    for (at, text) in ["before", "meanwhile", "after"].into_iter().enumerate() {
        app.tick();
        let id = alice.publish(&format!("{text} #rooks")).await.into_id();
        match text {
            "before" => {
                app.run_jobs().await;
                bob.follow(&alice).ok().await;
                let members = json!({ "account_ids": [alice.id()] });
                bob.post(&format!("/api/v1/lists/{list}/accounts")).json(&members).ok().await;
            }
            _ => {
                app.run_jobs().await;
                for stream in &mut streams {
                    let told = stream.next().await.unwrap();
                    let told = (told.name.as_str(), told.json()["id"].clone());
                    assert_eq!(told, ("update", json!(id)), "{at}: {text}");
                }
            }
        }
    }
    for path in ["/api/v1/timelines/home".to_owned(), format!("/api/v1/timelines/list/{list}")] {
        assert_eq!(bob.get(&path).ok().await.as_array().unwrap().len(), 3, "{path}");
    }
}

#[tokio::test]
async fn conversations_are_sent_to_participants() {
    let app = TestApp::core().await;
    let [alice, bob, eve] = app.accounts(["alice", "bob", "eve"]).await;
    follow(&bob, &alice).await;
    let (mut events, mut others) = (bob.events("direct").await, eve.events("user").await);
    alice.publish_to("direct", "@bob psst").await;
    app.run_jobs().await;
    let told = events.next().await.unwrap();
    assert_eq!(told.name, "conversation");
    assert_eq!(told.json(), bob.get("/api/v1/conversations").ok().await[0]);
    let id = told.json()["id"].as_str().unwrap().to_owned();
    bob.post(&format!("/api/v1/conversations/{id}/read")).ok().await;
    assert_eq!(events.next().await.unwrap().json()["unread"], false);
    assert!(app.told(&eve, &mut others).await.is_empty());
}

#[tokio::test]
async fn deleting_last_status_sends_conversation_with_previous_one() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    follow(&bob, &alice).await;
    follow(&alice, &bob).await;
    let first = alice.publish_to("direct", "@bob first").await.into_id();
    app.tick();
    let answer = json!({ "status": "@alice answer", "visibility": "direct", "in_reply_to_id": first });
    let answer = bob.publish(answer).await.into_id();
    app.run_jobs().await;
    // Dispatches the changes so far, so that the streams below receive later ones only.
    app.told(&alice, &mut alice.events("user").await).await;
    let mut streams = [alice.events("direct").await, bob.events("direct").await];
    bob.delete_status(&answer).ok().await;
    for (person, events) in [&alice, &bob].into_iter().zip(&mut streams) {
        let told = events.next().await.unwrap();
        assert_eq!((told.name.as_str(), &told.json()["last_status"]["id"]), ("conversation", &json!(first)));
        assert_eq!(told.json(), person.get("/api/v1/conversations").ok().await[0], "{}", person.name);
    }
    // A conversation that is deleted with its last status sends no event: the next event is another one.
    alice.delete_status(&first).ok().await;
    let other = alice.publish_to("direct", "@bob other").await.into_id();
    app.run_jobs().await;
    for events in &mut streams {
        assert_eq!(events.next().await.unwrap().json()["last_status"]["id"], other.as_str());
    }
}

#[tokio::test]
async fn filter_change_is_sent_once_per_request() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let (mut own, mut others) = (alice.events("user").await, bob.events("user").await);
    let keywords = json!([{ "keyword": "a" }, { "keyword": "b" }]);
    let filter = json!({ "title": "T", "context": ["home"], "keywords_attributes": keywords });
    alice.post("/api/v2/filters").json(&filter).ok().await;
    let told = app.told(&alice, &mut own).await;
    assert_eq!(told, [Event { name: "filters_changed".to_owned(), payload: String::new() }]);
    assert!(app.told(&bob, &mut others).await.is_empty());
}

#[tokio::test]
async fn announcements_are_sent_to_everyone_without_viewer_state() {
    let app = TestApp::core().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let mut streams = [alice.events("user").await, bob.events("user").await];
    let draft = Draft { text: "We *moved*".to_owned(), starts_at: None, ends_at: None, all_day: false };
    let id = announcement::create(&app.app, &model::Staff::operator(), draft, Publication::Now).await.unwrap();
    app.run_jobs().await;
    let read = alice.get("/api/v1/announcements").ok().await[0].clone();
    for (person, events) in [&alice, &bob].into_iter().zip(&mut streams) {
        let told = app.told(person, events).await;
        assert_eq!(names(&told), ["announcement"]);
        let mut told = told[0].json();
        assert!(told.get("read").is_none());
        told["read"] = json!(false);
        assert_eq!(told, read);
    }
    let path = format!("/api/v1/announcements/{id}/reactions/%F0%9F%90%A6");
    for (method, count) in [(Method::PUT, 1), (Method::DELETE, 0)] {
        alice.request(method, &path).ok().await;
        let told = app.told(&bob, &mut streams[1]).await;
        assert_eq!(names(&told), ["announcement.reaction"]);
        assert_eq!(told[0].json(), json!({ "name": "🐦", "count": count, "announcement_id": id.to_string() }));
    }
    announcement::remove(&app.app, &model::Staff::operator(), id).await.unwrap();
    app.run_jobs().await;
    let told = app.told(&bob, &mut streams[1]).await;
    assert_eq!(told, [Event { name: "announcement.delete".to_owned(), payload: id.to_string() }]);
}

#[tokio::test]
async fn message_to_token_reaches_only_its_streams() {
    let app = TestApp::core().await;
    let [alice] = app.accounts(["alice"]).await;
    let other = alice.with_scopes("read").await;
    let (mut one, mut two) = (alice.events("user").await, other.events("user").await);
    let token = app.number("SELECT id FROM oauth_tokens ORDER BY id LIMIT 1").await;
    let tell = |payload: &str, scopes: &[&str]| {
        app.app.live.tell(context::change::Change::TopicMessage {
            topic: format!("token:{token}"),
            event: "encrypted_message".to_owned(),
            payload: payload.to_owned(),
            scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        });
    };
    tell("{\"a\":0}", &["crypto"]);
    tell("{\"a\":1}", &["crypto", "read"]);
    let told = app.told(&alice, &mut one).await;
    assert_eq!(told, [Event { name: "encrypted_message".to_owned(), payload: "{\"a\":1}".to_owned() }]);
    assert!(app.told(&alice, &mut two).await.is_empty());
}
