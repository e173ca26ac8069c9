//! Feeds as plugins use them: entries in home and list feeds, and feeds of plugins, such as antennas.
//!
//! Reached from `plugins::call::feeds` (contract: interface `feeds`), which checks the plugin's grants. Each named
//! feed of a plugin has a separate kind (`plugin_feeds`). [`feed_sql`](crate::feed_sql) decides which statuses may
//! enter, as for every feed; reading a page and removing authors are the same for all and in [`feed`](crate::feed).
//! Visibility is not checked here, but when an entry is read.

use serde::Serialize;

use crate::feed::Feed;
use crate::feed_sql::{admitted, candidate, follow_admits, insert_unrepeated, with_original};
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{Json, PluginId, StatusId, Time, boxed};

/// The kind of the feeds of `plugin` with the name `name`, if one was assigned.
#[boxed]
pub async fn find_kind(db: Conn<'_>, plugin: PluginId, name: &str) -> Result<Option<i64>> {
    let row: Option<(i64,)> = db
        .query(sql!("SELECT kind FROM plugin_feeds WHERE plugin_id = $1 AND name = $2"))
        .bind(plugin)
        .bind(name.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(kind,)| kind))
}

/// The kind of the feeds of `plugin` with the name `name`; assigns the next one when there is none. Kinds are not
/// reused when a plugin is purged.
#[boxed]
pub async fn get_or_insert_kind(tx: &mut Tx, plugin: PluginId, name: &str) -> Result<i64> {
    loop {
        if let Some(kind) = find_kind(&mut *tx, plugin, name).await? {
            return Ok(kind);
        }
        let next: i64 =
            tx.query(sql!("UPDATE plugin_feed_kinds SET next = next + 1 RETURNING next - 1")).scalar().await?;
        // Another node may have inserted the name concurrently: the insert then does nothing, and the next iteration
        // finds it.
        tx.query(sql!("INSERT INTO plugin_feeds (kind, plugin_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING"))
            .bind(next)
            .bind(plugin)
            .bind(name.to_owned())
            .execute()
            .await?;
    }
}

/// Deletes the entries of the feeds of `plugin` called `name` with one of `keys`.
#[boxed]
pub async fn clear_keys(tx: &mut Tx, plugin: PluginId, name: &str, keys: &[i64]) -> Result<()> {
    let Some(kind) = find_kind(&mut *tx, plugin, name).await? else { return Ok(()) };
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id" in("$2")))
        .bind(kind)
        .bind(Ids::of(keys.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// The number of entries in the feeds of a plugin, counted up to `most`.
#[boxed]
pub async fn count(db: Conn<'_>, plugin: PluginId, most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(*) FROM (
             SELECT 1 FROM plugin_feeds f JOIN feed_entries e ON e.kind = f.kind WHERE f.plugin_id = $1 LIMIT $2
         ) counted"
    ))
    .bind(plugin)
    .bind(most)
    .scalar()
    .await
}

/// The kinds of the feeds of a plugin.
#[boxed]
pub async fn list_kinds(db: Conn<'_>, plugin: PluginId) -> Result<Vec<i64>> {
    db.query(sql!("SELECT f.kind FROM plugin_feeds f WHERE f.plugin_id = $1 ORDER BY f.kind"))
        .bind(plugin)
        .scalars()
        .await
}

/// Deletes up to `limit` entries of the feeds of this kind; returns how many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, kind: i64, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind, owner_id, status_id) IN (
             SELECT e.kind, e.owner_id, e.status_id FROM feed_entries e WHERE e.kind = $1
             ORDER BY e.owner_id, e.status_id LIMIT $2
         )"
    ))
    .bind(kind)
    .bind(limit)
    .execute()
    .await
}

/// An entry to insert into a feed.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewEntry {
    #[serde(flatten)]
    pub feed: Feed,
    /// For a feed of a plugin: the account whose home filter is applied; `None`: no filter. Not used for home and
    /// list feeds, whose viewer is their owner.
    pub viewer: Option<i64>,
    /// The status, or the reblog.
    pub status: i64,
}

/// Inserts entries into feeds, in one statement: statuses that exist, pass the filter of the feed's viewer, and are
/// not in the feed yet. Returns the inserted entries, as (kind, owner, status).
///
/// The viewer must be a local account that is not suspended; for a home or list feed it is the owner, whose feeds
/// must be maintained (`feed_state` is `live`). The filter is the same as for every feed
/// ([`feed_sql`](crate::feed_sql)), except that an author need not be followed; if they are, the options of the
/// follow count.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &[NewEntry], now: Time) -> Result<Vec<(i64, i64, StatusId)>> {
    macro_rules! wanted {
        () => {
            "WITH wanted (kind, place, viewer, status_id) AS (
                 SELECT CAST(value ->> 'kind' AS BIGINT), CAST(value ->> 'owner' AS BIGINT),
                        CAST(value ->> 'viewer' AS BIGINT), CAST(value ->> 'status' AS BIGINT)
                 FROM "
        };
    }
    // `MATERIALIZED`, so that an owner is looked up once and not for every reference.
    macro_rules! viewed {
        () => {
            "),
             viewed (kind, place, owner, status_id) AS MATERIALIZED (
                 SELECT w.kind, w.place,
                        CASE w.kind WHEN 0 THEN w.place
                                    WHEN 1 THEN (SELECT l.account_id FROM lists l WHERE l.id = w.place)
                                    ELSE w.viewer END,
                        w.status_id
                 FROM wanted w
             ) "
        };
    }
    macro_rules! admitted_entries {
        ($engine:ident) => {
            insert_unrepeated!(
                "SELECT o.*
                 FROM (SELECT v.kind, v.place, v.owner, ",
                candidate!(),
                "
                       FROM viewed v
                       JOIN statuses s ON s.id = v.status_id",
                with_original!(),
                "WHERE NOT EXISTS (SELECT 1 FROM follows f
                                         WHERE f.account_id = v.owner AND f.target_account_id = s.account_id
                                           AND NOT (",
                follow_admits!($engine),
                "))) o
                 WHERE (o.owner IS NULL AND o.kind >= 100)
                    OR (EXISTS (SELECT 1 FROM users u JOIN accounts a ON a.id = u.account_id
                                WHERE u.account_id = o.owner AND a.suspended_at IS NULL
                                  AND (o.kind >= 100 OR u.feed_state = 'live'))
                        AND ",
                admitted!("$2"),
                ")"
            )
        };
    }
    macro_rules! entered {
        () => {
            " ON CONFLICT DO NOTHING RETURNING CAST(kind AS BIGINT), owner_id, status_id"
        };
    }
    tx.query(sql!(
        sqlite: wanted!() rows("$1") viewed!() admitted_entries!(sqlite) entered!();
        postgres: wanted!() rows("$1") viewed!() admitted_entries!(postgres) entered!()
    ))
    .bind(Json(new.to_vec()))
    .bind(now)
    .all()
    .await
}

/// Removes statuses from a feed; returns how many.
#[boxed]
pub async fn delete(tx: &mut Tx, feed: Feed, statuses: &[StatusId]) -> Result<u64> {
    tx.query(sql!("DELETE FROM feed_entries WHERE kind = $1 AND owner_id = $2 AND status_id" in("$3")))
        .bind(feed.kind)
        .bind(feed.owner)
        .bind(Ids::of(statuses.iter().copied()))
        .execute()
        .await
}

/// Deletes all entries of `feeds`; returns how many.
#[boxed]
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

/// Up to `limit` owners above `after` with a feed of this kind, in order: a batch of the clean-up.
#[boxed]
pub async fn list_owners(db: Conn<'_>, kind: i64, after: i64, limit: i64) -> Result<Vec<i64>> {
    db.query(sql!(
        "SELECT DISTINCT e.owner_id FROM feed_entries e WHERE e.kind = $1 AND e.owner_id > $2 ORDER BY e.owner_id LIMIT $3"
    ))
    .bind(kind)
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}
