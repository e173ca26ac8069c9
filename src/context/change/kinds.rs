//! The kinds of change, their data, and who listens to each.

use serde::{Deserialize, Serialize};

use crate::Result;
use model::{AccountId, NotificationId, RowId, Status, StatusId, TagId, Time, TokenId, Visibility, text_enum};
use store::feed::Feed;

text_enum! {
    /// What may happen; those that extensions may hear of, in the contract's words.
    ChangeKind {
        /// A status or a reblog was published.
        StatusPublished = "status.created",
        /// A status was edited.
        StatusEdited = "status.updated",
        /// A status or a reblog is gone.
        StatusDeleted = "status.deleted",
        /// A status has a link in its text, or had one before it was edited.
        StatusLinked = "status.linked",
        /// An account was made; it may yet wait for its confirmation or approval.
        AccountRegistered = "account.registered",
        /// An account can be used from now on.
        AccountCreated = "account.created",
        /// A profile changed.
        AccountUpdated = "account.updated",
        /// A profile has links that are yet to be verified.
        ProfileLinked = "account.linked",
        /// An account accepts followers without being asked from now on.
        AccountUnlocked = "account.unlocked",
        /// Moderators suspended an account.
        AccountSuspended = "account.suspended",
        /// An account is gone.
        AccountPurged = "account.purged",
        /// Someone blocked someone.
        Blocked = "account.blocked",
        /// Someone muted someone.
        Muted = "account.muted",
        /// A mute ended.
        Unmuted = "account.unmuted",
        /// Someone blocked a domain.
        DomainBlocked = "domain.blocked",
        /// Someone follows someone.
        Followed = "follow.created",
        /// Someone follows someone no more.
        Unfollowed = "follow.deleted",
        /// A status was marked as a favourite.
        Favourited = "favourite.created",
        /// It no longer is one.
        Unfavourited = "favourite.deleted",
        /// A status was bookmarked.
        Bookmarked = "bookmark.created",
        /// It no longer is.
        Unbookmarked = "bookmark.deleted",
        /// An emoji is gone, or cannot be used any more.
        EmojiDeleted = "emoji.deleted",
        /// A list is gone.
        ListDeleted = "list.deleted",
        /// Accounts were put on a list, or taken off it.
        ListMembersChanged = "list.members",
        /// A list shows other replies from now on.
        ListPolicyChanged = "list.policy",
        /// A list became exclusive, or no longer is.
        ListExclusiveChanged = "list.exclusive",
        /// Someone follows a hashtag.
        TagFollowed = "tag.followed",
        /// Someone follows a hashtag no more.
        TagUnfollowed = "tag.unfollowed",
        /// An announcement was published, or changed since.
        AnnouncementPublished = "announcement.published",
        /// An announcement is not shown any more.
        AnnouncementDeleted = "announcement.deleted",
        /// The count of a reaction to an announcement changed.
        AnnouncementReaction = "announcement.reaction",
        /// Conversations have another last status, or were marked as read or unread.
        ConversationsUpdated = "conversation.updated",
        /// Somebody's filters changed.
        FiltersChanged = "filters.changed",
        /// Statuses entered feeds.
        FeedEntered = "feed.entered",
        /// Feeds of an extension's own are gone.
        FeedsDropped = "feed.dropped",
        /// A home feed was built again.
        HomeRebuilt = "home.rebuilt",
        /// Notifications were made.
        Notified = "notification.created",
        /// Notifications that were filtered are shown, since their senders were permitted.
        NotificationsMerged = "notifications.merged",
        /// An access token was revoked.
        TokenRevoked = "token.revoked",
        /// Settings, rules or emojis changed.
        SettingsChanged = "settings.changed",
        /// An extension has something to say to a topic.
        TopicMessage = "topic.message",
    }
}

/// Who may be told of a change, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Listener {
    /// The job [`AcceptRequests`](crate::queue::AcceptRequests).
    AcceptRequests,
    /// The job [`AttachCard`](crate::queue::AttachCard).
    AttachCard,
    /// The job [`ExpireMute`](crate::queue::ExpireMute), when the mute ends.
    ExpireMute,
    /// The job [`FanOut`](crate::queue::FanOut).
    FanOut,
    /// The job [`GenerateKey`](crate::queue::GenerateKey).
    GenerateKey,
    /// The job [`Merge`](crate::queue::Merge) for the account and its target.
    Merge,
    /// The job [`Unmerge`](crate::queue::Unmerge) for the account and its target.
    Unmerge,
    /// The job [`UnmergeDomain`](crate::queue::UnmergeDomain) for the account and the domain.
    UnmergeDomain,
    /// The job [`SeverDomain`](crate::queue::SeverDomain) for the account and the domain.
    SeverDomain,
    /// The job [`MergeTag`](crate::queue::MergeTag) for the account and the hashtag.
    MergeTag,
    /// The job [`UnmergeTag`](crate::queue::UnmergeTag) for the account and the hashtag.
    UnmergeTag,
    /// The job [`ReconcileList`](crate::queue::ReconcileList) for the list, in parts.
    ReconcileList,
    /// The job [`ReconcileHome`](crate::queue::ReconcileHome) for the owner of a list, in parts.
    ReconcileHome,
    /// The job [`RebuildList`](crate::queue::RebuildList).
    RebuildList,
    /// The job [`VerifyLinks`](crate::queue::VerifyLinks).
    VerifyLinks,
    /// The job [`SendPush`](crate::queue::SendPush) for each subscription that wants the notification.
    Push,
    /// The outbox of every extension that subscribed.
    Outbox,
    /// [`Live`](super::Live), after the commit.
    Live,
}

/// Who listens to which change.
pub(super) const fn listeners(kind: ChangeKind) -> &'static [Listener] {
    use Listener as To;
    match kind {
        ChangeKind::StatusPublished => &[To::FanOut, To::Outbox, To::Live],
        ChangeKind::StatusEdited | ChangeKind::StatusDeleted => &[To::Outbox, To::Live],
        ChangeKind::StatusLinked => &[To::AttachCard],
        ChangeKind::AccountRegistered => &[To::GenerateKey],
        ChangeKind::ProfileLinked => &[To::VerifyLinks],
        ChangeKind::AccountUnlocked => &[To::AcceptRequests],
        ChangeKind::AccountCreated
        | ChangeKind::AccountUpdated
        | ChangeKind::AccountSuspended
        | ChangeKind::AccountPurged => &[To::Outbox],
        ChangeKind::Blocked => &[To::Unmerge, To::Outbox],
        ChangeKind::Muted => &[To::ExpireMute, To::Unmerge, To::Outbox],
        ChangeKind::Unmuted => &[To::Merge],
        ChangeKind::DomainBlocked => &[To::UnmergeDomain, To::SeverDomain],
        ChangeKind::Followed => &[To::Merge, To::Outbox],
        ChangeKind::Unfollowed => &[To::Unmerge, To::Outbox],
        ChangeKind::Favourited | ChangeKind::Unfavourited | ChangeKind::Bookmarked | ChangeKind::Unbookmarked => {
            &[To::Outbox]
        }
        ChangeKind::EmojiDeleted => &[To::Outbox],
        ChangeKind::Notified => &[To::Push, To::Live],
        ChangeKind::ListDeleted | ChangeKind::TokenRevoked => &[To::Outbox, To::Live],
        ChangeKind::ListMembersChanged => &[To::ReconcileList, To::ReconcileHome],
        ChangeKind::ListPolicyChanged => &[To::RebuildList],
        ChangeKind::ListExclusiveChanged => &[To::ReconcileHome],
        ChangeKind::TagFollowed => &[To::MergeTag],
        ChangeKind::TagUnfollowed => &[To::UnmergeTag],
        ChangeKind::AnnouncementPublished
        | ChangeKind::AnnouncementDeleted
        | ChangeKind::AnnouncementReaction
        | ChangeKind::ConversationsUpdated
        | ChangeKind::FeedEntered
        | ChangeKind::FeedsDropped
        | ChangeKind::FiltersChanged
        | ChangeKind::HomeRebuilt
        | ChangeKind::NotificationsMerged
        | ChangeKind::SettingsChanged
        | ChangeKind::TopicMessage => &[To::Live],
    }
}

impl ChangeKind {
    /// True when extensions may subscribe to changes of this kind.
    #[must_use]
    pub fn is_for_extensions(self) -> bool {
        listeners(self).contains(&Listener::Outbox)
    }
}

/// A notification that was made.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Made {
    pub receiver: AccountId,
    pub notification: NotificationId,
    /// Its type.
    pub kind: String,
}

/// Something that happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the ids of what the kind of the same name says")]
pub enum Change {
    StatusPublished {
        status: StatusId,
        author: AccountId,
        traits: StatusTraits,
    },
    StatusEdited {
        status: StatusId,
        author: AccountId,
        traits: StatusTraits,
    },
    /// `mentioned`: whom it mentioned, where somebody listens in this process.
    StatusDeleted {
        status: StatusId,
        author: AccountId,
        traits: StatusTraits,
        mentioned: Vec<AccountId>,
    },
    StatusLinked {
        status: StatusId,
    },
    AccountRegistered {
        account: AccountId,
    },
    AccountCreated {
        account: AccountId,
    },
    AccountUpdated {
        account: AccountId,
    },
    ProfileLinked {
        account: AccountId,
    },
    AccountUnlocked {
        account: AccountId,
    },
    AccountSuspended {
        account: AccountId,
    },
    AccountPurged {
        account: AccountId,
    },
    Blocked {
        account: AccountId,
        target: AccountId,
    },
    Muted {
        account: AccountId,
        target: AccountId,
        #[serde(with = "micros")]
        until: Option<Time>,
    },
    Unmuted {
        account: AccountId,
        target: AccountId,
    },
    DomainBlocked {
        account: AccountId,
        domain: String,
    },
    Followed {
        account: AccountId,
        target: AccountId,
    },
    Unfollowed {
        account: AccountId,
        target: AccountId,
    },
    Favourited {
        account: AccountId,
        status: StatusId,
    },
    Unfavourited {
        account: AccountId,
        status: StatusId,
    },
    Bookmarked {
        account: AccountId,
        status: StatusId,
    },
    Unbookmarked {
        account: AccountId,
        status: StatusId,
    },
    EmojiDeleted {
        emoji: RowId,
        shortcode: String,
    },
    ListDeleted {
        list: RowId,
        owner: AccountId,
    },
    /// `exclusive`: so that the owner's home feed is concerned as well.
    ListMembersChanged {
        list: RowId,
        owner: AccountId,
        members: Vec<AccountId>,
        exclusive: bool,
    },
    ListPolicyChanged {
        list: RowId,
    },
    ListExclusiveChanged {
        owner: AccountId,
        members: Vec<AccountId>,
    },
    TagFollowed {
        account: AccountId,
        tag: TagId,
    },
    TagUnfollowed {
        account: AccountId,
        tag: TagId,
    },
    AnnouncementPublished {
        announcement: RowId,
    },
    AnnouncementDeleted {
        announcement: RowId,
    },
    AnnouncementReaction {
        announcement: RowId,
        name: String,
    },
    /// With whose each of them is.
    ConversationsUpdated {
        conversations: Vec<(AccountId, RowId)>,
    },
    /// `kind`: 0 home, 1 list, others feeds of extensions. `owners`: the owners of the feeds that received the status. Not
    /// recorded for rebuilds, nor for statuses that are older than the job of a backfill.
    FeedEntered {
        kind: i64,
        owners: Vec<i64>,
        status: StatusId,
    },
    FeedsDropped {
        feeds: Vec<Feed>,
    },
    FiltersChanged {
        account: AccountId,
    },
    HomeRebuilt {
        account: AccountId,
    },
    /// Those of one batch.
    Notified {
        made: Vec<Made>,
    },
    NotificationsMerged {
        receiver: AccountId,
    },
    /// `account`: whose it was; none of an application's own, and where another node has an older version.
    TokenRevoked {
        token: TokenId,
        #[serde(default)]
        account: Option<AccountId>,
    },
    SettingsChanged,
    /// To whoever listens to `topic`: `user:1`, `token:1`, or `plugin/topic` of an extension's own. `scopes`: one of which a
    /// token must have to be told; none is needed where there are none.
    TopicMessage {
        topic: String,
        event: String,
        payload: String,
        #[serde(default)]
        scopes: Vec<String>,
    },
}

/// A time that may be missing, as microseconds since the epoch.
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

/// What of a status the predicates of extensions look at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "what the names say")]
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
    /// [`Change::StatusDeleted`] of a status that was read, and mentioned these accounts.
    #[must_use]
    pub fn status_deleted(status: &Status, mentioned: Vec<AccountId>) -> Self {
        Self::StatusDeleted { status: status.id, author: status.account_id, traits: status.into(), mentioned }
    }

    /// What kind of thing happened.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match self {
            Self::StatusPublished { .. } => ChangeKind::StatusPublished,
            Self::StatusEdited { .. } => ChangeKind::StatusEdited,
            Self::StatusDeleted { .. } => ChangeKind::StatusDeleted,
            Self::StatusLinked { .. } => ChangeKind::StatusLinked,
            Self::AccountRegistered { .. } => ChangeKind::AccountRegistered,
            Self::AccountCreated { .. } => ChangeKind::AccountCreated,
            Self::AccountUpdated { .. } => ChangeKind::AccountUpdated,
            Self::ProfileLinked { .. } => ChangeKind::ProfileLinked,
            Self::AccountUnlocked { .. } => ChangeKind::AccountUnlocked,
            Self::AccountSuspended { .. } => ChangeKind::AccountSuspended,
            Self::AccountPurged { .. } => ChangeKind::AccountPurged,
            Self::Blocked { .. } => ChangeKind::Blocked,
            Self::Muted { .. } => ChangeKind::Muted,
            Self::Unmuted { .. } => ChangeKind::Unmuted,
            Self::DomainBlocked { .. } => ChangeKind::DomainBlocked,
            Self::Followed { .. } => ChangeKind::Followed,
            Self::Unfollowed { .. } => ChangeKind::Unfollowed,
            Self::Favourited { .. } => ChangeKind::Favourited,
            Self::Unfavourited { .. } => ChangeKind::Unfavourited,
            Self::Bookmarked { .. } => ChangeKind::Bookmarked,
            Self::Unbookmarked { .. } => ChangeKind::Unbookmarked,
            Self::EmojiDeleted { .. } => ChangeKind::EmojiDeleted,
            Self::ListDeleted { .. } => ChangeKind::ListDeleted,
            Self::ListMembersChanged { .. } => ChangeKind::ListMembersChanged,
            Self::ListPolicyChanged { .. } => ChangeKind::ListPolicyChanged,
            Self::ListExclusiveChanged { .. } => ChangeKind::ListExclusiveChanged,
            Self::TagFollowed { .. } => ChangeKind::TagFollowed,
            Self::TagUnfollowed { .. } => ChangeKind::TagUnfollowed,
            Self::AnnouncementPublished { .. } => ChangeKind::AnnouncementPublished,
            Self::AnnouncementDeleted { .. } => ChangeKind::AnnouncementDeleted,
            Self::AnnouncementReaction { .. } => ChangeKind::AnnouncementReaction,
            Self::ConversationsUpdated { .. } => ChangeKind::ConversationsUpdated,
            Self::FeedEntered { .. } => ChangeKind::FeedEntered,
            Self::FeedsDropped { .. } => ChangeKind::FeedsDropped,
            Self::FiltersChanged { .. } => ChangeKind::FiltersChanged,
            Self::HomeRebuilt { .. } => ChangeKind::HomeRebuilt,
            Self::Notified { .. } => ChangeKind::Notified,
            Self::NotificationsMerged { .. } => ChangeKind::NotificationsMerged,
            Self::TokenRevoked { .. } => ChangeKind::TokenRevoked,
            Self::SettingsChanged => ChangeKind::SettingsChanged,
            Self::TopicMessage { .. } => ChangeKind::TopicMessage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_hear_of_the_kinds_that_the_contract_names() {
        let heard: Vec<&str> =
            ChangeKind::ALL.iter().filter(|kind| kind.is_for_extensions()).map(|kind| kind.as_str()).collect();
        assert_eq!(heard.len(), 18, "{heard:?}");
        assert!(heard.contains(&"token.revoked") && !heard.contains(&"settings.changed"));
    }
}
