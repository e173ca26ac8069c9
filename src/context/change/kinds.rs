//! Every kind of change, one row each: its name, its data, its listeners and what each of them is given.
//!
//! A new kind needs a row here. What a listener is given is a [`Delivery`] or a [`Streamed`], enums that their listeners
//! match without a rest, or an [`Event`]: a new form does not compile until its listener has an arm for it. Caches are no
//! listeners: they compare versions ([`Caches`](crate::caches::Caches)).

use serde::{Deserialize, Serialize};

use super::declare::changes;
use super::delivery::Delivery;
use super::event::Event;
use super::follow_up::{FollowUp, Scheduled};
use super::streamed::Streamed;
use crate::Result;
use crate::queue::Distribution;
use crate::queue::job::Queued;
use crate::queue::kinds::{
    AcceptRequests, AttachCard, CarryOver, ExpireMute, FanOut, GenerateKey, Merge, MergeTag, RebuildList,
    ReconcileHome, ReconcileList, SeverDomain, Unmerge, UnmergeDomain, UnmergeTag, VerifyLinks,
};
use model::{
    AccountId, InteractionKind, NotificationId, RowId, Status, StatusId, TagId, Time, TokenId, Visibility, text_enum,
};
use store::feed::Feed;

/// A listener to changes, and the way in which it receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listener {
    /// Jobs, queued in the transaction.
    Jobs,
    /// A push for each subscription that wants the notification, queued in the transaction.
    Push,
    /// The outbox of every extension that subscribed: an [`Event`], in the transaction.
    Outbox,
    /// [`Federation`](crate::federation::Federation), which queues a [`Delivery`] to other servers in the transaction.
    Delivery,
    /// [`Live`](super::Live), after the commit: streams read a [`Streamed`] from the change.
    Stream,
}

changes! {
    /// A status or a reblog was published.
    StatusPublished = "status.created" { status: StatusId, author: AccountId, traits: StatusTraits }
        => [
            jobs(FanOut { status }),
            outbox(Event::of_status(author, status, traits)),
            delivery(traits.local.then_some(Delivery::Distribute(Distribution::Published(status)))),
            stream(Streamed::Published { status, traits }),
        ];

    /// A status was edited.
    StatusEdited = "status.updated" { status: StatusId, author: AccountId, traits: StatusTraits }
        => [
            outbox(Event::of_status(author, status, traits)),
            delivery(traits.local.then_some(Delivery::Distribute(Distribution::Edited(status)))),
            stream(Streamed::Edited(status)),
        ];

    /// A status or a reblog was deleted.
    /// `mentioned`: the mentioned accounts, read only if this process has live listeners.
    StatusDeleted = "status.deleted" {
        status: StatusId,
        author: AccountId,
        traits: StatusTraits,
        mentioned: Vec<AccountId>,
    } => [
        outbox(Event::of_status(author, status, traits)),
        delivery(traits.local.then_some(Delivery::Deleted { status, author, reblog: traits.reblog })),
        stream(Streamed::Deleted { status, traits, mentioned }),
    ];

    /// A status has a link in its text, or had one before it was edited.
    StatusLinked = "status.linked" { status: StatusId } => [jobs(AttachCard { status })];

    /// An account was created; it may still need confirmation or approval.
    AccountRegistered = "account.registered" { account: AccountId } => [jobs(GenerateKey { account })];

    /// An account became usable.
    AccountCreated = "account.created" { account: AccountId } => [outbox(Event::about_account(account))];

    /// A profile changed.
    AccountUpdated = "account.updated" { account: AccountId }
        => [outbox(Event::by_account(account)), delivery(Delivery::Profile(account))];

    /// An account moved: its followers here follow `target` from now on. `id`: the row of the move.
    AccountMoved = "account.moved" { account: AccountId, target: AccountId, id: RowId }
        => [
            jobs(CarryOver::new(id)),
            outbox(Event::between(account, target)),
            delivery(Delivery::Moved { account, target, id }),
        ];

    /// A report was filed that is to be forwarded to other servers.
    ReportForwarded = "report.forwarded" { report: RowId } => [delivery(Delivery::Reported(report))];

    /// A profile has links that are yet to be verified.
    ProfileLinked = "account.linked" { account: AccountId } => [jobs(VerifyLinks { account })];

    /// An account no longer requires approval of its followers.
    AccountUnlocked = "account.unlocked" { account: AccountId } => [jobs(AcceptRequests { account })];

    /// The removal of an account began.
    AccountRemoved = "account.removed" { account: AccountId } => [delivery(Delivery::AccountRemoved(account))];

    /// Moderators suspended an account.
    AccountSuspended = "account.suspended" { account: AccountId }
        => [outbox(Event::about_account(account)), delivery(Delivery::Profile(account))];

    /// An account was deleted.
    AccountPurged = "account.purged" { account: AccountId } => [outbox(Event::about_account(account))];

    /// Someone blocked someone.
    Blocked = "account.blocked" { account: AccountId, target: AccountId }
        => [
            jobs(Unmerge { account, target }),
            outbox(Event::between(account, target)),
            delivery(Delivery::Blocked { account, target }),
        ];

    /// A block ended. `block`: its row.
    Unblocked = "account.unblocked" { account: AccountId, target: AccountId, block: RowId }
        => [delivery(Delivery::Unblocked { account, target, block })];

    /// Someone muted someone.
    Muted = "account.muted" {
        account: AccountId,
        target: AccountId,
        #[serde(with = "micros")]
        until: Option<Time>,
    } => [
        jobs(Scheduled(until, ExpireMute { account, target }), Unmerge { account, target }),
        outbox(Event::between(account, target)),
    ];

    /// A mute ended.
    Unmuted = "account.unmuted" { account: AccountId, target: AccountId } => [jobs(Merge { account, target })];

    /// Someone blocked a domain.
    DomainBlocked = "domain.blocked" { account: AccountId, domain: String }
        => [jobs(UnmergeDomain { account, domain: domain.clone() }, SeverDomain::begin(account, domain))];

    /// Someone follows someone.
    Followed = "follow.created" { account: AccountId, target: AccountId }
        => [
            jobs(Merge { account, target }),
            outbox(Event::between(account, target)),
            delivery(Delivery::Followed { account, target }),
        ];

    /// Someone requested to follow an account of another server.
    FollowRequested = "follow.requested" { account: AccountId, target: AccountId }
        => [delivery(Delivery::FollowRequested { account, target })];

    /// A follow or a request for one ended: withdrawn, refused, or ended by either side.
    /// `uri`: the activity, if it came from another server.
    FollowEnded = "follow.ended" { account: AccountId, target: AccountId, follow: RowId, uri: Option<String> }
        => [delivery(Delivery::FollowEnded { account, target, follow, uri })];

    /// Someone unfollowed someone.
    Unfollowed = "follow.deleted" { account: AccountId, target: AccountId }
        => [jobs(Unmerge { account, target }), outbox(Event::between(account, target))];

    /// A status was marked as a favourite.
    Favourited = "favourite.created" {
        account: AccountId,
        status: StatusId,
        #[serde(default)]
        favourite: Option<RowId>,
    } => [
        outbox(Event::of_mark(account, status)),
        delivery(Delivery::Favourite { account, status, favourite, undone: false }),
    ];

    /// A status is no longer a favourite.
    Unfavourited = "favourite.deleted" {
        account: AccountId,
        status: StatusId,
        #[serde(default)]
        favourite: Option<RowId>,
    } => [
        outbox(Event::of_mark(account, status)),
        delivery(Delivery::Favourite { account, status, favourite, undone: true }),
    ];

    /// An interaction with a status needs the approval of its author.
    InteractionRequested = "interaction.requested" { request: RowId } => [delivery(Delivery::InteractionRequested(request))];

    /// The author of a status accepted or rejected an interaction.
    InteractionDecided = "interaction.decided" { request: RowId } => [delivery(Delivery::InteractionDecided(request))];

    /// A policy forbade an interaction by an account of another server. `request`: the activity that requested it.
    InteractionRefused = "interaction.refused" {
        kind: InteractionKind,
        target: StatusId,
        account: AccountId,
        uri: String,
        request: Option<String>,
    } => [delivery(Delivery::InteractionRefused { kind, target, account, uri, request })];

    /// The author of a status took back the authorization of an interaction.
    AuthorizationRevoked = "authorization.revoked" { request: RowId }
        => [delivery(Delivery::AuthorizationRevoked(request))];

    /// A status was bookmarked.
    Bookmarked = "bookmark.created" { account: AccountId, status: StatusId }
        => [outbox(Event::of_mark(account, status))];

    /// A bookmark was removed.
    Unbookmarked = "bookmark.deleted" { account: AccountId, status: StatusId }
        => [outbox(Event::of_mark(account, status))];

    /// Someone voted in a poll. `choices`: the positions of the options.
    Voted = "poll.voted" { account: AccountId, status: StatusId, choices: Vec<i64> }
        => [delivery(Delivery::Voted { account, status, choices })];

    /// A poll ended.
    PollEnded = "poll.ended" { status: StatusId } => [delivery(Delivery::PollEnded(status))];

    /// Someone pinned a status to their profile.
    Pinned = "pin.created" { account: AccountId, status: StatusId }
        => [delivery(Delivery::Pin { account, status, added: true })];

    /// Someone unpinned a status.
    Unpinned = "pin.deleted" { account: AccountId, status: StatusId }
        => [delivery(Delivery::Pin { account, status, added: false })];

    /// Someone features a hashtag on their profile. `name`: in normal form.
    TagFeatured = "tag.featured" { account: AccountId, name: String }
        => [delivery(Delivery::FeaturedTag { account, name, added: true })];

    /// Someone no longer features a hashtag.
    TagUnfeatured = "tag.unfeatured" { account: AccountId, name: String }
        => [delivery(Delivery::FeaturedTag { account, name, added: false })];

    /// An emoji was deleted or disabled.
    EmojiDeleted = "emoji.deleted" { emoji: RowId, shortcode: String } => [outbox(Event::of_emoji(emoji, &shortcode))];

    /// A list was deleted.
    ListDeleted = "list.deleted" { list: RowId, owner: AccountId }
        => [outbox(Event::of_list(owner, list)), stream(Streamed::ListEnded(list))];

    /// Accounts were added to a list, or removed from it.
    /// `exclusive`: the list is exclusive, so the owner's home feed changes as well.
    ListMembersChanged = "list.members" { list: RowId, owner: AccountId, members: Vec<AccountId>, exclusive: bool }
        => [jobs(ReconcileList::in_parts(list, &members), ReconcileHome::in_parts(owner, if exclusive { &members } else { &[] }))];

    /// The replies that a list shows changed.
    ListPolicyChanged = "list.policy" { list: RowId } => [jobs(RebuildList { list })];

    /// A list became exclusive, or no longer is.
    ListExclusiveChanged = "list.exclusive" { owner: AccountId, members: Vec<AccountId> }
        => [jobs(ReconcileHome::in_parts(owner, &members))];

    /// Someone follows a hashtag.
    TagFollowed = "tag.followed" { account: AccountId, tag: TagId } => [jobs(MergeTag { account, tag })];

    /// Someone unfollowed a hashtag.
    TagUnfollowed = "tag.unfollowed" { account: AccountId, tag: TagId } => [jobs(UnmergeTag { account, tag })];

    /// An announcement was published, or changed since.
    AnnouncementPublished = "announcement.published" { announcement: RowId } => [stream(Streamed::Announcement(announcement))];

    /// An announcement is no longer shown.
    AnnouncementDeleted = "announcement.deleted" { announcement: RowId }
        => [stream(Streamed::AnnouncementDeleted(announcement))];

    /// The count of a reaction to an announcement changed.
    AnnouncementReaction = "announcement.reaction" { announcement: RowId, name: String }
        => [stream(Streamed::AnnouncementReaction { announcement, name })];

    /// Conversations have another last status, or were marked as read or unread.
    /// `conversations`: each with the account that it belongs to.
    ConversationsUpdated = "conversation.updated" { conversations: Vec<(AccountId, RowId)> }
        => [stream(Streamed::Conversations(conversations))];

    /// An account's filters changed.
    FiltersChanged = "filters.changed" { account: AccountId } => [stream(Streamed::FiltersChanged(account))];

    /// Statuses entered feeds.
    /// `kind`: 0 home, 1 list, others feeds of extensions. `owners`: the owners of the feeds that received the status. Not
    /// recorded for rebuilds, nor for statuses that are older than the job of a backfill.
    FeedEntered = "feed.entered" { kind: i64, owners: Vec<i64>, status: StatusId }
        => [stream(Streamed::Entered { kind, owners, status })];

    /// Feeds of an extension were deleted.
    FeedsDropped = "feed.dropped" { feeds: Vec<Feed> } => [stream(Streamed::FeedsEnded(feeds))];

    /// Notifications were created, in one batch.
    Notified = "notification.created" { made: Vec<CreatedNotification> }
        => [push(made), stream(Streamed::Notified(made))];

    /// Filtered notifications became visible, since their senders were permitted.
    NotificationsMerged = "notifications.merged" { receiver: AccountId }
        => [stream(Streamed::NotificationsMerged(receiver))];

    /// An access token was revoked.
    /// `account`: its owner; `None` for a token of the application itself, and from a node with an older version.
    TokenRevoked = "token.revoked" {
        token: TokenId,
        #[serde(default)]
        account: Option<AccountId>,
    } => [outbox(Event::of_token(account, token)), stream(Streamed::TokenEnded(token))];

    /// An extension sent a message to a topic.
    /// `topic`: `user:1`, `token:1`, or `plugin/topic` for a topic of an extension. `scopes`: the token needs one of
    /// them to receive the message; empty requires none.
    TopicMessage = "topic.message" {
        topic: String,
        event: String,
        payload: String,
        #[serde(default)]
        scopes: Vec<String>,
    } => [stream(Streamed::Message { topic, event, payload, scopes })];
}

impl ChangeKind {
    /// True when extensions may subscribe to changes of this kind.
    #[must_use]
    pub fn is_for_extensions(self) -> bool {
        listeners(self).contains(&Listener::Outbox)
    }
}

/// A new notification.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CreatedNotification {
    pub receiver: AccountId,
    pub notification: NotificationId,
    pub kind: String,
}

/// Serialises an optional time as microseconds since the epoch.
mod micros {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    use model::Time;

    pub(super) fn serialize<S: Serializer>(time: &Option<Time>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(|time| time.timestamp_micros()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Time>, D::Error> {
        Ok(Option::<i64>::deserialize(deserializer)?.map(Time::from_micros))
    }
}

/// The attributes of a status that predicates of extensions read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct StatusTraits {
    pub visibility: Visibility,
    pub local: bool,
    pub reblog: bool,
    pub reply: bool,
    pub media: bool,
}

impl From<&Status> for StatusTraits {
    fn from(status: &Status) -> Self {
        Self {
            visibility: status.visibility,
            local: status.local,
            reblog: status.reblog_of_id.is_some(),
            reply: status.in_reply_to_id.is_some(),
            media: status.has_media,
        }
    }
}

impl Change {
    /// [`Change::StatusDeleted`] for a status that was read, with the accounts that it mentioned.
    #[must_use]
    pub fn status_deleted(status: &Status, mentioned: Vec<AccountId>) -> Self {
        Self::StatusDeleted { status: status.id, author: status.account_id, traits: status.into(), mentioned }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_receive_the_kinds_of_the_contract() {
        let received: Vec<&str> =
            ChangeKind::ALL.iter().filter(|kind| kind.is_for_extensions()).map(|kind| kind.as_str()).collect();
        assert_eq!(received.len(), 19, "{received:?}");
        assert!(received.contains(&"token.revoked") && !received.contains(&"filters.changed"));
    }
}
