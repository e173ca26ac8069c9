//! The matrix for streams: changes about every subject are sent to all connections, as if the subject had entered
//! every feed and been published; then again with media, as an edit, and in notifications and conversations.

use std::collections::BTreeSet;

use context::change::{Change, CreatedNotification, StatusTraits};
use futures_util::FutureExt as _;
use model::{AccountId, RowId};

use super::oracle::{Author, Place, Subject, Token, Verdict, Viewer, may_see, verdict};
use super::{World, seen_by};
use crate::harness::{Client, Events, TestApp};
use crate::platform::contract;

const USER: &str = "user";
/// `{list}` is a list of the listener.
const LIST: &str = "list?list={list}";

/// Every channel of the core, as a path below `/api/v1/streaming/`.
const CHANNELS: [&str; 14] = [
    USER,
    LIST,
    "user/notification",
    "direct",
    "public",
    "public/local",
    "public/remote",
    "public?only_media=true",
    "public/local?only_media=1",
    "public/remote?only_media=on",
    "hashtag?tag=plain",
    "hashtag?tag=replies",
    "hashtag/local?tag=plain",
    "hashtag/local?tag=replies",
];

/// The subjects that a channel shows in a round. A channel without an entry shows none.
#[derive(Clone, Copy)]
pub(super) struct Shows {
    pub(super) channel: &'static str,
    /// The timeline with the same rules.
    pub(super) place: Place,
    /// The subjects that a permitted viewer receives exactly; `None` checks hidden subjects only.
    pub(super) there: Option<fn(&Subject) -> bool>,
}

const fn shows(channel: &'static str, place: Place, there: fn(&Subject) -> bool) -> Shows {
    Shows { channel, place, there: Some(there) }
}

/// Feeds that every subject enters.
const FEEDS: [Shows; 2] = [shows(USER, Place::Home, |_| true), shows(LIST, Place::Home, |_| true)];

const PUBLIC: [Shows; 7] = [
    shows("public", Place::Timeline, |subject| !subject.reply),
    shows("public/local", Place::Timeline, |subject| !subject.reply && !subject.author.is_remote()),
    shows("public/remote", Place::Timeline, |subject| !subject.reply && subject.author.is_remote()),
    shows("hashtag?tag=plain", Place::Timeline, |subject| !subject.reply),
    shows("hashtag?tag=replies", Place::Timeline, |subject| subject.reply),
    shows("hashtag/local?tag=plain", Place::Timeline, |subject| !subject.reply && !subject.author.is_remote()),
    shows("hashtag/local?tag=replies", Place::Timeline, |subject| subject.reply && !subject.author.is_remote()),
];

/// Channels for statuses with media.
const MEDIA: [Shows; 3] = [
    shows("public?only_media=true", Place::Timeline, |subject| !subject.reply),
    shows("public/local?only_media=1", Place::Timeline, |subject| !subject.reply && !subject.author.is_remote()),
    shows("public/remote?only_media=on", Place::Timeline, |subject| !subject.reply && subject.author.is_remote()),
];

/// An edit is sent to feeds with an entry of the status, and to mentioned accounts.
const EDITED: [Shows; 3] = [
    Shows { channel: USER, place: Place::Notification, there: None },
    shows(LIST, Place::Home, |subject| !subject.reply),
    Shows { channel: "user/notification", place: Place::Notification, there: None },
];

/// The seed has a notification and a conversation per viewer and subject, except for replies.
const NOTIFIED: [Shows; 3] = [
    shows(USER, Place::Notification, |subject| !subject.reply),
    shows("user/notification", Place::Notification, |subject| !subject.reply),
    shows("direct", Place::Notification, |subject| !subject.reply),
];

/// The streams of a viewer by channel. The first is [`USER`], which receives the mark at the end of a round.
struct Listener<'a> {
    viewer: Viewer,
    own: Option<Author>,
    client: &'a Client,
    streams: Vec<(&'static str, Events)>,
}

/// All connected viewers, and the faults so far.
pub(super) struct Listeners<'a> {
    world: &'a World,
    all: Vec<Listener<'a>>,
    faults: BTreeSet<String>,
    /// Number of subjects that were received.
    count: usize,
}

/// The path of `channel` with the ids of the list and the antenna of the listener.
fn path(world: &World, channel: &str, listener: i64) -> String {
    let of = |owned: &[(i64, i64)]| owned.iter().find(|(person, _)| *person == listener).map(|(_, id)| id.to_string());
    let list = of(&world.lists).expect("everyone has a list");
    let antenna = world.owned.get("antennas").and_then(|owned| of(owned)).unwrap_or_default();
    channel.replace("{list}", &list).replace("{antenna}", &antenna)
}

fn traits(subject: &Subject, media: bool) -> StatusTraits {
    StatusTraits {
        visibility: subject.visibility.parse().unwrap(),
        local: !subject.author.is_remote(),
        reblog: false,
        reply: subject.reply,
        media,
    }
}

impl<'a> Listeners<'a> {
    /// Connects all viewers to `channels`.
    pub(super) async fn connect(world: &'a World, channels: &[&'static str]) -> Self {
        let mut all = Vec::new();
        for (viewer, own, client) in world.lookers() {
            let person = matches!(viewer.token, Token::Person | Token::Moderator | Token::Author);
            if person && own != Some(Author::Suspended) {
                let mut streams = Vec::new();
                for channel in channels {
                    streams.push((*channel, client.events(&path(world, channel, client.id().into())).await));
                }
                all.push(Listener { viewer, own, client, streams });
            }
        }
        Self { world, all, faults: BTreeSet::new(), count: 0 }
    }

    pub(super) fn emit(&self, change: Change) {
        self.world.app.app.live.tell(change);
    }

    /// Emits [`Change::FeedEntered`] for every subject and the feeds of `owners`.
    pub(super) fn enter(&self, kind: i64, owners: &[i64]) {
        for subject in &self.world.subjects {
            self.emit(Change::FeedEntered { kind, owners: owners.to_vec(), status: subject.id.into() });
        }
    }

    /// Emits the changes of publishing every subject, with or without media.
    fn publish(&self, media: bool) {
        let lists: Vec<i64> = self.world.lists.iter().map(|(_, list)| *list).collect();
        let owners: Vec<i64> = self.all.iter().map(|listener| listener.client.id().into()).collect();
        self.enter(0, &owners);
        self.enter(1, &lists);
        for subject in &self.world.subjects {
            let author = self.world.authors[0].into();
            self.emit(Change::StatusPublished { status: subject.id.into(), author, traits: traits(subject, media) });
        }
    }

    /// Emits [`Change::StatusEdited`] for every subject.
    pub(super) fn edit(&self, media: bool) {
        for subject in &self.world.subjects {
            let author = self.world.authors[0].into();
            self.emit(Change::StatusEdited { status: subject.id.into(), author, traits: traits(subject, media) });
        }
    }

    /// Emits the changes for all notifications and conversations of the seed.
    async fn notify(&self) {
        let db = self.world.app.db();
        let notifications = "SELECT account_id, id FROM notifications WHERE type = 'mention' AND NOT filtered";
        let notifications: Vec<(i64, i64)> = db.fetch_raw(notifications).await.unwrap();
        let made = |(receiver, id): (i64, i64)| CreatedNotification {
            receiver: receiver.into(),
            notification: id.into(),
            kind: "mention".to_owned(),
        };
        self.emit(Change::Notified { made: notifications.into_iter().map(made).collect() });
        let conversations: Vec<(i64, i64)> =
            db.fetch_raw("SELECT account_id, id FROM account_conversations").await.unwrap();
        let updated = |(owner, id): (i64, i64)| (AccountId::from(owner), RowId::from(id));
        self.emit(Change::ConversationsUpdated { conversations: conversations.into_iter().map(updated).collect() });
    }

    /// Reads the events of this `round` from all streams and compares them with `shown`.
    pub(super) async fn receive(&mut self, round: &str, shown: &[Shows]) {
        let people: Vec<&Client> = self.all.iter().map(|listener| listener.client).collect();
        self.world.app.mark(&people);
        for listener in &mut self.all {
            for (channel, events) in &mut listener.streams {
                let mut text = String::new();
                if *channel == USER {
                    text.extend(events.until_mark().await.into_iter().map(|event| event.payload));
                }
                // All events were queued before the mark.
                while let Some(event) = tokio::task::unconstrained(events.next()).now_or_never() {
                    text.push_str(&event.expect("an open stream").payload);
                }
                let shows = shown.iter().find(|shows| shows.channel == *channel);
                for subject in &self.world.subjects {
                    let is_received = text.contains(&subject.mark);
                    self.count += usize::from(is_received);
                    if let Some(fault) = fault(listener.viewer, listener.own, shows, subject, is_received) {
                        let (who, own) = (listener.viewer.name, listener.own);
                        self.faults.insert(format!("{round}: {who} ({own:?}): {channel}: {} {fault}", subject.mark));
                    }
                }
            }
        }
    }

    /// Fails the test on any fault, or if `least` subjects or fewer were received.
    pub(super) fn check(&self, least: usize) {
        let first: Vec<_> = self.faults.iter().take(40).cloned().collect();
        assert!(self.faults.is_empty(), "{} faults, the first:\n  {}", self.faults.len(), first.join("\n  "));
        assert!(self.count > least, "only {} subjects were received", self.count);
    }
}

/// The fault if a listener received `subject`, or did not.
fn fault(
    viewer: Viewer,
    own: Option<Author>,
    shows: Option<&Shows>,
    subject: &Subject,
    is_received: bool,
) -> Option<&'static str> {
    let Some(shows) = shows else { return is_received.then_some("does not belong there") };
    let viewer = seen_by(viewer, own, subject);
    let mut verdict = verdict(viewer, subject, shows.place);
    // All subjects mention an account that the authors block, and public streams skip such statuses.
    if shows.place == Place::Timeline && own.is_some_and(|author| author != subject.author) {
        verdict = Verdict::Either;
    }
    // Searchable unlisted statuses are on hashtag streams, but not on hashtag timelines.
    let is_found = subject.visibility == "unlisted" && may_see(viewer, subject) == Some(true);
    if shows.channel.starts_with("hashtag") && is_found && verdict == Verdict::Hidden {
        verdict = Verdict::Either;
    }
    match verdict {
        Verdict::Hidden => is_received.then_some("should be hidden"),
        Verdict::Shown => {
            shows.there.is_some_and(|there| is_received != there(subject)).then_some("should be shown where it belongs")
        }
        Verdict::Either => None,
    }
}

#[tokio::test]
async fn streams_show_what_timelines_show() {
    // All connections have the same address.
    let world = World::on(TestApp::with(&[("ROOKERY_STREAMING_MAX_PER_ADDRESS", "1000")]).await).await;
    let mut listeners = Listeners::connect(&world, &CHANNELS).await;
    listeners.publish(false);
    listeners.receive("published", &[&FEEDS[..], &PUBLIC[..]].concat()).await;

    let ids: Vec<String> = world.subjects.iter().map(|subject| subject.id.to_string()).collect();
    let with_media =
        format!("UPDATE statuses SET has_media = TRUE, version = version + 1 WHERE id IN ({})", ids.join(", "));
    world.app.execute(&with_media).await;
    world.app.app.caches.statuses.clear();
    world.app.app.caches.heads.clear();
    listeners.publish(true);
    listeners.receive("with media", &[&FEEDS[..], &PUBLIC[..], &MEDIA[..]].concat()).await;

    listeners.edit(true);
    listeners.receive("edited", &[&EDITED[..], &PUBLIC[..], &MEDIA[..]].concat()).await;
    listeners.notify().await;
    listeners.receive("notified", &NOTIFIED).await;
    listeners.check(2_000);
}

#[test]
fn stream_rows_are_in_the_matrix() {
    let missing: Vec<String> = contract::routes()
        .iter()
        .filter(|row| row.response == "event stream")
        .map(|row| row.path.trim_start_matches("/api/v1/streaming/").to_owned())
        .filter(|path| !CHANNELS.iter().any(|channel| channel.split('?').next() == Some(path.as_str())))
        .collect();
    assert!(missing.is_empty(), "these channels are not in CHANNELS: {missing:#?}");
}
