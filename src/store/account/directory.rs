//! The directory of profiles: discoverable accounts, by their last status or by their age.
//!
//! Reached from `service::directory`. Each of the four lists walks one partial index in its order (`accounts_directory_…`)
//! and stops at the end of the page; the API pages it by offset.
//!
//! Spec: docs/contract/rules.md#23-discovery.

use crate::account_is_known;
use crate::relation_sql::is_wanted;
use database::{Conn, Result, sql};
use model::{AccountId, Time, boxed};

/// The order of the directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By the last published status, newest first; accounts without statuses come last.
    #[default]
    Active,
    /// The newest account first.
    New,
}

/// A page of the directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectoryPage {
    pub order: Order,
    /// Only accounts of this server.
    pub local: bool,
    pub limit: i64,
    pub offset: i64,
}

/// The accounts of a page and their versions. Excludes accounts blocked or muted by `viewer`, accounts that block
/// `viewer`, and domains that `viewer` blocks. `+a.id`: prevents the bound, which excludes the server's own account,
/// from selecting an index.
#[boxed]
pub async fn page(
    db: Conn<'_>,
    viewer: Option<AccountId>,
    page: DirectoryPage,
    now: Time,
) -> Result<Vec<(AccountId, i64)>> {
    // Four texts: with a bound flag the planner could not use a partial index.
    macro_rules! listed {
        ($local:literal, $order:literal) => {
            sql!(
                "SELECT a.id, a.version FROM accounts a
                 WHERE a.discoverable " $local " AND +a.id > 0
                   AND a.suspended_at IS NULL AND a.limited_at IS NULL AND a.moved_to_account_id IS NULL
                   AND " account_is_known!() " AND " is_wanted!("$1", "$2") "
                 ORDER BY " $order " LIMIT $3 OFFSET $4"
            )
        };
    }
    let sql = match (page.order, page.local) {
        (Order::Active, false) => listed!("", "a.last_status_at DESC NULLS LAST, a.id DESC"),
        (Order::Active, true) => listed!("AND a.domain IS NULL", "a.last_status_at DESC NULLS LAST, a.id DESC"),
        (Order::New, false) => listed!("", "a.id DESC"),
        (Order::New, true) => listed!("AND a.domain IS NULL", "a.id DESC"),
    };
    db.query(sql).bind(viewer.map_or(0, i64::from)).bind(now).bind(page.limit).bind(page.offset).all().await
}
