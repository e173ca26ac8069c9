//! What concerns one person, and what concerns everyone: notifications, conversations, announcements.

use std::sync::Arc;

use crate::Hub;
use crate::event::Event;
use crate::hub::Subscriber;
use crate::topic::Topic;
use model::{AccountId, Actor, NotificationId, RowId};
use rookery_core::entity;
use rookery_core::service::{conversation, notification, streaming};
use rookery_core::{Cx, Error, Result};

/// A notification was made.
pub(super) async fn notified(hub: &Hub, cx: &Cx, receiver: AccountId, id: NotificationId) -> Result<()> {
    let topic = Topic::Notifications(receiver);
    let Some(actor) = listener(hub, cx, &topic, receiver).await? else { return Ok(()) };
    let Some(shown) = present(notification::show(cx, &actor, id).await)? else { return Ok(()) };
    if shown.listed.notification.filtered {
        return Ok(());
    }
    if let Some(rendered) = present(entity::notification::render_one(cx, &actor, &shown).await)? {
        hub.tell(&topic, "notification", Some(rendered.as_str()));
    }
    Ok(())
}

/// A conversation has a new last status, or was read.
pub(super) async fn conversation(hub: &Hub, cx: &Cx, account: AccountId, id: RowId) -> Result<()> {
    let topic = Topic::Direct(account);
    let Some(actor) = listener(hub, cx, &topic, account).await? else { return Ok(()) };
    if let Some(shown) = present(conversation::show(cx, &actor, id).await)? {
        let rendered = entity::conversation::render_one(cx, &actor, &shown).await?;
        hub.tell(&topic, "conversation", Some(rendered.as_str()));
    }
    Ok(())
}

/// An announcement was published or changed.
pub(super) async fn announcement(hub: &Hub, cx: &Cx, id: RowId) -> Result<()> {
    let Some(shown) = streaming::announcement(cx, id).await? else { return Ok(()) };
    if let Some(rendered) = entity::announcement::render_publicly(cx, &shown).await? {
        everyone(hub, "announcement", rendered.as_str());
    }
    Ok(())
}

/// The count of a reaction to an announcement changed.
pub(super) async fn reaction(hub: &Hub, cx: &Cx, id: RowId, name: &str) -> Result<()> {
    let count = streaming::reaction(cx, id, name).await?;
    if let Some(rendered) = entity::announcement::render_reaction(cx, &count)? {
        everyone(hub, "announcement.reaction", rendered.as_str());
    }
    Ok(())
}

/// Tells everyone whose own stream is open.
pub(super) fn everyone(hub: &Hub, name: &str, payload: &str) {
    let mut event = Event::new(name, Some(payload));
    for topic in hub.topics_where(|topic| matches!(topic, Topic::User(_))) {
        for Subscriber { connection, label } in hub.subscribers(&topic) {
            event.send(&connection, &label);
        }
    }
}

/// `account`, if it is connected and listens to `topic`.
async fn listener(hub: &Hub, cx: &Cx, topic: &Topic, account: AccountId) -> Result<Option<Arc<Actor>>> {
    if !hub.hears(topic) {
        return Ok(None);
    }
    Ok(hub.people.of(cx, vec![account]).await?.pop())
}

/// What is there; `None` for what was deleted or hidden meanwhile.
fn present<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(Error::NotFound) => Ok(None),
        Err(error) => Err(error),
    }
}
