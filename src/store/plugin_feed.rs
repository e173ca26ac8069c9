//! Feeds as plugins use them: entries in home and list feeds, and feeds of a plugin's own, such as antennas.
//!
//! Reached from `plugins::call::feeds` (contract: interface `feeds`), which checks what the plugin was granted. All
//! feeds are rows of `feed_entries`: kind 0 is home, 1 is lists, and each named feed of a plugin has a kind of its own,
//! from 100 up (`plugin_feeds`). What may enter follows the contract rules, section 12, as in [`feed`](super::feed).
//! Nothing here decides who may see an entry: that happens when it is read.

use serde::Serialize;

use super::feed::{not_blocked, recently_shown};
use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::paged;
use crate::sql;
use model::PluginId;
use model::{AccountId, Cursor, Json, StatusId, Time};

/// The kind of home feeds.
pub const HOME: i64 = 0;
/// The kind of list feeds.
pub const LIST: i64 = 1;

/// A feed: its kind and its owner, which is the account (home), the list, or a key that the plugin chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(missing_docs, reason = "columns of the table feed_entries")]
pub struct Feed {
    pub kind: i64,
    pub owner: i64,
}

/// The kind of the feeds that `plugin` calls `name`, if one was assigned.
pub async fn find_kind(db: impl Executor, plugin: PluginId, name: &str) -> Result<Option<i64>> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT kind FROM plugin_feeds WHERE plugin_id = $1 AND name = $2"))
        .bind(plugin)
        .bind(name.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(kind,)| kind))
}

/// As [`find_kind`], but assigns the next kind when there is none. Kinds are not reused when a plugin is purged.
pub async fn get_or_insert_kind(tx: &mut Tx, plugin: PluginId, name: &str) -> Result<i64> {
    loop {
        if let Some(kind) = find_kind(&mut *tx, plugin, name).await? {
            return Ok(kind);
        }
        let next: i64 =
            tx.query(sql!("UPDATE plugin_feed_kinds SET next = next + 1 RETURNING next - 1")).scalar().await?;
        // Another node may have inserted the name meanwhile: the insert then does nothing, and the next look finds it.
        tx.query(sql!("INSERT INTO plugin_feeds (kind, plugin_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"))
            .bind(next)
            .bind(plugin)
            .bind(name.to_owned())
            .execute()
            .await?;
    }
}

/// Deletes the entries of the feeds of `plugin` called `name` with one of `keys`.
pub async fn clear_keys(tx: &mut Tx, plugin: PluginId, name: &str, keys: &[i64]) -> Result<()> {
    let Some(kind) = find_kind(&mut *tx, plugin, name).await? else { return Ok(()) };
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id" in("$2")))
        .bind(kind)
        .bind(Ids::of(keys.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// Deletes the entries of all feeds of a plugin's own; returns how many.
pub async fn clear_plugin(tx: &mut Tx, plugin: PluginId) -> Result<u64> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind IN (SELECT f.kind FROM plugin_feeds f WHERE f.plugin_id = $1)"))
        .bind(plugin)
        .execute()
        .await
}

/// An entry to be inserted into a feed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewEntry {
    /// The feed.
    #[serde(flatten)]
    pub feed: Feed,
    /// In a feed of a plugin's own: the account whose home filter is applied; `None`: no filter. Not used for home and
    /// list feeds, whose viewer is their owner.
    pub viewer: Option<i64>,
    /// The status, or the reblog.
    pub status: i64,
}

/// Inserts entries into feeds, in one statement: statuses that exist, pass the filter of the feed's viewer, and are not
/// in the feed yet. Returns the entries that were inserted, as (kind, owner, status).
///
/// The viewer must be a local account that is not suspended; for a home or list feed it is the owner, whose feeds must
/// be maintained (`feed_state` is `live`). The filter leaves out what [`feed`](super::feed) leaves out: blocked and
/// muted accounts, replies to accounts that the viewer does not follow, reblogs and languages that a follow hides, and
/// reblogs of what is among the newest 40 entries of that feed; in a list also replies that its policy leaves out,
/// elsewhere the members of exclusive lists.
pub async fn insert(tx: &mut Tx, new: &[NewEntry], now: Time) -> Result<Vec<(i64, i64, StatusId)>> {
    // `placed` finds the viewer and the original of each entry. `copy` numbers the entries of this batch with the same
    // original in the same feed, of which only the first may pass: `recently_shown!` sees the feed as it was before the
    // statement.
    macro_rules! entries {
        () => {
            " wanted (kind, owner, viewer, status_id) AS (
                 SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT),
                        CAST(value ->> 'viewer' AS BIGINT), CAST(value ->> 'status' AS BIGINT)
                 FROM "
        };
    }
    macro_rules! placed {
        ($language:literal) => {
            concat!(
                "),
                 placed AS (
                     SELECT w.kind, w.owner AS place,
                            CASE w.kind WHEN 0 THEN w.owner
                                        WHEN 1 THEN (SELECT l.account_id FROM lists l WHERE l.id = w.owner)
                                        ELSE w.viewer END AS owner,
                            s.id, s.account_id AS author, s.in_reply_to_account_id AS answered,
                            p.id AS original, p.account_id AS original_author, p.language,
                            ROW_NUMBER() OVER (PARTITION BY w.kind, w.owner, p.id ORDER BY s.id) AS copy
                     FROM wanted w
                     JOIN statuses s ON s.id = w.status_id
                     JOIN statuses p ON p.id = coalesce(s.reblog_of_id, s.id)
                 )
                 INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
                 SELECT o.kind, o.place, o.id, o.author, o.original FROM placed o
                 WHERE (o.owner IS NULL AND o.kind >= 100)
                    OR (EXISTS (SELECT 1 FROM users u JOIN accounts a ON a.id = u.account_id
                                WHERE u.account_id = o.owner AND a.suspended_at IS NULL
                                  AND (o.kind >= 100 OR u.feed_state = 'live'))
                        AND NOT EXISTS (SELECT 1 FROM follows f
                                        WHERE f.account_id = o.owner AND f.target_account_id = o.author
                                          AND ((o.id <> o.original AND NOT f.show_reblogs)
                                               OR (f.languages IS NOT NULL AND o.language IS NOT NULL AND NOT ", $language, ")))
                        AND (o.answered IS NULL OR o.answered IN (o.author, o.owner)
                             OR EXISTS (SELECT 1 FROM follows t
                                        WHERE t.account_id = o.owner AND t.target_account_id = o.answered))
                        AND CASE o.kind
                            WHEN 1 THEN o.answered IS NULL OR o.answered IN (o.author, o.owner)
                                 OR EXISTS (SELECT 1 FROM lists l
                                            WHERE l.id = o.place
                                              AND (l.replies_policy = 'followed'
                                                   OR (l.replies_policy = 'list'
                                                       AND EXISTS (SELECT 1 FROM list_accounts la
                                                                   WHERE la.list_id = l.id AND la.account_id = o.answered))))
                            ELSE NOT EXISTS (SELECT 1 FROM list_accounts la JOIN lists l ON l.id = la.list_id
                                             WHERE la.account_id = o.author AND l.account_id = o.owner AND l.exclusive)
                            END
                        AND o.copy = 1 AND NOT ", recently_shown!("o.id", "o.original", "o.kind", "o.place"), "
                        AND ", not_blocked!("o.id", "o.author", "o.original_author", "$2"), ")
                 ON CONFLICT DO NOTHING
                 RETURNING CAST(kind AS BIGINT), owner_id, status_id"
            )
        };
    }
    macro_rules! sqlite {
        () => {
            placed!("EXISTS (SELECT 1 FROM json_each(f.languages) g WHERE g.value = o.language)")
        };
    }
    macro_rules! postgres {
        () => {
            placed!("jsonb_exists(f.languages, o.language)")
        };
    }
    tx.query(sql!(
        sqlite: "WITH" entries!() rows("$1") sqlite!();
        postgres: "WITH" entries!() rows("$1") postgres!()
    ))
    .bind(Json(new.to_vec()))
    .bind(now)
    .all()
    .await
}

/// A page of the statuses in a feed, newest first, without any check of visibility.
pub async fn range(db: impl Executor, feed: Feed, cursor: &Cursor) -> Result<Vec<StatusId>> {
    let sql = paged!(
        cursor,
        "SELECT e.status_id FROM feed_entries e
         WHERE e.kind = $5 AND e.owner_id = $1 AND e.status_id < $2 AND e.status_id > $3",
        by "e.status_id", limit "$4"
    );
    let query =
        db.query(sql).bind(feed.owner).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit).bind(feed.kind);
    Ok(cursor.newest_first(query.scalars().await?))
}

/// Removes statuses from a feed; returns how many were there.
pub async fn delete(tx: &mut Tx, feed: Feed, statuses: &[StatusId]) -> Result<u64> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id = $2 AND status_id" in("$3")))
        .bind(feed.kind)
        .bind(feed.owner)
        .bind(Ids::of(statuses.iter().copied()))
        .execute()
        .await
}

/// Removes everything by `authors` from feeds: their statuses, their reblogs, and reblogs of them by others. Returns
/// the number of entries.
pub async fn delete_authors(tx: &mut Tx, feeds: &[Feed], authors: &[AccountId]) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind, owner_id) IN (
                   SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT) FROM" rows("$1")
              ")
           AND (author_id" in("$2")
               "OR EXISTS (SELECT 1 FROM statuses s WHERE s.id = feed_entries.original_id AND s.account_id" in("$2") "))"
    ))
    .bind(Json(feeds.to_vec()))
    .bind(Ids::of(authors.iter().copied()))
    .execute()
    .await
}

/// Deletes all entries of `feeds`; returns how many.
pub async fn clear(tx: &mut Tx, feeds: &[Feed]) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind, owner_id) IN (
             SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT) FROM" rows("$1")
        ")"
    ))
    .bind(Json(feeds.to_vec()))
    .execute()
    .await
}

/// Up to `limit` owners above `after` that have a feed of this kind, in order: a batch of the clean-up.
pub async fn list_owners(db: impl Executor, kind: i64, after: i64, limit: i64) -> Result<Vec<i64>> {
    db.query(sql!(
        "SELECT DISTINCT e.owner_id FROM feed_entries e WHERE e.kind = $1 AND e.owner_id > $2 ORDER BY e.owner_id LIMIT $3"
    ))
    .bind(kind)
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}
