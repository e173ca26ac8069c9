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
        /// An account followed with `notify` published a status.
        Status = "status",
        /// A member of a list with `notify` published a status.
        ListStatus = "list_status",
        /// A reblog of the recipient's status.
        Reblog = "reblog",
        /// A reference to the recipient's status.
        StatusReference = "status_reference",
        /// A quote of the recipient's status.
        Quote = "quote",
        /// A quote of the recipient's status waits for approval.
        PendingQuote = "pending.quote",
        /// A reply to the recipient's status waits for approval.
        PendingReply = "pending.reply",
        /// A favourite of the recipient's status waits for approval.
        PendingFavourite = "pending.favourite",
        /// A reblog of the recipient's status waits for approval.
        PendingReblog = "pending.reblog",
        /// A new follower.
        Follow = "follow",
        /// Someone asks to follow.
        FollowRequest = "follow_request",
        /// A favourite of the recipient's status.
        Favourite = "favourite",
        /// A poll that the recipient created or voted in has ended.
        Poll = "poll",
        /// A status that the recipient reblogged was edited.
        Update = "update",
        /// A status that the recipient quoted was edited.
        QuotedUpdate = "quoted_update",
        /// A domain block ended follows.
        SeveredRelationships = "severed_relationships",
        /// A message from the moderators.
        ModerationWarning = "moderation_warning",
        /// An account that the recipient followed moved.
        Move = "move",
        /// Someone signed up: for the staff.
        AdminSignUp = "admin.sign_up",
        /// Someone reported: for the staff.
        AdminReport = "admin.report",
    }
}

impl NotificationType {
    /// The types that can be sent by mail (docs/contract/events.md#1-notification-types).
    pub const MAILED: [Self; 5] = [Self::Mention, Self::Follow, Self::FollowRequest, Self::Reblog, Self::Favourite];
    /// The types that are sent by mail unless the account changes it.
    pub const MAILED_BY_DEFAULT: [Self; 3] = [Self::Mention, Self::Follow, Self::FollowRequest];

    /// True when the account itself may have caused it.
    #[must_use]
    pub fn may_come_from_self(self) -> bool {
        matches!(self, Self::Poll | Self::SeveredRelationships | Self::ModerationWarning)
    }

    /// True when the recipient's notification policy may filter it.
    #[must_use]
    pub fn is_filterable(self) -> bool {
        matches!(
            self,
            Self::Mention
                | Self::Reblog
                | Self::StatusReference
                | Self::Quote
                | Self::PendingQuote
                | Self::PendingReply
                | Self::PendingFavourite
                | Self::PendingReblog
                | Self::Follow
                | Self::FollowRequest
                | Self::Favourite
        )
    }

    /// True when several notifications of the type may form a group.
    #[must_use]
    pub fn is_groupable(self) -> bool {
        matches!(self, Self::Favourite | Self::Reblog | Self::Follow)
    }

    /// True when a newer notification about the same status replaces the older one.
    #[must_use]
    pub fn replaces(self) -> bool {
        matches!(self, Self::Update | Self::QuotedUpdate)
    }

    /// True when it shows a status, without which the notification is not shown.
    #[must_use]
    pub fn has_status(self) -> bool {
        match self {
            Self::Mention
            | Self::Status
            | Self::ListStatus
            | Self::Reblog
            | Self::StatusReference
            | Self::Quote
            | Self::PendingQuote
            | Self::PendingReply
            | Self::PendingFavourite
            | Self::PendingReblog
            | Self::Favourite
            | Self::Poll
            | Self::Update
            | Self::QuotedUpdate => true,
            Self::Follow
            | Self::FollowRequest
            | Self::SeveredRelationships
            | Self::ModerationWarning
            | Self::Move
            | Self::AdminSignUp
            | Self::AdminReport => false,
        }
    }
}

text_enum! {
    /// The action of a notification policy; later variants are stricter.
    PolicyAction {
        Accept = "accept",
        /// Stored and hidden.
        Filter = "filter",
        /// Not created.
        Drop = "drop",
    }
}

text_enum! {
    /// The senders whose notifications are pushed to a subscription (docs/contract/push.md#2-policy).
    PushPolicy {
        /// All senders.
        All = "all",
        /// Accounts that the receiver follows.
        Followed = "followed",
        /// Accounts that follow the receiver.
        Follower = "follower",
        /// None.
        None = "none",
    }
}

/// A recipient's policy for notifications from some kinds of senders (docs/contract/rules.md#13-notifications).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Senders that the receiver does not follow.
    pub for_not_following: PolicyAction,
    /// Senders who do not follow the receiver, or who followed only a few days ago.
    pub for_not_followers: PolicyAction,
    /// New accounts that the receiver does not follow.
    pub for_new_accounts: PolicyAction,
    /// Private mentions by senders that the receiver does not follow and did not mention privately before.
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

/// The type of a notification: a core type, or a type that a plugin declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NotificationKind {
    /// A core type.
    Core(NotificationType),
    /// Declared by a plugin, which may since have been disabled.
    Plugin(Arc<str>),
}

impl NotificationKind {
    /// The name, as stored and as sent to clients.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Core(kind) => kind.as_str(),
            Self::Plugin(name) => name,
        }
    }

    /// The core type; `None` for a type of a plugin.
    #[must_use]
    pub fn core(&self) -> Option<NotificationType> {
        match self {
            Self::Core(kind) => Some(*kind),
            Self::Plugin(_) => None,
        }
    }

    /// True when it shows a status, without which the notification is not shown. A status is optional for types of
    /// plugins.
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
    /// The account that caused it.
    pub from_account_id: AccountId,
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
