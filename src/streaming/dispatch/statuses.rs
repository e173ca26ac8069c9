//! Events of statuses: published, entered into feeds, edited, deleted.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::Hub;
use crate::event::Event;
use crate::hub::Subscriber;
use crate::topic::{Public, Topic};
use context::change::StatusTraits;
use context::{Cx, Result};
use entity::status_views;
use model::{AccountId, Actor, StatusId};
use service::streaming::{self, PublicStatus};
use service::visibility::{self, Place};
use service::{auth, feed_access};
use store::feed::Feed;

/// A status was published: sends it to public streams. Feeds receive it when it enters them.
pub(super) async fn published(hub: &Hub, cx: &Cx, status: StatusId, traits: StatusTraits) -> Result<()> {
    if traits.reblog || !has_public_listeners(hub) {
        return Ok(());
    }
    publicly(hub, cx, "update", status).await
}

/// A status entered the feeds that `topics` show.
pub(super) async fn entered(hub: &Hub, cx: &Cx, name: &str, topics: Vec<Topic>, status: StatusId) -> Result<()> {
    let subscribers: Vec<Subscriber> = topics.iter().flat_map(|topic| hub.subscribers(topic)).collect();
    personally(cx, name, &subscribers, Place::Home, status).await
}

/// A status was edited: sends it to the streams that show it, and to the accounts that it mentions.
pub(super) async fn edited(hub: &Hub, cx: &Cx, status: StatusId) -> Result<()> {
    let feeds = feeds_with(hub, cx, status).await?;
    let shown: Vec<Subscriber> = feeds.iter().flat_map(|topic| hub.subscribers(topic)).collect();
    personally(cx, "status.update", &shown, Place::Home, status).await?;
    let mentioned = streaming::mentioned(cx, status).await?;
    let mentioned = mentioned.into_iter().map(Topic::Notifications).flat_map(|topic| hub.subscribers(&topic));
    // The user stream shows both feed and mentions, and receives the event once.
    let shown: BTreeSet<(u64, Arc<str>)> = shown.into_iter().map(|one| (one.connection.id, one.label)).collect();
    let mentioned = mentioned.filter(|one| !shown.contains(&(one.connection.id, Arc::clone(&one.label))));
    let mentioned: Vec<Subscriber> = mentioned.collect();
    personally(cx, "status.update", &mentioned, Place::Notification, status).await?;
    if has_public_listeners(hub) { publicly(hub, cx, "status.update", status).await } else { Ok(()) }
}

/// A status was deleted: sends its id to every stream that may have shown it. The id reveals nothing to viewers who
/// could not see the status.
pub(super) async fn deleted(
    hub: &Hub,
    cx: &Cx,
    status: StatusId,
    traits: StatusTraits,
    mentioned: &[AccountId],
) -> Result<()> {
    let mut topics = feeds_with(hub, cx, status).await?;
    topics.extend(mentioned.iter().flat_map(|account| [Topic::User(*account), Topic::Notifications(*account)]));
    if !traits.reblog && traits.visibility.is_listed() {
        topics.extend(Public::parts(traits.local, traits.media).map(Topic::Public));
    }
    if !traits.reblog && traits.visibility.is_anonymous() || traits.visibility.is_listed() {
        // The hashtags of the status were deleted with it.
        topics.extend(hub.topics_where(|topic| matches!(topic, Topic::Tag { local, .. } if traits.local || !local)));
    }
    let (id, mut sent) = (status.to_string(), BTreeSet::new());
    let mut event = Event::new("delete", Some(&id));
    for Subscriber { connection, label } in topics.iter().flat_map(|topic| hub.subscribers(topic)) {
        if sent.insert((connection.id, Arc::clone(&label))) {
            event.send(&connection, &label);
        }
    }
    Ok(())
}

/// The topics of the feeds of connected people that contain the status.
async fn feeds_with(hub: &Hub, cx: &Cx, status: StatusId) -> Result<Vec<Topic>> {
    let shown = hub.topics_where(|topic| topic.feed().is_some());
    let feeds: Vec<Feed> = shown.iter().filter_map(Topic::feed).collect();
    Ok(streaming::feeds_with(cx, status, &feeds).await?.into_iter().map(Topic::of_feed).collect())
}

fn has_public_listeners(hub: &Hub) -> bool {
    !hub.topics_where(|topic| matches!(topic, Topic::Public(_) | Topic::Tag { .. })).is_empty()
}

/// Sends each of `subscribers` their view of the status at `place`, and nothing if it is hidden from them.
async fn personally(cx: &Cx, name: &str, subscribers: &[Subscriber], place: Place, status: StatusId) -> Result<()> {
    if subscribers.is_empty() {
        return Ok(());
    }
    let viewers = auth::cached_actors(cx, &accounts(subscribers)).await?;
    let seen = visibility::seen_by(cx, &viewers, place, status).await?;
    let seen: Vec<_> = seen.into_iter().map(|(index, seen)| (Arc::clone(&viewers[index]), seen)).collect();
    let rendered = status_views::render_each(cx, &seen).await?;
    let views = seen.iter().zip(rendered).filter_map(|((viewer, _), text)| Some((viewer.id, text?)));
    send(name, subscribers.iter(), &views.collect());
    Ok(())
}

/// Sends the status to public streams, with the result of each viewer's filters. Skips viewers that may not see it
/// there.
async fn publicly(hub: &Hub, cx: &Cx, name: &str, id: StatusId) -> Result<()> {
    let Some(status) = streaming::public_status(cx, id).await? else { return Ok(()) };
    let Some(seen) = visibility::seen_publicly(cx, id).await? else { return Ok(()) };
    let subscribers: Vec<((bool, bool), Subscriber)> = topics_of(&status)
        .flat_map(|topic| {
            let disabled = topic.server_feed().is_some_and(|feed| feed_access::is_disabled(cx, feed, status.local));
            let kind = (topic.is_local(), disabled);
            hub.subscribers(&topic).into_iter().map(move |subscriber| (kind, subscriber))
        })
        .collect();
    for (local, disabled) in [(false, false), (true, false), (false, true), (true, true)] {
        let of_kind = subscribers.iter().filter(|(kind, _)| *kind == (local, disabled));
        let subscribers: Vec<&Subscriber> = of_kind.map(|(_, subscriber)| subscriber).collect();
        if subscribers.is_empty() {
            continue;
        }
        let mut viewers = auth::cached_actors(cx, &accounts(subscribers.iter().copied())).await?;
        viewers.retain(|viewer| reads(viewer, status.language.as_deref()));
        viewers.retain(|viewer| !disabled || feed_access::views_disabled(viewer));
        let receivers = visibility::receivers(cx, &viewers, &seen, &status.mentioned, local).await?;
        let viewers: Vec<Arc<Actor>> = receivers.into_iter().map(|index| Arc::clone(&viewers[index])).collect();
        let rendered = status_views::render_publicly(cx, &seen, &viewers).await?;
        let views = viewers.iter().zip(rendered).filter_map(|(viewer, text)| Some((viewer.id, text?)));
        send(name, subscribers.into_iter(), &views.collect());
    }
    Ok(())
}

/// The topics of public streams that show the status.
fn topics_of(status: &PublicStatus) -> impl Iterator<Item = Topic> {
    let listed = status.listed.then(|| Public::parts(status.local, status.has_media).map(Topic::Public));
    let tags: &[String] = if status.tagged { &status.tags } else { &[] };
    let tagged = tags.iter().flat_map(|name| {
        let local = status.local.then(|| Topic::Tag { name: name.clone(), local: true });
        [Some(Topic::Tag { name: name.clone(), local: false }), local].into_iter().flatten()
    });
    listed.into_iter().flatten().chain(tagged)
}

/// True unless the viewer selected languages and `language` is not among them.
fn reads(viewer: &Actor, language: Option<&str>) -> bool {
    let chosen = &viewer.preferences.chosen_languages;
    chosen.is_empty() || language.is_none_or(|language| chosen.iter().any(|one| one == language))
}

fn accounts<'a>(subscribers: impl IntoIterator<Item = &'a Subscriber>) -> Vec<AccountId> {
    let mut accounts: Vec<AccountId> = subscribers.into_iter().map(|one| one.connection.owner.account).collect();
    accounts.sort_unstable();
    accounts.dedup();
    accounts
}

/// Sends `subscribers` the view in `views` of their account, once per subscription. Viewers with the same view share
/// one encoding.
fn send<'a>(name: &str, subscribers: impl Iterator<Item = &'a Subscriber>, views: &HashMap<AccountId, Arc<str>>) {
    let mut events: HashMap<*const u8, Event<'_>> = HashMap::new();
    let mut sent = BTreeSet::new();
    for Subscriber { connection, label } in subscribers {
        let Some(view) = views.get(&connection.owner.account) else { continue };
        if sent.insert((connection.id, Arc::clone(label))) {
            let event = events.entry(view.as_ptr()).or_insert_with(|| Event::new(name, Some(view)));
            event.send(connection, label);
        }
    }
}
