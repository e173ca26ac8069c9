//! The feeds of lists where they differ from home feeds: filling them with members' statuses.
//!
//! Reached from the jobs of feeds. A feed of a list has the kind 1 and is owned by the list; the fan-out fills it in
//! one statement with home feeds, and reading, trimming and dropping are the same for both: [`feed`](crate::feed).
//! [`feed_sql`](crate::feed_sql) decides which statuses enter.
//!
//! Spec: docs/contract/rules.md#12-timelines and docs/contract/rules.md#14-lists.

use super::Entered;
use crate::feed_sql::{admitted, insert_unrepeated, of_members};
use database::{Result, Tx, sql};
use model::{AccountId, RowId, StatusId, Time, boxed};

/// A statement that fills the feed of the list `$1` with the newest `$4` admitted statuses of members that satisfy
/// `$which`, by the time `$3`, if the feeds of its owner are maintained.
macro_rules! filled {
    ($which:literal) => {
        sql!(
            sqlite: filled!(@ sqlite, $which);
            postgres: filled!(@ postgres, $which)
        )
    };
    (@ $engine:ident, $which:literal) => {
        concat!(
            insert_unrepeated!(
                "SELECT o.* FROM (",
                of_members!($engine, concat!("m.list_id = $1 AND u.feed_state = 'live' AND ", $which)),
                ") o WHERE ",
                admitted!("$3"),
                " ORDER BY o.id DESC LIMIT $4"
            ),
            " ON CONFLICT DO NOTHING RETURNING CAST(kind AS BIGINT) AS kind, owner_id, status_id"
        )
    };
}

/// Backfills the feed of `list` with the newest `limit` admitted statuses of `member`; does nothing when they are not
/// on the list, or not followed yet. Returns the inserted entries.
#[boxed]
pub async fn backfill(tx: &mut Tx, list: RowId, member: AccountId, now: Time, limit: i64) -> Result<Vec<Entered>> {
    let sql = filled!("m.account_id = $2");
    tx.query(sql).bind(list).bind(member).bind(now).bind(limit).all().await
}

/// Fills the feed of `list` with the newest `limit` admitted statuses of all members since `since`.
#[boxed]
pub async fn rebuild(tx: &mut Tx, list: RowId, since: StatusId, now: Time, limit: i64) -> Result<()> {
    let sql = filled!("s.id > $2");
    tx.query(sql).bind(list).bind(since).bind(now).bind(limit).execute().await?;
    Ok(())
}
