//! Requests at once: each use case that counts, done eight times together, counts as often as it took effect.
//!
//! On SQLite the one writer puts them in order; on PostgreSQL (READ COMMITTED) locks and constraints do.

use axum::http::StatusCode;
use rookery_core::service::oauth::exchange::{self, Request as TokenRequest};
use serde_json::{Value, json};

use crate::harness::{Answer, Client, RequestBuilder, TestApp};

/// How many requests are sent together.
const TOGETHER: usize = 8;

/// Sends `requests` together, each on a task of its own.
async fn together(requests: impl IntoIterator<Item = RequestBuilder>) -> Vec<Answer> {
    let running: Vec<_> = requests.into_iter().map(|request| tokio::spawn(request.send())).collect();
    let mut answers = Vec::new();
    for task in running {
        let answer = task.await.unwrap();
        assert!(answer.status.as_u16() < 500, "{}", answer.text());
        answers.push(answer);
    }
    answers
}

/// Sends `request` eight times together; how many were answered with 200.
async fn eight(request: impl Fn() -> RequestBuilder) -> usize {
    let answers = together((0..TOGETHER).map(|_| request())).await;
    answers.iter().filter(|answer| answer.status == StatusCode::OK).count()
}

async fn publish(author: &Client, body: Value) -> String {
    author.server.tick();
    let status = author.post("/api/v1/statuses").json(&body).ok().await;
    status["id"].as_str().unwrap().to_owned()
}

fn on(id: &str, action: &str) -> String {
    format!("/api/v1/statuses/{id}{action}")
}

/// The only value of a statement.
async fn number(app: &TestApp, sql: &str) -> i64 {
    app.db().fetch_raw::<(i64,)>(sql).await.unwrap()[0].0
}

async fn statuses_count(person: &Client) -> i64 {
    number(&person.server, &format!("SELECT statuses_count FROM accounts WHERE id = {}", person.id())).await
}

async fn of_status(app: &TestApp, id: &str, column: &str) -> i64 {
    number(app, &format!("SELECT {column} FROM statuses WHERE id = {id}")).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_key_publishes_one_status() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    for round in 0..4 {
        let answers = together((0..TOGETHER).map(|_| {
            let key = format!("round {round}");
            alice.post("/api/v1/statuses").header("idempotency-key", &key).json(&json!({"status": "once"}))
        }))
        .await;
        let mut ids: Vec<String> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 1, "all are told of the same status");
        assert_eq!(statuses_count(&alice).await, round + 1);
    }
    assert_eq!(number(&app, "SELECT COUNT(*) FROM statuses").await, 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn key_of_deleted_status_publishes_one_again() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let keyed = || alice.post("/api/v1/statuses").header("idempotency-key", "again").json(&json!({"status": "again"}));
    let first = keyed().ok().await;
    alice.delete(&on(first["id"].as_str().unwrap(), "")).ok().await;

    eight(keyed).await;

    assert_eq!(statuses_count(&alice).await, 1);
    assert_eq!(number(&app, "SELECT COUNT(*) FROM statuses").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_status_counts_once_and_each_deletion_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let parent = publish(&bob, json!({"status": "a question"})).await;
    publish(&alice, json!({"status": "kept"})).await;

    let answer = || alice.post("/api/v1/statuses").json(&json!({"status": "answer", "in_reply_to_id": parent}));
    assert_eq!(eight(answer).await, TOGETHER);
    assert_eq!((statuses_count(&alice).await, of_status(&app, &parent, "replies_count").await), (9, 8));

    let reply = publish(&alice, json!({"status": "one more", "in_reply_to_id": parent})).await;
    assert_eq!(eight(|| alice.delete(&on(&reply, ""))).await, 1, "the others find nothing");
    assert_eq!((statuses_count(&alice).await, of_status(&app, &parent, "replies_count").await), (9, 8));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn reblogs_and_favourites_count_once() {
    let app = TestApp::new().await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let status = publish(&alice, json!({"status": "good"})).await;
    publish(&bob, json!({"status": "kept"})).await;
    for (there, back, column) in
        [("/reblog", "/unreblog", "reblogs_count"), ("/favourite", "/unfavourite", "favourites_count")]
    {
        assert_eq!(eight(|| bob.post(&on(&status, there))).await, TOGETHER);
        assert_eq!(of_status(&app, &status, column).await, 1, "{column}");
        assert_eq!(eight(|| bob.post(&on(&status, back))).await, TOGETHER);
        assert_eq!(of_status(&app, &status, column).await, 0, "{column}");
    }
    assert_eq!(statuses_count(&bob).await, 1);
    assert_eq!(number(&app, "SELECT COUNT(*) FROM notifications").await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn follows_count_once() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    carol.patch("/api/v1/accounts/update_credentials").json(&json!({"locked": true})).ok().await;
    let counts = |person: &Client| {
        let id = person.id();
        let app = app.clone();
        async move {
            let sql = format!("SELECT followers_count * 100 + following_count FROM accounts WHERE id = {id}");
            number(&app, &sql).await
        }
    };
    assert_eq!(eight(|| alice.post(&format!("/api/v1/accounts/{}/follow", bob.id()))).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&bob).await), (1, 100));
    assert_eq!(eight(|| alice.post(&format!("/api/v1/accounts/{}/unfollow", bob.id()))).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&bob).await), (0, 0));

    alice.post(&format!("/api/v1/accounts/{}/follow", carol.id())).ok().await;
    assert_eq!(eight(|| carol.post(&format!("/api/v1/follow_requests/{}/authorize", alice.id()))).await, 1);
    assert_eq!((counts(&alice).await, counts(&carol).await), (1, 100));
    assert_eq!(eight(|| carol.post(&format!("/api/v1/accounts/{}/block", alice.id()))).await, TOGETHER);
    assert_eq!((counts(&alice).await, counts(&carol).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn pins_stay_within_their_limit() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let most = usize::try_from(app.app.settings().max_pinned_statuses).unwrap();
    let mut statuses = Vec::new();
    for _ in 0..most + 3 {
        statuses.push(publish(&alice, json!({"status": "pinned"})).await);
    }
    let answers = together(statuses.iter().map(|id| alice.post(&on(id, "/pin")))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == StatusCode::OK).count(), most);
    assert_eq!(number(&app, "SELECT COUNT(*) FROM status_pins").await, i64::try_from(most).unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn filters_stay_within_their_limits() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let keywords = |number: usize| vec![json!({"keyword": "a"}); number];
    let body = |number| json!({"title": "a", "context": ["home"], "keywords_attributes": keywords(number)});
    let filter = alice.post("/api/v2/filters").json(&body(497)).ok().await;
    assert_eq!(eight(|| alice.post("/api/v2/filters").json(&body(1))).await, 3);
    assert_eq!(number(&app, "SELECT COUNT(*) FROM filter_keywords").await, 500);

    let status = publish(&alice, json!({"status": "a"})).await;
    let path = format!("/api/v2/filters/{}/statuses", filter["id"].as_str().unwrap());
    assert_eq!(eight(|| alice.post(&path).json(&json!({"status_id": status}))).await, 1, "once in a filter");
    let version = format!("SELECT filters_version FROM accounts WHERE id = {}", alice.id());
    assert_eq!(number(&app, &version).await, 5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_edit_leaves_the_revision_before_it() {
    let app = TestApp::new().await;
    let alice = app.account("alice").await;
    let status = publish(&alice, json!({"status": "revision none #tag"})).await;
    let answers = together(
        (0..TOGETHER)
            .map(|number| alice.put(&on(&status, "")).json(&json!({"status": format!("revision {number} #tag")}))),
    )
    .await;
    assert!(answers.iter().all(|answer| answer.status == StatusCode::OK));

    let history = alice.get(&on(&status, "/history")).ok().await;
    let mut texts: Vec<&str> = history.as_array().unwrap().iter().filter_map(|edit| edit["content"].as_str()).collect();
    assert_eq!(texts.len(), TOGETHER + 1);
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), TOGETHER + 1, "no revision is there twice, none is missing");
    assert_eq!(number(&app, "SELECT COUNT(*) FROM status_tags").await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_is_about_a_status_ends_with_it() {
    let app = TestApp::new().await;
    let [alice, bob, carol] = app.accounts(["alice", "bob", "carol"]).await;
    for _ in 0..4 {
        let parent = publish(&alice, json!({"status": "soon gone"})).await;
        let reply = publish(&alice, json!({"status": "and this", "in_reply_to_id": parent})).await;
        let requests = vec![
            alice.delete(&on(&parent, "")),
            alice.delete(&on(&reply, "")),
            alice.post(&on(&parent, "/reblog")),
            bob.post(&on(&parent, "/reblog")),
            carol.post(&on(&parent, "/reblog")),
            bob.post(&on(&parent, "/favourite")),
            carol.post(&on(&reply, "/bookmark")),
            alice.post("/api/v1/statuses").json(&json!({"status": "too late", "in_reply_to_id": reply})),
        ];
        together(requests).await;
    }
    for person in [&alice, &bob, &carol] {
        let sql = format!("SELECT COUNT(*) FROM statuses WHERE account_id = {}", person.id());
        assert_eq!(statuses_count(person).await, number(&app, &sql).await, "{}", person.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_application_gets_one_token_for_the_same() {
    let app = TestApp::new().await;
    let made = app
        .anonymous()
        .post("/api/v1/apps")
        .json(&json!({"client_name": "Eight", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob"}))
        .ok()
        .await;
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    let running: Vec<_> = (0..TOGETHER)
        .map(|_| {
            let cx = app.app.clone();
            let request = TokenRequest {
                grant_type: Some("client_credentials".to_owned()),
                credentials: rookery_core::service::oauth::Credentials {
                    client_id: Some(text("client_id")),
                    client_secret: Some(text("client_secret").into()),
                },
                ..TokenRequest::default()
            };
            tokio::spawn(async move { exchange::exchange(&cx, &request).await.unwrap().text.expose().to_owned() })
        })
        .collect();
    let mut tokens = Vec::new();
    for task in running {
        tokens.push(task.await.unwrap());
    }
    tokens.dedup();
    assert_eq!(tokens.len(), 1);
    assert_eq!(number(&app, "SELECT COUNT(*) FROM oauth_tokens").await, 1);
}
