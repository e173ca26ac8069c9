//! Every kind of change, one row each: its name, its data and its listeners.
//!
//! A new kind needs a row here, and a match arm in each crate that adds details for its listeners: `plugins` for the
//! outbox, `streaming` for streams.

use serde::{Deserialize, Serialize};

use super::follow_up::{At, FollowUp};
use crate::Result;
use crate::queue::job::Queued;
use crate::queue::kinds::{
    AcceptRequests, AttachCard, ExpireMute, FanOut, GenerateKey, Merge, MergeTag, RebuildList, ReconcileHome,
    ReconcileList, SeverDomain, Unmerge, UnmergeDomain, UnmergeTag, VerifyLinks,
};
use model::{AccountId, NotificationId, RowId, Status, StatusId, TagId, Time, TokenId, Visibility, text_enum};
use store::feed::Feed;

/// A listener to changes, and the way in which it receives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listener {
    /// Jobs, queued in the transaction.
    Jobs,
    /// A push for each subscription that wants the notification, queued in the transaction.
    Push,
    /// The outbox of every extension that subscribed.
    Outbox,
    /// [`Federation`](crate::federation::Federation), which queues what other servers are sent, in the transaction.
    Delivery,
    /// [`Live`](super::Live), after the commit.
    Live,
}

/// Declares changes: `Name = "its.word" { fields } => [listeners];`.
///
/// A listener is `jobs(…)`, `push`, `outbox`, `delivery` or `live`; `jobs` takes jobs built from the fields, or any [`FollowUp`].
/// Generates [`Change`] with its [`ChangeKind`], `listeners`, and the jobs that follow.
macro_rules! changes {
    (@listener jobs) => { Listener::Jobs };
    (@listener push) => { Listener::Push };
    (@listener outbox) => { Listener::Outbox };
    (@listener delivery) => { Listener::Delivery };
    (@listener live) => { Listener::Live };
    ($(
        $(#[$doc:meta])*
        $name:ident = $word:literal $({ $($(#[$attribute:meta])* $field:ident: $type:ty),* $(,)? })?
            => [$($listener:ident $(($($job:expr),+ $(,)?))?),+];
    )+) => {
        text_enum! {
            /// The kinds of change. Kinds that extensions may subscribe to have the names of the contract.
            ChangeKind { $($(#[$doc])* $name = $word,)+ }
        }

        /// Something that happened.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Change {
            $($(#[$doc])* $name $({ $($(#[$attribute])* $field: $type),* })?,)+
        }

        impl Change {
            #[must_use]
            pub fn kind(&self) -> ChangeKind {
                match self {
                    $(Self::$name { .. } => ChangeKind::$name,)+
                }
            }

            pub(super) fn jobs(&self) -> Result<Vec<Queued>> {
                let mut jobs = Vec::new();
                #[expect(unused_variables, reason = "not every job needs every field")]
                match self.clone() {
                    $(Self::$name { $($($field),*)? } => {
                        $($($(FollowUp::add_to($job, &mut jobs)?;)+)?)+
                    })+
                }
                Ok(jobs)
            }
        }

        /// The listeners to changes of a kind.
        pub(super) const fn listeners(kind: ChangeKind) -> &'static [Listener] {
            match kind {
                $(ChangeKind::$name => &[$(changes!(@listener $listener)),+],)+
            }
        }
    };
}

changes! {
    /// A status or a reblog was published.
    StatusPublished = "status.created" { status: StatusId, author: AccountId, traits: StatusTraits }
        => [jobs(FanOut { status }), outbox, delivery, live];

    /// A status was edited.
    StatusEdited = "status.updated" { status: StatusId, author: AccountId, traits: StatusTraits }
        => [outbox, delivery, live];

    /// A status or a reblog was deleted.
    /// `mentioned`: the mentioned accounts, read only if this process has live listeners.
    StatusDeleted = "status.deleted" {
        status: StatusId,
        author: AccountId,
        traits: StatusTraits,
        mentioned: Vec<AccountId>,
    } => [outbox, delivery, live];

    /// A status has a link in its text, or had one before it was edited.
    StatusLinked = "status.linked" { status: StatusId } => [jobs(AttachCard { status })];

    /// An account was created; it may still need confirmation or approval.
    AccountRegistered = "account.registered" { account: AccountId } => [jobs(GenerateKey { account })];

    /// An account became usable.
    AccountCreated = "account.created" { account: AccountId } => [outbox];

    /// A profile changed.
    AccountUpdated = "account.updated" { account: AccountId } => [outbox, delivery];

    /// A profile has links that are yet to be verified.
    ProfileLinked = "account.linked" { account: AccountId } => [jobs(VerifyLinks { account })];

    /// An account no longer requires approval of its followers.
    AccountUnlocked = "account.unlocked" { account: AccountId } => [jobs(AcceptRequests { account })];

    /// The removal of an account began.
    AccountRemoved = "account.removed" { account: AccountId } => [delivery];

    /// Moderators suspended an account.
    AccountSuspended = "account.suspended" { account: AccountId } => [outbox, delivery];

    /// An account was deleted.
    AccountPurged = "account.purged" { account: AccountId } => [outbox];

    /// Someone blocked someone.
    Blocked = "account.blocked" { account: AccountId, target: AccountId }
        => [jobs(Unmerge { account, target }), outbox, delivery];

    /// A block ended. `block`: its row.
    Unblocked = "account.unblocked" { account: AccountId, target: AccountId, block: RowId } => [delivery];

    /// Someone muted someone.
    Muted = "account.muted" {
        account: AccountId,
        target: AccountId,
        #[serde(with = "micros")]
        until: Option<Time>,
    } => [jobs(At(until, ExpireMute { account, target }), Unmerge { account, target }), outbox];

    /// A mute ended.
    Unmuted = "account.unmuted" { account: AccountId, target: AccountId } => [jobs(Merge { account, target })];

    /// Someone blocked a domain.
    DomainBlocked = "domain.blocked" { account: AccountId, domain: String }
        => [jobs(UnmergeDomain { account, domain: domain.clone() }, SeverDomain::begin(account, domain))];

    /// Someone follows someone.
    Followed = "follow.created" { account: AccountId, target: AccountId }
        => [jobs(Merge { account, target }), outbox, delivery];

    /// Someone requested to follow an account of another server.
    FollowRequested = "follow.requested" { account: AccountId, target: AccountId } => [delivery];

    /// A follow or a request for one ended: withdrawn, refused, or ended by either side.
    /// `uri`: the activity, if it came from another server.
    FollowEnded = "follow.ended" { account: AccountId, target: AccountId, follow: RowId, uri: Option<String> }
        => [delivery];

    /// Someone unfollowed someone.
    Unfollowed = "follow.deleted" { account: AccountId, target: AccountId }
        => [jobs(Unmerge { account, target }), outbox];

    /// A status was marked as a favourite.
    Favourited = "favourite.created" {
        account: AccountId,
        status: StatusId,
        #[serde(default)]
        favourite: Option<RowId>,
    } => [outbox, delivery];

    /// A status is no longer a favourite.
    Unfavourited = "favourite.deleted" {
        account: AccountId,
        status: StatusId,
        #[serde(default)]
        favourite: Option<RowId>,
    } => [outbox, delivery];

    /// A status was bookmarked.
    Bookmarked = "bookmark.created" { account: AccountId, status: StatusId } => [outbox];

    /// A bookmark was removed.
    Unbookmarked = "bookmark.deleted" { account: AccountId, status: StatusId } => [outbox];

    /// Someone voted in a poll. `choices`: the positions of the options.
    Voted = "poll.voted" { account: AccountId, status: StatusId, choices: Vec<i64> } => [delivery];

    /// A poll ended.
    PollEnded = "poll.ended" { status: StatusId } => [delivery];

    /// Someone pinned a status to their profile.
    Pinned = "pin.created" { account: AccountId, status: StatusId } => [delivery];

    /// Someone unpinned a status.
    Unpinned = "pin.deleted" { account: AccountId, status: StatusId } => [delivery];

    /// Someone features a hashtag on their profile. `name`: in normal form.
    TagFeatured = "tag.featured" { account: AccountId, name: String } => [delivery];

    /// Someone no longer features a hashtag.
    TagUnfeatured = "tag.unfeatured" { account: AccountId, name: String } => [delivery];

    /// An emoji was deleted or disabled.
    EmojiDeleted = "emoji.deleted" { emoji: RowId, shortcode: String } => [outbox];

    /// A list was deleted.
    ListDeleted = "list.deleted" { list: RowId, owner: AccountId } => [outbox, live];

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
    AnnouncementPublished = "announcement.published" { announcement: RowId } => [live];

    /// An announcement is no longer shown.
    AnnouncementDeleted = "announcement.deleted" { announcement: RowId } => [live];

    /// The count of a reaction to an announcement changed.
    AnnouncementReaction = "announcement.reaction" { announcement: RowId, name: String } => [live];

    /// Conversations have another last status, or were marked as read or unread.
    /// `conversations`: each with the account that it belongs to.
    ConversationsUpdated = "conversation.updated" { conversations: Vec<(AccountId, RowId)> } => [live];

    /// An account's filters changed.
    FiltersChanged = "filters.changed" { account: AccountId } => [live];

    /// Statuses entered feeds.
    /// `kind`: 0 home, 1 list, others feeds of extensions. `owners`: the owners of the feeds that received the status. Not
    /// recorded for rebuilds, nor for statuses that are older than the job of a backfill.
    FeedEntered = "feed.entered" { kind: i64, owners: Vec<i64>, status: StatusId } => [live];

    /// Feeds of an extension were deleted.
    FeedsDropped = "feed.dropped" { feeds: Vec<Feed> } => [live];

    /// A home feed was rebuilt.
    HomeRebuilt = "home.rebuilt" { account: AccountId } => [live];

    /// Notifications were created, in one batch.
    Notified = "notification.created" { made: Vec<CreatedNotification> } => [push, live];

    /// Filtered notifications became visible, since their senders were permitted.
    NotificationsMerged = "notifications.merged" { receiver: AccountId } => [live];

    /// An access token was revoked.
    /// `account`: its owner; `None` for a token of the application itself, and from a node with an older version.
    TokenRevoked = "token.revoked" {
        token: TokenId,
        #[serde(default)]
        account: Option<AccountId>,
    } => [outbox, live];

    /// Settings, rules or emojis changed.
    SettingsChanged = "settings.changed" => [live];

    /// An extension sent a message to a topic.
    /// `topic`: `user:1`, `token:1`, or `plugin/topic` for a topic of an extension. `scopes`: the token needs one of
    /// them to receive the message; empty requires none.
    TopicMessage = "topic.message" {
        topic: String,
        event: String,
        payload: String,
        #[serde(default)]
        scopes: Vec<String>,
    } => [live];
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
        let heard: Vec<&str> =
            ChangeKind::ALL.iter().filter(|kind| kind.is_for_extensions()).map(|kind| kind.as_str()).collect();
        assert_eq!(heard.len(), 18, "{heard:?}");
        assert!(heard.contains(&"token.revoked") && !heard.contains(&"settings.changed"));
    }
}
