//! What plugins put into feeds: home and list feeds, and feeds of their own, which have numbers from 100 up.

use serde::Serialize;

use super::feed::{repeated, unwanted};
use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::model::{AccountId, Cursor, Json, StatusId, Time};
use crate::plugins::PluginId;
use crate::{paged, sql};

/// The kind of home feeds.
pub const HOME: i64 = 0;
/// The kind of list feeds.
pub const LIST: i64 = 1;

/// A feed: its kind, and whose it is or which of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[expect(missing_docs, reason = "columns of the table feed_entries")]
pub struct Feed {
    pub kind: i64,
    pub owner: i64,
}

/// The number of the feeds that `plugin` calls `name`.
///
/// # Errors
/// When the database does.
pub async fn find_kind(db: impl Executor, plugin: PluginId, name: &str) -> Result<Option<i64>> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT kind FROM plugin_feeds WHERE plugin_id = $1 AND name = $2"))
        .bind(plugin)
        .bind(name.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(kind,)| kind))
}

/// As [`find_kind`]; feeds that have no number get the next, which nobody had before.
///
/// # Errors
/// When the database does.
pub async fn get_kind(tx: &mut Tx, plugin: PluginId, name: &str) -> Result<i64> {
    loop {
        if let Some(kind) = find_kind(&mut *tx, plugin, name).await? {
            return Ok(kind);
        }
        let next: i64 =
            tx.query(sql!("UPDATE plugin_feed_kinds SET next = next + 1 RETURNING next - 1")).scalar().await?;
        // Where another node takes the name meanwhile, the next look finds it.
        tx.query(sql!("INSERT INTO plugin_feeds (kind, plugin_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"))
            .bind(next)
            .bind(plugin)
            .bind(name.to_owned())
            .execute()
            .await?;
    }
}

/// Empties those feeds of `plugin` called `name` that have one of `keys`.
///
/// # Errors
/// When the database does.
pub async fn drop_of(tx: &mut Tx, plugin: PluginId, name: &str, keys: &[i64]) -> Result<()> {
    let Some(kind) = find_kind(&mut *tx, plugin, name).await? else { return Ok(()) };
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id" in("$2")))
        .bind(kind)
        .bind(Ids::of(keys.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// Empties all feeds of a plugin's own; says how much was there.
///
/// # Errors
/// When the database does.
pub async fn clear_all(tx: &mut Tx, plugin: PluginId) -> Result<u64> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind IN (SELECT f.kind FROM plugin_feeds f WHERE f.plugin_id = $1)"))
        .bind(plugin)
        .execute()
        .await
}

/// A status that is to enter a feed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct New {
    /// Where to.
    #[serde(flatten)]
    pub feed: Feed,
    /// Whose home filter decides, for a feed of a plugin's own; `None`: nobody's.
    pub viewer: Option<i64>,
    /// The status, or the reblog.
    pub status: i64,
}

/// Puts statuses into feeds, all in one statement: those that exist, that their viewer's home filter lets through and
/// that are not there yet. Gives which entered.
///
/// The filter of a home or list feed is its owner's, who must be a person that is not suspended, and for whom feeds are
/// kept. It leaves out: whom one does not want to see, answers to strangers, reblogs and languages that one does not want
/// of someone, reblogs of what is among the newest 40 of that feed; for a list what its policy says of replies, elsewhere
/// members of exclusive lists.
///
/// # Errors
/// When the database does.
pub async fn insert(tx: &mut Tx, new: &[New], now: Time) -> Result<Vec<(i64, i64, StatusId)>> {
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
                        AND o.copy = 1 AND NOT ", repeated!("o.id", "o.original", "o.kind", "o.place"), "
                        AND ", unwanted!("o.id", "o.author", "o.original_author", "$2"), ")
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

/// A page of the statuses in a feed, whoever may see them.
///
/// # Errors
/// When the database does.
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

/// Takes statuses out of a feed; says how many were there.
///
/// # Errors
/// When the database does.
pub async fn delete(tx: &mut Tx, feed: Feed, statuses: &[StatusId]) -> Result<u64> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id = $2 AND status_id" in("$3")))
        .bind(feed.kind)
        .bind(feed.owner)
        .bind(Ids::of(statuses.iter().copied()))
        .execute()
        .await
}

/// Takes everything by `authors` out of feeds, what they reblogged and what others reblogged of theirs; says how much.
///
/// # Errors
/// When the database does.
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

/// Empties feeds.
///
/// # Errors
/// When the database does.
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

/// Whose feeds of a kind there are, above `after`, at most `limit`: the walk of the clean-up.
///
/// # Errors
/// When the database does.
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
