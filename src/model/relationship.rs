//! Accounts as they stand in collections.

use super::{AccountId, RowId, Time};

/// An account in a collection that is paged by the records which put accounts there.
#[derive(Clone, Copy, Debug, sqlx::FromRow)]
pub struct Listed {
    /// The record: what the page is cut by.
    pub row_id: RowId,
    /// The account it puts on the page.
    pub account_id: AccountId,
    /// Key of its cached rendering.
    pub version: i64,
    /// It must not be shown, though it counts for the page.
    pub hidden: bool,
}

/// A muted account with the end of its mute.
#[derive(Debug, sqlx::FromRow)]
pub struct Muted {
    /// Where it stands.
    #[sqlx(flatten)]
    pub listed: Listed,
    /// When it ends; `None`: never.
    pub expires_at: Option<Time>,
}
