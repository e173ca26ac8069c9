//! Feeds: materialised timelines, filled by jobs (fan-out on write) and read as one index range.
//!
//! Reached from the jobs of feeds, the clean-up of feeds, publishing and `service::timeline`. A feed is a range of
//! `feed_entries`: home feeds have kind 0 and are owned by the account, lists kind 1, and each named feed of a plugin
//! has a kind of its own from 100 up. Which statuses enter is decided by [`feed_sql`], whether an entry
//! may still be shown by `service::visibility` when it is read. What concerns lists alone is in
//! [`list_feed`], followed hashtags alone in [`tag_feed`], and plugins alone in
//! [`plugin_feed`](super::plugin_feed).
//!
//! An entry outlives its status, since finding it would need an index of its own: see [`Entries`].
//!
//! Spec: docs/contract/rules.md#12-timelines.

pub mod conversation;
pub(crate) mod feed_sql;
pub mod filter;
pub mod list;
pub mod list_feed;
pub mod marker;
pub mod tag;
pub mod tag_feed;
pub mod timeline;

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use super::feed_sql::{
    admitted, candidate, followed, insert_entries, insert_unrepeated, of_members, tagged, with_original,
};
use super::relation_sql::{blocks, mutes};
use database::sql::Ids;
use database::{Executor, Result, Tx, paged, sql};
use model::{AccountId, Cursor, Json, PluginId, RowId, StatusId, Time};

/// The kind of home feeds.
pub const HOME: i64 = 0;
/// The kind of list feeds.
pub const LIST: i64 = 1;

/// A feed: its kind and its owner, which is the account (home), the list, or a key that the plugin chose.
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

/// A feed to be read.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// One of known kind.
    Feed(Feed),
    /// One of a plugin's own, which has no entries before its kind was assigned.
    Named {
        plugin: PluginId,
        /// As its manifest declares it.
        name: &'a str,
        /// Which feed of that name.
        key: i64,
    },
}

/// Which entries of a feed are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entries {
    /// All, also those whose status was deleted since.
    All,
    /// Those whose status exists: costs a look-up for each.
    Existing,
}

/// A page of the statuses in a feed, newest first, without any check of visibility. Keyset pagination over the primary
/// key.
pub async fn page(db: impl Executor, source: Source<'_>, entries: Entries, cursor: &Cursor) -> Result<Vec<StatusId>> {
    macro_rules! entries {
        ($kind:literal, $which:literal) => {
            paged!(
                cursor,
                "SELECT e.status_id FROM feed_entries e
                 WHERE e.kind = " $kind " AND e.owner_id = $1 AND e.status_id < $2 AND e.status_id > $3" $which,
                by "e.status_id", limit "$4"
            )
        };
        // A scalar subquery, so that no planner begins with the statuses.
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

/// Those of `feeds` that have an entry of `status`, which may be deleted since: a look-up for each.
pub async fn list_with(db: impl Executor, status: StatusId, feeds: &[Feed]) -> Result<Vec<Feed>> {
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

/// The followers of the authors of `statuses` and of their hashtags, and authors who are on a list of their own, by id,
/// each once: whom [`fan_out`] looks at.
pub async fn list_followers(db: impl Executor, statuses: &[StatusId]) -> Result<Vec<AccountId>> {
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
/// hashtags, and to the lists of those followers that have the author, as far as these accounts are in the range `to`;
/// returns which feeds each entered.
///
/// One statement, which writes in the order of the primary key. Whoever is found twice gets a status once. A reblog is
/// compared with the feed as it was before: several of the same original need a call each. A `+` keeps SQLite from
/// beginning with all lists of the range: it is to begin with those that have the author.
pub async fn fan_out(
    tx: &mut Tx,
    statuses: &[StatusId],
    to: RangeInclusive<AccountId>,
    now: Time,
) -> Result<Vec<Entered>> {
    macro_rules! text {
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
        sqlite: text!(sqlite, " IN (SELECT value FROM json_each($1)) ");
        postgres: text!(postgres, " = ANY($1) ")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .bind(now)
    .bind(*to.start())
    .bind(*to.end())
    .all()
    .await
}

/// Inserts a status or reblog into its author's own home feed, in the transaction that publishes it, so that they see it
/// at once. `original`: of a reblog.
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

/// Backfills the home feed of `owner`, if it is maintained, with the newest `limit` admitted statuses of `target`, whom
/// they follow, less repeated reblogs among these; does nothing when the follow is gone. The walk down the index
/// `statuses_account` stops at the limit. Returns what entered.
pub async fn backfill(tx: &mut Tx, owner: AccountId, target: AccountId, now: Time, limit: i64) -> Result<Vec<Entered>> {
    macro_rules! text {
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
    tx.query(sql!(sqlite: text!(sqlite); postgres: text!(postgres)))
        .bind(owner)
        .bind(target)
        .bind(now)
        .bind(limit)
        .all()
        .await
}

/// Rebuilds the home feed of `owner` after it was dropped, and marks it `live`: the newest `limit` statuses since
/// `since` that are their own or that the fan-out would have brought them, by their relations as they are `now`, less
/// repeated reblogs among these.
///
/// Their own statuses have no `owner` whose relations could keep them out. `DISTINCT`, for what an account and a hashtag
/// both lead to.
pub async fn rebuild(tx: &mut Tx, owner: AccountId, since: StatusId, now: Time, limit: i64) -> Result<()> {
    macro_rules! text {
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
    tx.query(sql!(sqlite: text!(sqlite); postgres: text!(postgres)))
        .bind(owner)
        .bind(since)
        .bind(now)
        .bind(limit)
        .execute()
        .await?;
    tx.query(sql!("UPDATE users SET feed_state = 'live' WHERE account_id = $1")).bind(owner).execute().await?;
    Ok(())
}

/// What goes with an author whose statuses are removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reblogs {
    /// The author's own reblogs.
    Own,
    /// These, and reblogs by others of the author's statuses.
    OfAuthor,
}

/// Removes the statuses of `authors` from `feeds`, with the reblogs that `reblogs` says; returns the number of entries.
/// Reads each feed to its end, which is bounded, and the status of each entry: only the primary key narrows the rows.
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

/// Removes the statuses of accounts of `domain` from `feeds`, and reblogs of such statuses; returns the number of entries.
/// Reads as much as [`delete_authors`].
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
pub async fn find_relation(db: impl Executor, owner: AccountId, target: AccountId, now: Time) -> Result<(bool, bool)> {
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
pub async fn list_owners(db: impl Executor, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT u.account_id FROM users u WHERE u.account_id > $1 AND u.feed_state = 'live' ORDER BY u.account_id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .scalars()
        .await
}

/// Deletes all but the newest `keep` entries of the feed of each of `owners`, in one statement; returns how many.
/// `kind` is 0 for home feeds. The window function counts for each owner, which `LIMIT` cannot; it reads the primary
/// key alone.
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

/// Drops the home feeds of accounts that were not active since `since`, with those of their lists, until [`rebuild`];
/// returns of how many.
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

/// The local followers of `authors` who asked to be notified of each new status, as (author, follower): the index
/// `follows_notified` has only those.
pub async fn list_notified_followers(db: impl Executor, authors: &[AccountId]) -> Result<Vec<(AccountId, AccountId)>> {
    db.query(sql!(
        "SELECT f.target_account_id, f.account_id FROM follows f JOIN users u ON u.account_id = f.account_id
         WHERE f.target_account_id" in("$1") "AND f.notify"
    ))
    .bind(Ids::of(authors.iter().copied()))
    .all()
    .await
}
