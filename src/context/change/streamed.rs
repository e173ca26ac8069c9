//! What streams show of a change, as rows of [`kinds`](super::kinds) state it.
//!
//! Names what happened; `streaming` finds the connections and renders. A new form needs an arm in
//! `streaming::dispatch`.

use super::kinds::{CreatedNotification, StatusTraits};
use model::{AccountId, RowId, StatusId, TokenId};
use store::feed::Feed;

/// A change that streams show, or that ends them.
#[derive(Clone, Debug)]
pub enum Streamed {
    /// A status or a reblog was published.
    Published { status: StatusId, traits: StatusTraits },
    /// A status was edited.
    Edited(StatusId),
    /// A status or a reblog was deleted. `mentioned`: the mentioned accounts.
    Deleted { status: StatusId, traits: StatusTraits, mentioned: Vec<AccountId> },
    /// A status entered the feeds of one kind with these owners.
    Entered { kind: i64, owners: Vec<i64>, status: StatusId },
    /// Notifications were created.
    Notified(Vec<CreatedNotification>),
    /// Filtered notifications of an account became visible.
    NotificationsMerged(AccountId),
    /// Conversations have another last status, or were marked; each with the account that it belongs to.
    Conversations(Vec<(AccountId, RowId)>),
    /// The filters of an account changed.
    FiltersChanged(AccountId),
    /// An announcement was published, or changed since.
    Announcement(RowId),
    /// An announcement is no longer shown.
    AnnouncementDeleted(RowId),
    /// The count of a reaction changed.
    AnnouncementReaction { announcement: RowId, name: String },
    /// An extension sent a message: see [`Change::TopicMessage`](super::Change::TopicMessage).
    Message { topic: String, event: String, payload: String, scopes: Vec<String> },
    /// An access token was revoked.
    TokenEnded(TokenId),
    /// A list was deleted.
    ListEnded(RowId),
    /// Feeds of an extension were deleted.
    FeedsEnded(Vec<Feed>),
}
