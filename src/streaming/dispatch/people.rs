//! Events for one person or for everyone: notifications, conversations, announcements.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Hub;
use crate::event::Event;
use crate::hub::Subscriber;
use crate::topic::Topic;
use context::change::CreatedNotification;
use context::{Cx, Result};
use model::{AccountId, Actor, NotificationId, RowId};
use service::{auth, conversation, notification, streaming};

/// Most notifications that are read and rendered together.
const PAGE: usize = 100;

/// Notifications were created. A page of them takes as many statements as one.
pub(super) async fn notified(hub: &Hub, cx: &Cx, made: &[CreatedNotification]) -> Result<()> {
    let subscribed: Vec<&CreatedNotification> =
        made.iter().filter(|made| hub.hears(&Topic::Notifications(made.receiver))).collect();
    for page in subscribed.chunks(PAGE) {
        let receivers = people(cx, page.iter().map(|made| made.receiver)).await?;
        let ids: Vec<NotificationId> = page.iter().map(|made| made.notification).collect();
        let mut shown = notification::show_each(cx, &receivers, &ids).await?;
        shown.retain(|(_, shown)| !shown.listed.notification.filtered);
        let rendered = entity::notification::render_each(cx, &shown).await?;
        for ((receiver, _), rendered) in shown.iter().zip(rendered) {
            if let Some(rendered) = rendered {
                hub.publish(&Topic::Notifications(receiver.id), "notification", Some(rendered.as_str()));
            }
        }
    }
    Ok(())
}

/// Conversations have a new last status, or were read. A page of them takes as many statements as one.
pub(super) async fn conversations(hub: &Hub, cx: &Cx, updated: &[(AccountId, RowId)]) -> Result<()> {
    let subscribed: Vec<_> = updated.iter().filter(|(owner, _)| hub.hears(&Topic::Direct(*owner))).collect();
    for page in subscribed.chunks(PAGE) {
        let owners = people(cx, page.iter().map(|(owner, _)| *owner)).await?;
        let ids: Vec<RowId> = page.iter().map(|(_, id)| *id).collect();
        let shown = conversation::show_each(cx, &owners, &ids).await?;
        let rendered = entity::conversation::render_each(cx, &shown).await?;
        for ((owner, _), rendered) in shown.iter().zip(rendered) {
            hub.publish(&Topic::Direct(owner.id), "conversation", Some(rendered.as_str()));
        }
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

/// Sends to every open user stream.
pub(super) fn everyone(hub: &Hub, name: &str, payload: &str) {
    let mut event = Event::new(name, Some(payload));
    for topic in hub.topics_where(|topic| matches!(topic, Topic::User(_))) {
        for Subscriber { connection, label } in hub.subscribers(&topic) {
            event.send(&connection, &label);
        }
    }
}

/// Loads the accounts among `accounts` that may use this server.
async fn people(cx: &Cx, accounts: impl Iterator<Item = AccountId>) -> Result<Vec<Arc<Actor>>> {
    let accounts: BTreeSet<AccountId> = accounts.collect();
    auth::cached_actors(cx, &Vec::from_iter(accounts)).await
}
