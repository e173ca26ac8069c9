//! <https://docs.joinmastodon.org/methods/notifications/>

use chrono::Duration;
use rookery::model::{NotificationType as Type, StatusId};
use rookery::service::notification::{self, Notice};
use serde_json::Value;

use crate::harness::{Client, TestApp};

/// Hands notices over as a use case does; gives how many the rest of the server hears of.
async fn notify(app: &TestApp, notices: &[Notice]) -> usize {
    let mut events = app.app.events.subscribe();
    let mut tx = app.db().begin().await.unwrap();
    let notified = notification::notify(&app.app, &mut tx, notices).await.unwrap();
    tx.commit().await.unwrap();
    assert!(events.try_recv().is_err(), "nothing is said before the commit");
    notified.publish(&app.app);
    std::iter::from_fn(|| events.try_recv().ok()).count()
}

/// A notice with an activity of its own.
fn notice(app: &TestApp, kind: Type, from: &Client, receiver: &Client, status: Option<StatusId>) -> Notice {
    Notice { receiver: receiver.id(), from: from.id(), kind, activity: app.app.ids.next(), status }
}

/// A status of `author`, without the way through publishing.
async fn status(app: &TestApp, author: &Client, visibility: &str) -> StatusId {
    let id: StatusId = app.app.ids.next();
    let conversation: i64 = app.app.ids.next();
    let now = if std::env::vars().any(|(name, _)| name == "TEST_DATABASE_URL") { "now()" } else { "0" };
    raw(app, &format!("INSERT INTO conversations (id, created_at) VALUES ({conversation}, {now})")).await;
    raw(
        app,
        &format!(
            "INSERT INTO statuses (id, account_id, uri, local, text, content, spoiler_text, sensitive, visibility, searchability,
                                   conversation_id, listed, has_media, replies_count, reblogs_count, favourites_count,
                                   created_at, version)
             VALUES ({id}, {}, 'https://example.test/{id}', TRUE, '', '', '', FALSE, '{visibility}', 'direct',
                     {conversation}, FALSE, FALSE, 0, 0, 0, {now}, 0)",
            author.id()
        ),
    )
    .await;
    id
}

async fn raw(app: &TestApp, sql: &str) {
    app.db().execute_raw(sql).await.unwrap();
}

async fn index(client: &Client, query: &str) -> Vec<Value> {
    client.get(&format!("/api/v1/notifications{query}")).ok().await.as_array().unwrap().clone()
}

fn ids(page: &[Value]) -> Vec<&str> {
    page.iter().map(|notification| notification["id"].as_str().unwrap()).collect()
}
