//! The key-value store of plugins: bytes by key, with an optional expiry.
//!
//! Reached from calls of plugins (contract: interface `kv`). An expired item counts as missing for every read;
//! [`delete_expired`] deletes it later. The caller checks quotas.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use database::sql::Texts;
use database::{Conn, Result, Tx, sql};
use model::{Json, PluginId, Time, boxed};

/// An item of the store.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct Item {
    pub key: String,
    pub value: Vec<u8>,
    pub expires_at: Option<Time>,
}

/// The values of `keys` that are neither missing nor expired, by key; `None`, without reading a value, when their
/// total exceeds `most` bytes. One statement measures and reads, so that no value grows in between.
#[boxed]
pub async fn get(
    db: Conn<'_>,
    plugin: PluginId,
    keys: &[String],
    now: Time,
    most: usize,
) -> Result<Option<HashMap<String, Vec<u8>>>> {
    let rows: Vec<(i64, Option<String>, Option<Vec<u8>>)> = db
        .query(sql!(
            "WITH fitting (total) AS MATERIALIZED (
                 SELECT CAST(COALESCE(SUM(LENGTH(m.value)), 0) AS BIGINT) FROM plugin_kv m
                 WHERE m.plugin_id = $1 AND m.key" in("$2") "AND (m.expires_at IS NULL OR m.expires_at > $3)
             )
             SELECT f.total, k.key, k.value
             FROM fitting f
             LEFT JOIN plugin_kv k ON f.total <= $4 AND k.plugin_id = $1
                                  AND k.key" in("$2") "AND (k.expires_at IS NULL OR k.expires_at > $3)"
        ))
        .bind(plugin)
        .bind(Texts::of(keys.iter().cloned()))
        .bind(now)
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .all()
        .await?;
    Ok(fits(rows.first().map(|row| row.0), most)
        .then(|| rows.into_iter().filter_map(|(_, key, value)| key.zip(value)).collect()))
}

/// True when `total` bytes do not exceed `most`.
fn fits(total: Option<i64>, most: usize) -> bool {
    usize::try_from(total.unwrap_or(0)).is_ok_and(|total| total <= most)
}

/// An item as JSON, for the parameter of [`set`].
#[derive(Serialize)]
struct Record {
    key: String,
    /// Hexadecimal.
    value: String,
    /// Microseconds since the epoch.
    expires_at: Option<i64>,
}

/// Stores `items` in one statement, replacing existing values (upsert). Of two items with the same key the last one
/// is stored: one statement must not upsert a row twice. The texts differ in decoding bytes and times from JSON.
#[boxed]
pub async fn set(tx: &mut Tx, plugin: PluginId, items: &[Item]) -> Result<()> {
    macro_rules! insert {
        ($value:literal, $expiry:literal, $rows:literal) => {
            concat!(
                "INSERT INTO plugin_kv (plugin_id, key, value, expires_at)
                 SELECT CAST($1 AS BIGINT), value ->> 'key', ", $value, ", ", $expiry, " FROM ", $rows, " WHERE TRUE
                 ON CONFLICT (plugin_id, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at"
            )
        };
    }
    let last: BTreeMap<&str, &Item> = items.iter().map(|item| (item.key.as_str(), item)).collect();
    let record = |item: &Item| Record {
        key: item.key.clone(),
        value: crypto::hex(&item.value),
        expires_at: item.expires_at.map(|at| at.timestamp_micros()),
    };
    tx.query(sql!(
        sqlite: insert!("unhex(value ->> 'value')", "value ->> 'expires_at'", "json_each($2)");
        postgres: insert!(
            "decode(value ->> 'value', 'hex')",
            "TIMESTAMPTZ 'epoch' + CAST(value ->> 'expires_at' AS BIGINT) * INTERVAL '1 microsecond'",
            "jsonb_array_elements($2) AS each(value)"
        )
    ))
    .bind(plugin)
    .bind(Json(last.into_values().map(record).collect::<Vec<_>>()))
    .execute()
    .await?;
    Ok(())
}

/// Deletes `keys`; returns how many existed.
#[boxed]
pub async fn delete(tx: &mut Tx, plugin: PluginId, keys: &[String]) -> Result<u64> {
    tx.query(sql!("DELETE FROM plugin_kv WHERE plugin_id = $1 AND key" in("$2")))
        .bind(plugin)
        .bind(Texts::of(keys.iter().cloned()))
        .execute()
        .await
}

/// Adds `delta` to a number stored as decimal text, and returns the sum; a missing or expired item counts as 0.
/// `None` when the value is not a number, or the sum does not fit an `i64`: it is not changed then.
#[boxed]
pub async fn add(tx: &mut Tx, plugin: PluginId, key: &str, delta: i64, now: Time) -> Result<Option<i64>> {
    // Ensures that there is a row to lock.
    tx.query(sql!(
        "INSERT INTO plugin_kv (plugin_id, key, value, expires_at) VALUES ($1, $2, $3, NULL)
         ON CONFLICT (plugin_id, key) DO UPDATE SET value = excluded.value, expires_at = NULL
         WHERE plugin_kv.expires_at <= $4"
    ))
    .bind(plugin)
    .bind(key.to_owned())
    .bind(b"0".to_vec())
    .bind(now)
    .execute()
    .await?;
    let kept: Vec<u8> = tx
        .query(sql!(
            sqlite: "SELECT value FROM plugin_kv WHERE plugin_id = $1 AND key = $2";
            postgres: "SELECT value FROM plugin_kv WHERE plugin_id = $1 AND key = $2 FOR UPDATE"
        ))
        .bind(plugin)
        .bind(key.to_owned())
        .scalar()
        .await?;
    let kept = std::str::from_utf8(&kept).ok().and_then(|text| text.parse::<i64>().ok());
    let Some(sum) = kept.and_then(|kept| kept.checked_add(delta)) else { return Ok(None) };
    tx.query(sql!("UPDATE plugin_kv SET value = $3 WHERE plugin_id = $1 AND key = $2"))
        .bind(plugin)
        .bind(key.to_owned())
        .bind(sum.to_string().into_bytes())
        .execute()
        .await?;
    Ok(Some(sum))
}

/// Up to `limit` items whose key begins with `prefix` and is above `after`, by key: one range of the primary key.
/// Keys compare by bytes on both engines. `None`, without reading a value, when their total exceeds `most` bytes.
#[boxed]
pub async fn list(
    db: Conn<'_>,
    plugin: PluginId,
    (prefix, after, limit): (&str, &str, u16),
    now: Time,
    most: usize,
) -> Result<Option<Vec<Item>>> {
    macro_rules! range {
        ($columns:literal, $which:literal) => {
            concat!(
                "SELECT ",
                $columns,
                " FROM plugin_kv k
                 WHERE k.plugin_id = $1 AND k.key >= $2 AND k.key < $3 AND k.key > $4
                   AND (k.expires_at IS NULL OR k.expires_at > $5)",
                $which,
                " ORDER BY k.key LIMIT $6"
            )
        };
    }
    type Listed = (i64, Option<String>, Option<Vec<u8>>, Option<Time>);
    let rows: Vec<Listed> = db
        .query(sql!(
            "WITH fitting (total) AS MATERIALIZED (
                 SELECT CAST(COALESCE(SUM(m.bytes), 0) AS BIGINT)
                 FROM (" range!("LENGTH(k.key) + LENGTH(k.value) AS bytes", "") ") m
             )
             SELECT f.total, i.key, i.value, i.expires_at
             FROM fitting f
             LEFT JOIN (" range!("k.key, k.value, k.expires_at", " AND (SELECT o.total FROM fitting o) <= $7") ") i ON TRUE
             ORDER BY i.key"
        ))
        .bind(plugin)
        .bind(prefix.to_owned())
        .bind(format!("{prefix}\u{10ffff}"))
        .bind(after.to_owned())
        .bind(now)
        .bind(i64::from(limit))
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .all()
        .await?;
    let item = |(_, key, value, expires_at): Listed| Some(Item { key: key?, value: value?, expires_at });
    Ok(fits(rows.first().map(|row| row.0), most).then(|| rows.into_iter().filter_map(item).collect()))
}

/// Deletes the expired items of all plugins; returns how many.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM plugin_kv WHERE expires_at <= $1")).bind(now).execute().await
}

/// Deletes all items of a plugin.
#[boxed]
pub async fn clear(tx: &mut Tx, plugin: PluginId) -> Result<()> {
    tx.query(sql!("DELETE FROM plugin_kv WHERE plugin_id = $1")).bind(plugin).execute().await?;
    Ok(())
}
