//! Reads the change log and sends each change to the connections that it concerns, in the order of the log.
//!
//! A change without subscribers costs one table lookup. `service::visibility` decides what each receiver sees of a
//! status, and each distinct view is rendered once.

mod people;
mod statuses;

use std::sync::Arc;

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::Hub;
use crate::connection::End;
use crate::event::Event;
use crate::topic::Topic;
use context::change::{Change, Streamed};
use context::{Cx, Result};
use model::{AccountId, TokenId};
use store::feed::Feed;

/// Dispatches `changes` until the server stops.
pub(crate) async fn run(hub: Arc<Hub>, mut changes: Receiver<Arc<Change>>) {
    loop {
        match changes.recv().await {
            Ok(change) if hub.is_empty() => drop(change),
            Ok(change) => {
                // Uses the current generation of extensions, not the generation at the start of the server.
                let cx = hub.cx.begin(None);
                if let Err(error) = dispatch(&hub, &cx, &change).await {
                    context::log_failure!(
                        error,
                        "failed to publish a change of kind {} to streams",
                        change.kind().as_str()
                    );
                }
            }
            Err(RecvError::Lagged(missed)) => {
                tracing::warn!(missed, "streams fell behind the change log: closing them so that clients refetch");
                hub.end_all(End::Missed);
            }
            Err(RecvError::Closed) => return,
        }
    }
}

/// Sends `change` to the connections that it concerns.
async fn dispatch(hub: &Hub, cx: &Cx, change: &Change) -> Result<()> {
    let Some(streamed) = change.streamed() else { return Ok(()) };
    match streamed {
        Streamed::Published { status, traits } => statuses::published(hub, cx, status, traits).await?,
        Streamed::Edited(status) => statuses::edited(hub, cx, status).await?,
        Streamed::Deleted { status, traits, mentioned } => {
            statuses::deleted(hub, cx, status, traits, &mentioned).await?;
        }
        Streamed::Entered { kind, owners, status } => {
            let feeds = owners.into_iter().map(|owner| Feed { kind, owner });
            statuses::entered(hub, cx, "update", feeds.map(Topic::of_feed).collect(), status).await?;
        }
        Streamed::Notified(made) => people::notified(hub, cx, &made).await?,
        Streamed::NotificationsMerged(receiver) => {
            hub.publish(&Topic::Notifications(receiver), "notifications_merged", Some("1"));
        }
        Streamed::Conversations(updated) => people::conversations(hub, cx, &updated).await?,
        Streamed::FiltersChanged(account) => hub.publish(&Topic::User(account), "filters_changed", None),
        Streamed::Announcement(id) => people::announcement(hub, cx, id).await?,
        Streamed::AnnouncementDeleted(id) => people::everyone(hub, "announcement.delete", &id.to_string()),
        Streamed::AnnouncementReaction { announcement, name } => {
            people::reaction(hub, cx, announcement, &name).await?;
        }
        Streamed::Message { topic, event, payload, scopes } => message(hub, &topic, &event, &payload, &scopes),
        Streamed::TokenEnded(token) => hub.end_token(token),
        Streamed::ListEnded(list) => hub.end_topic(&Topic::List(list)),
        Streamed::FeedsEnded(feeds) => feeds.into_iter().for_each(|feed| hub.end_topic(&Topic::of_feed(feed))),
    }
    Ok(())
}

/// Sends a plugin's message: to an account (`user:ID`), to one token (`token:ID`) that has one of `scopes`, or to a
/// topic of the plugin.
fn message(hub: &Hub, topic: &str, event: &str, payload: &str, scopes: &[String]) {
    let id = |prefix: &str| topic.strip_prefix(prefix).and_then(|id| id.parse::<i64>().ok());
    if let Some(account) = id("user:") {
        hub.publish(&Topic::User(AccountId::from(account)), event, Some(payload));
    } else if let Some(token) = id("token:") {
        to_token(hub, TokenId::from(token), event, payload, scopes);
    } else {
        hub.publish(&Topic::Messages(topic.to_owned()), event, Some(payload));
    }
}

/// Sends to the connections with one token that show the user stream of their account, if the token has one of
/// `scopes`.
fn to_token(hub: &Hub, token: TokenId, name: &str, payload: &str, scopes: &[String]) {
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let accounts: Vec<AccountId> =
        hub.all().iter().filter(|open| open.owner.token == token).map(|open| open.owner.account).take(1).collect();
    let mut event = Event::new(name, Some(payload));
    for account in accounts {
        for subscriber in hub.subscribers(&Topic::User(account)) {
            let owner = &subscriber.connection.owner;
            if owner.token == token && owner.scopes.allows(&scopes) {
                event.send(&subscriber.connection, &subscriber.label);
            }
        }
    }
}
