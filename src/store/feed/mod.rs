//! Feeds: materialised timelines, filled by jobs (fan-out on write) and read as one index range.
//!
//! Reached from jobs, publishing and `service::timeline`. A feed is a range of `feed_entries`: home feeds have kind 0 and
//! are owned by the account, lists have kind 1, named feeds of plugins kinds from 100 up. [`feed_sql`] decides which
//! statuses enter, `service::visibility` at reading whether an entry may still be shown. Lists: [`list_feed`], followed
//! hashtags: [`tag_feed`], plugins: [`plugin_feed`](super::plugin_feed). An entry outlives its status: finding it would
//! need a separate index ([`Entries`]).
//!
//! Spec: docs/contract/rules.md#12-timelines.

pub mod conversation;
pub mod featured_tag;
pub(crate) mod feed_sql;
pub mod filter;
pub mod list;
pub mod list_feed;
pub mod marker;
pub mod tag;
pub mod tag_feed;
pub mod tag_review;
pub mod timeline;
pub mod trend;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::feed_sql::{
    admitted, candidate, followed, insert_entries, insert_unrepeated, of_members, tagged, with_original,
};
use super::relation_sql::{blocks, mutes};
use database::sql::Ids;
use database::{Conn, Result, Tx, paged, sql};
use model::{AccountId, Cursor, Json, PluginId, RowId, StatusId, Time, boxed};

/// The kind of home feeds.
pub const HOME: i64 = 0;
/// The kind of list feeds.
pub const LIST: i64 = 1;
/// A feed: its kind and its owner, which is the account (home), the list, or a key chosen by the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Feed {
    pub kind: i64,
    pub owner: i64,
}

impl Feed {
    /// The home feed of `owner`.
    #[must_use]
    pub fn home(owner: AccountId) -> Self {
        Self { kind: HOME, owner: owner.into() }
    }

    /// The feed of `list`.
    #[must_use]
    pub fn list(list: RowId) -> Self {
        Self { kind: LIST, owner: list.into() }
    }
}

/// A feed to read.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// A feed of known kind.
    Feed(Feed),
    /// A feed of a plugin, which has no entries before its kind was assigned.
    Named {
        plugin: PluginId,
        /// The name declared in its manifest.
        name: &'a str,
        /// The key of the feed among feeds with this name.
        key: i64,
    },
}

/// Which entries of a feed to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All entries, including entries of deleted statuses.
    All,
    /// Entries of existing statuses: costs a look-up for each.
    Existing,
}

/// A page of the statuses in a feed, newest first, without any check of visibility. Keyset pagination over the primary
/// key.
#[boxed]
pub async fn page(db: Conn<'_>, source: Source<'_>, entries: Entries, cursor: &Cursor) -> Result<Vec<StatusId>> {
    macro_rules! entries {
        ($kind:literal, $which:literal) => {
            paged!(
                cursor,
                "SELECT e.status_id FROM feed_entries e
                 WHERE e.kind = " $kind " AND e.owner_id = $1 AND e.status_id < $2 AND e.status_id > $3" $which,
                by "e.status_id", limit "$4"
            )
        };
        // A scalar subquery, so that no planner starts with the statuses.
        ($kind:literal) => {
            match entries {
                Entries::All => entries!($kind, ""),
                Entries::Existing => {
                    entries!($kind, " AND (SELECT s.id FROM statuses s WHERE s.id = e.status_id) IS NOT NULL")
                }
            }
        };
    }
    let (sql, owner) = match source {
        Source::Feed(feed) => (entries!("$5"), feed.owner),
        Source::Named { key, .. } => {
            (entries!("(SELECT f.kind FROM plugin_feeds f WHERE f.plugin_id = $5 AND f.name = $6)"), key)
        }
    };
    let query = db.query(sql).bind(owner).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    let query = match source {
        Source::Feed(feed) => query.bind(feed.kind),
        Source::Named { plugin, name, .. } => query.bind(plugin).bind(name.to_owned()),
    };
    Ok(cursor.newest_first(query.scalars().await?))
}

/// The feeds of `feeds` with an entry of `status`, which may since have been deleted: a look-up for each.
#[boxed]
pub async fn list_with(db: Conn<'_>, status: StatusId, feeds: &[Feed]) -> Result<Vec<Feed>> {
    let found: Vec<(i64, i64)> = db
        .query(sql!(
            "WITH asked (kind, owner) AS (
                 SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT) FROM" rows("$1") "
             )
             SELECT a.kind, a.owner FROM asked a CROSS JOIN feed_entries e
             WHERE e.kind = a.kind AND e.owner_id = a.owner AND e.status_id = $2"
        ))
        .bind(Json(feeds.to_vec()))
        .bind(status)
        .all()
        .await?;
    Ok(found.into_iter().map(|(kind, owner)| Feed { kind, owner }).collect())
}

/// The followers of the authors of `statuses` and of their hashtags, and authors who are on one of their own lists,
/// by id, without duplicates: the accounts that [`fan_out`] considers.
#[boxed]
pub async fn list_followers(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.account_id FROM follows f
         WHERE f.target_account_id IN (SELECT s.account_id FROM statuses s WHERE s.id" in("$1") ")
         UNION
         SELECT tf.account_id FROM tag_follows tf
         WHERE tf.tag_id IN (SELECT st.tag_id FROM status_tags st WHERE st.status_id" in("$1") ")
         UNION
         SELECT l.account_id FROM statuses s
         JOIN list_accounts m ON m.account_id = s.account_id
         JOIN lists l ON l.id = m.list_id AND l.account_id = m.account_id
         WHERE s.id" in("$1") "
         ORDER BY 1"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .scalars()
    .await
}

/// A feed that a status entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, model::Row)]
pub struct Entered {
    pub kind: i64,
    #[row(rename = "owner_id")]
    pub owner: i64,
    #[row(rename = "status_id")]
    pub status: StatusId,
}

/// Fans statuses out to the maintained home feeds of their authors' local followers, of local followers of their
/// hashtags, and to the lists of these followers that contain the author, restricted to accounts in the range `to`;
/// returns the feeds that each status entered.
///
/// One statement, which writes in the order of the primary key. An account that is found twice gets a status once. A
/// reblog is compared with the feed as it was before: several reblogs of the same original need a call each. A `+`
/// prevents SQLite from starting with all lists of the range instead of the lists that contain the author.
#[boxed]
pub async fn fan_out(
    tx: &mut Tx,
    statuses: &[StatusId],
    to: RangeInclusive<AccountId>,
    now: Time,
) -> Result<Vec<Entered>> {
    macro_rules! fan_out_sql {
        ($engine:ident, $among:literal) => {
            concat!(
                insert_entries!(),
                "(",
                followed!(
                    $engine,
                    concat!("s.id", $among, "AND f.account_id >= $3 AND f.account_id <= $4 AND u.feed_state = 'live'")
                ),
                " UNION ALL ",
                tagged!(concat!(
                    "st.status_id",
                    $among,
                    "AND tf.account_id >= $3 AND tf.account_id <= $4 AND u.feed_state = 'live'"
                )),
                " UNION ALL ",
                of_members!(
                    $engine,
                    concat!(
                        "s.id",
                        $among,
                        "AND +l.account_id >= $3 AND +l.account_id <= $4 AND u.feed_state = 'live'"
                    )
                ),
                ") o WHERE ",
                admitted!("$2"),
                " ORDER BY o.kind, o.place, o.id
                 ON CONFLICT DO NOTHING RETURNING CAST(kind AS BIGINT) AS kind, owner_id, status_id"
            )
        };
    }
    tx.query(sql!(
        sqlite: fan_out_sql!(sqlite, " IN (SELECT value FROM json_each($1)) ");
        postgres: fan_out_sql!(postgres, " = ANY($1) ")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .bind(now)
    .bind(*to.start())
    .bind(*to.end())
    .all()
    .await
}

/// Inserts a status or reblog into its author's own home feed, in the transaction that publishes it, so that they see
/// it immediately. `original`: for a reblog.
#[boxed]
pub async fn insert_own(tx: &mut Tx, author: AccountId, status: StatusId, original: Option<StatusId>) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, original_id) VALUES (0, $1, $2, $3)
         ON CONFLICT DO NOTHING"
    ))
    .bind(author)
    .bind(status)
    .bind(original)
    .execute()
    .await?;
    Ok(())
}

/// Backfills the home feed of `owner`, if it is maintained, with the newest `limit` admitted statuses of the followed
/// account `target`, without repeated reblogs among them; does nothing when the follow is gone. The scan of the index
/// `statuses_account` stops at the limit. Returns the inserted entries.
#[boxed]
pub async fn backfill(tx: &mut Tx, owner: AccountId, target: AccountId, now: Time, limit: i64) -> Result<Vec<Entered>> {
    macro_rules! backfill_sql {
        ($engine:ident) => {
            concat!(
                insert_unrepeated!(
                    "SELECT o.* FROM (",
                    followed!($engine, "f.account_id = $1 AND f.target_account_id = $2 AND u.feed_state = 'live'"),
                    ") o WHERE ",
                    admitted!("$3"),
                    " ORDER BY o.id DESC LIMIT $4"
                ),
                " ON CONFLICT DO NOTHING RETURNING CAST(kind AS BIGINT) AS kind, owner_id, status_id"
            )
        };
    }
    tx.query(sql!(sqlite: backfill_sql!(sqlite); postgres: backfill_sql!(postgres)))
        .bind(owner)
        .bind(target)
        .bind(now)
        .bind(limit)
        .all()
        .await
}

/// Rebuilds the home feed of `owner` after it was dropped, and marks it `live`: the newest `limit` statuses since
/// `since` that are their own or that the fan-out would have added, by their relations at `now`, without repeated
/// reblogs among them.
///
/// Their own statuses have no `owner` whose relations could exclude them. `DISTINCT`, for statuses that both an
/// account and a hashtag lead to.
#[boxed]
pub async fn rebuild(tx: &mut Tx, owner: AccountId, since: StatusId, now: Time, limit: i64) -> Result<()> {
    macro_rules! rebuild_sql {
        ($engine:ident) => {
            concat!(
                insert_unrepeated!(
                    "SELECT DISTINCT o.kind, o.place, o.owner, o.id, o.author, o.original FROM (",
                    followed!($engine, "f.account_id = $1 AND s.id > $2"),
                    " UNION ALL ",
                    tagged!("tf.account_id = $1 AND st.status_id > $2"),
                    " UNION ALL SELECT 0 AS kind, s.account_id AS place, CAST(NULL AS BIGINT) AS owner, ",
                    candidate!(),
                    " FROM statuses s",
                    with_original!(),
                    "WHERE s.account_id = $1 AND s.id > $2) o
                      WHERE (o.owner IS NULL OR (",
                    admitted!("$3"),
                    ")) ORDER BY o.id DESC LIMIT $4"
                ),
                " ON CONFLICT DO NOTHING"
            )
        };
    }
    tx.query(sql!(sqlite: rebuild_sql!(sqlite); postgres: rebuild_sql!(postgres)))
        .bind(owner)
        .bind(since)
        .bind(now)
        .bind(limit)
        .execute()
        .await?;
    tx.query(sql!("UPDATE users SET feed_state = 'live' WHERE account_id = $1")).bind(owner).execute().await?;
    Ok(())
}

/// Which reblogs are removed together with an author's statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reblogs {
    /// The author's own reblogs.
    Own,
    /// The author's own reblogs, and reblogs by others of the author's statuses.
    OfAuthor,
}

/// Removes the statuses of `authors` from `feeds`, with the reblogs selected by `reblogs`; returns the number of
/// entries. Reads each feed completely, which is bounded, and the status of each entry: only the primary key narrows
/// the rows.
#[boxed]
pub async fn delete_authors(tx: &mut Tx, feeds: &[Feed], authors: &[AccountId], reblogs: Reblogs) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind, owner_id) IN (
                   SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT) FROM" rows("$1")
              ")
           AND ((SELECT s.account_id FROM statuses s WHERE s.id = feed_entries.status_id)" in("$2")
               "OR ($3 AND (SELECT s.account_id FROM statuses s WHERE s.id = feed_entries.original_id)" in("$2") "))"
    ))
    .bind(Json(feeds.to_vec()))
    .bind(Ids::of(authors.iter().copied()))
    .bind(reblogs == Reblogs::OfAuthor)
    .execute()
    .await
}

/// Removes the statuses of accounts of `domain` from `feeds`, and reblogs of such statuses; returns the number of
/// entries. Reads as many rows as [`delete_authors`].
#[boxed]
pub async fn delete_domain(tx: &mut Tx, feeds: &[Feed], domain: &str) -> Result<u64> {
    macro_rules! domain_of {
        ($status:literal) => {
            concat!(
                "(SELECT a.domain FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = feed_entries.",
                $status,
                ")"
            )
        };
    }
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind, owner_id) IN (
                   SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT) FROM" rows("$1")
              ")
           AND (" domain_of!("status_id") " = $2 OR " domain_of!("original_id") " = $2)"
    ))
    .bind(Json(feeds.to_vec()))
    .bind(domain.to_owned())
    .execute()
    .await
}

/// Whether `owner` follows `target`, and whether `owner` blocks or mutes them.
#[boxed]
pub async fn find_relation(db: Conn<'_>, owner: AccountId, target: AccountId, now: Time) -> Result<(bool, bool)> {
    db.query(sql!(
        "SELECT EXISTS (SELECT 1 FROM follows f WHERE f.account_id = $1 AND f.target_account_id = $2),
                " blocks!("$1", "$2") " OR " mutes!("$1", "$2", "$3")
    ))
    .bind(owner)
    .bind(target)
    .bind(now)
    .one()
    .await
}

/// Up to `limit` local accounts with ids above `after` whose home feed is maintained, by id: a batch of the clean-up.
#[boxed]
pub async fn list_owners(db: Conn<'_>, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT u.account_id FROM users u WHERE u.account_id > $1 AND u.feed_state = 'live' ORDER BY u.account_id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// Deletes all but the newest `keep` entries of the feed of each of `owners`; returns how many. `kind` is 0 for home
/// feeds. The window function counts per owner, which `LIMIT` cannot; it reads only the primary key.
pub async fn trim<T: Into<i64> + Copy>(tx: &mut Tx, kind: i64, owners: &[T], keep: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE kind = $3 AND (owner_id, status_id) IN (
            SELECT x.owner_id, x.status_id
            FROM (SELECT e.owner_id, e.status_id, ROW_NUMBER() OVER (PARTITION BY e.owner_id ORDER BY e.status_id DESC) AS place
                  FROM feed_entries e WHERE e.kind = $3 AND e.owner_id" in("$1") ") x
            WHERE x.place > $2)"
    ))
    .bind(Ids::of(owners.iter().copied()))
    .bind(keep)
    .bind(kind)
    .execute()
    .await
}

/// Drops the home feeds of accounts that were not active since `since`, and the feeds of their lists, until
/// [`rebuild`]; returns the number of accounts.
#[boxed]
pub async fn drop_unused(tx: &mut Tx, since: Time) -> Result<u64> {
    let dropped = tx
        .query(sql!(
            "UPDATE users SET feed_state = 'dropped'
             WHERE feed_state = 'live' AND coalesce(last_active_at, created_at) < $1"
        ))
        .bind(since)
        .execute()
        .await?;
    if dropped > 0 {
        tx.query(sql!(
            "DELETE FROM feed_entries WHERE kind = 0 AND owner_id IN (SELECT u.account_id FROM users u WHERE u.feed_state = 'dropped')"
        ))
        .execute()
        .await?;
        tx.query(sql!(
            "DELETE FROM feed_entries
             WHERE kind = 1 AND owner_id IN (SELECT l.id FROM users u JOIN lists l ON l.account_id = u.account_id
                                             WHERE u.feed_state = 'dropped')"
        ))
        .execute()
        .await?;
    }
    Ok(dropped)
}

/// The local followers of `authors` with notifications for each new status, as (author, follower): the index
/// `follows_notified` contains only these follows.
#[boxed]
pub async fn list_notified_followers(db: Conn<'_>, authors: &[AccountId]) -> Result<Vec<(AccountId, AccountId)>> {
    db.query(sql!(
        "SELECT f.target_account_id, f.account_id FROM follows f JOIN users u ON u.account_id = f.account_id
         WHERE f.target_account_id" in("$1") "AND f.notify"
    ))
    .bind(Ids::of(authors.iter().copied()))
    .all()
    .await
}
