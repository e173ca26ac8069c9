//! Notifications and their types.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::{AccountId, NotificationId, StatusId, Time, text_enum};

text_enum! {
    /// The core types of notifications (docs/contract/events.md#1-notification-types). For types that plugins declare see
    /// [`NotificationKind`].
    NotificationType {
        /// Mentioned in a status.
        Mention = "mention",
        /// Someone followed with `notify` published a status.
        Status = "status",
        /// A member of a list with `notify` published a status.
        ListStatus = "list_status",
        /// One's status was reblogged.
        Reblog = "reblog",
        /// One's status was referred to.
        StatusReference = "status_reference",
        /// A new follower.
        Follow = "follow",
        /// Someone asks to follow.
        FollowRequest = "follow_request",
        /// One's status was favourited.
        Favourite = "favourite",
        /// A poll that one made or voted in has ended.
        Poll = "poll",
        /// A status that one reblogged was edited.
        Update = "update",
        /// A block of a domain ended follows.
        SeveredRelationships = "severed_relationships",
        /// The moderators have something to say.
        ModerationWarning = "moderation_warning",
        /// Someone signed up: for the staff.
        AdminSignUp = "admin.sign_up",
        /// Someone reported: for the staff.
        AdminReport = "admin.report",
    }
}

impl NotificationType {
    /// Those of which somebody may be told by mail (docs/contract/events.md#1-notification-types).
    pub const MAILED: [Self; 5] = [Self::Mention, Self::Follow, Self::FollowRequest, Self::Reblog, Self::Favourite];
    /// Those of which everybody is, unless they choose otherwise.
    pub const MAILED_BY_DEFAULT: [Self; 3] = [Self::Mention, Self::Follow, Self::FollowRequest];

    /// True when an account may be notified of its own action.
    #[must_use]
    pub fn may_come_from_self(self) -> bool {
        matches!(self, Self::Poll | Self::SeveredRelationships | Self::ModerationWarning)
    }

    /// True when the recipient's notification policy may filter it.
    #[must_use]
    pub fn is_filterable(self) -> bool {
        matches!(
            self,
            Self::Mention | Self::Reblog | Self::StatusReference | Self::Follow | Self::FollowRequest | Self::Favourite
        )
    }

    /// True when several of it may share a group.
    #[must_use]
    pub fn is_groupable(self) -> bool {
        matches!(self, Self::Favourite | Self::Reblog | Self::Follow)
    }

    /// True when a newer notification about the same status replaces the older one.
    #[must_use]
    pub fn replaces(self) -> bool {
        self == Self::Update
    }

    /// True when it shows a status, without which it is not shown at all.
    #[must_use]
    pub fn has_status(self) -> bool {
        match self {
            Self::Mention
            | Self::Status
            | Self::ListStatus
            | Self::Reblog
            | Self::StatusReference
            | Self::Favourite
            | Self::Poll
            | Self::Update => true,
            Self::Follow
            | Self::FollowRequest
            | Self::SeveredRelationships
            | Self::ModerationWarning
            | Self::AdminSignUp
            | Self::AdminReport => false,
        }
    }
}

text_enum! {
    /// What a notification policy does with a notification; the later, the stricter.
    PolicyAction {
        /// It is shown.
        Accept = "accept",
        /// It is stored and hidden.
        Filter = "filter",
        /// It is not made.
        Drop = "drop",
    }
}

text_enum! {
    /// Whose notifications are pushed to a subscription (docs/contract/push.md#2-policy).
    PushPolicy {
        /// Everybody's.
        All = "all",
        /// Those of accounts that the receiver follows.
        Followed = "followed",
        /// Those of accounts that follow the receiver.
        Follower = "follower",
        /// Nobody's.
        None = "none",
    }
}

/// What someone wants done with notifications from some kinds of senders (docs/contract/rules.md#13-notifications).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Senders whom the receiver does not follow.
    pub for_not_following: PolicyAction,
    /// Senders who do not follow the receiver, or only since a few days.
    pub for_not_followers: PolicyAction,
    /// New accounts that the receiver does not follow.
    pub for_new_accounts: PolicyAction,
    /// Private mentions by senders whom the receiver does not follow and did not mention privately before.
    pub for_private_mentions: PolicyAction,
    /// Accounts that moderators limited and the receiver does not follow.
    pub for_limited_accounts: PolicyAction,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            for_not_following: PolicyAction::Accept,
            for_not_followers: PolicyAction::Accept,
            for_new_accounts: PolicyAction::Accept,
            for_private_mentions: PolicyAction::Filter,
            for_limited_accounts: PolicyAction::Filter,
        }
    }
}

/// The type of a notification: one of the server's own, or one that a plugin declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// The server's own.
    Core(NotificationType),
    /// Declared by a plugin, which may be disabled by now.
    Plugin(Arc<str>),
}

impl NotificationKind {
    /// The name, as stored and as clients see it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Core(kind) => kind.as_str(),
            Self::Plugin(name) => name,
        }
    }

    /// The core type; `None` for a plugin's.
    #[must_use]
    pub fn core(&self) -> Option<NotificationType> {
        match self {
            Self::Core(kind) => Some(*kind),
            Self::Plugin(_) => None,
        }
    }

    /// True when it shows a status, without which it is not shown at all. For a plugin's type a status is optional.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.core().is_some_and(NotificationType::has_status)
    }
}

impl From<NotificationType> for NotificationKind {
    fn from(kind: NotificationType) -> Self {
        Self::Core(kind)
    }
}
impl From<&str> for NotificationKind {
    fn from(word: &str) -> Self {
        word.parse().map_or_else(|_| Self::Plugin(word.into()), Self::Core)
    }
}
impl From<String> for NotificationKind {
    fn from(word: String) -> Self {
        Self::from(word.as_str())
    }
}
impl fmt::Display for NotificationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
impl Serialize for NotificationKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A row of the notifications table.
#[derive(Clone, Debug, crate::Row)]
#[row(alias = "n")]
pub struct Notification {
    /// Grows with time; the key for keyset pagination.
    pub id: NotificationId,
    pub account_id: AccountId,
    /// The account whose action it is about.
    pub from_account_id: AccountId,
    /// The type: what happened.
    #[row(rename = "type", from = "String")]
    pub kind: NotificationKind,
    /// Id of the row that caused it: a follow, a favourite, a mention …
    pub activity_id: i64,
    /// The status to show; for a reblog the original.
    pub status_id: Option<StatusId>,
    /// The key of the group it is shown in; `None` when it is not grouped.
    pub group_key: Option<String>,
    /// Filtered by the recipient's policy: listed only when filtered notifications are requested.
    pub filtered: bool,
    /// When it happened.
    pub created_at: Time,
}
