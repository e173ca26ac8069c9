//! Accounts in paged collections: followers, blocks, mutes and the like.

use super::{AccountId, RowId, Time};

/// An account in a collection that is paged by the ids of its records: follows, blocks, mutes …
#[derive(Clone, Copy, Debug, crate::Row)]
pub struct Listed {
    /// The id of the record: the cursor for keyset pagination.
    pub row_id: RowId,
    /// The account that the record lists.
    pub account_id: AccountId,
    /// The account's version: part of the key of its cached rendering.
    pub version: i64,
    /// The account must not be shown, but its record counts towards the page's limit.
    pub hidden: bool,
}

/// A muted account with the end of its mute.
#[derive(Debug, crate::Row)]
pub struct Muted {
    /// The account and its record.
    #[row(flatten)]
    pub listed: Listed,
    /// When the mute ends; `None`: never.
    pub expires_at: Option<Time>,
}
