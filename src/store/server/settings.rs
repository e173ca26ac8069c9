//! Server settings, and the generation counter by which a running server detects changes of another process.
//!
//! One row for each setting that was ever set, its value as JSON; the generation is a row of the same table. Every
//! change of settings, rules, emojis, the domain policy or the desired state of plugins increments it with
//! [`bump_generation`], and servers poll it. `model::Settings` and the settings service define the settings and their values.

use serde_json::{Map, Value};

use database::{Conn, Error, Result, Tx, sql};
use model::{Json, Settings, Time, boxed};

/// Key of the row with the generation.
const GENERATION: &str = "generation";

/// The current generation, a number that grows with every [`bump_generation`]; 1 when nothing was ever changed.
#[boxed]
pub async fn generation(db: Conn<'_>) -> Result<i64> {
    let row: Option<(Json<i64>,)> =
        db.query(sql!("SELECT value FROM settings WHERE key = $1")).bind(GENERATION.to_owned()).optional().await?;
    Ok(row.map_or(0, |(Json(generation),)| generation) + 1)
}

/// The settings: the defaults, overridden by stored values. A stored key unknown to this version is ignored, and so
/// is, with a warning, an invalid value.
#[boxed]
pub async fn load(db: Conn<'_>) -> Result<Settings> {
    let rows: Vec<(String, Json<Value>)> =
        db.query(sql!("SELECT key, value FROM settings WHERE key <> $1")).bind(GENERATION.to_owned()).all().await?;
    let mut settings =
        serde_json::to_value(Settings::default()).map_err(|error| Error::Sql(sqlx::Error::Encode(error.into())))?;
    let known: &mut Map<String, Value> = settings.as_object_mut().expect("settings are a struct");
    for (key, Json(value)) in rows {
        let previous = known.get(&key).cloned();
        if let Some(previous) = previous {
            known.insert(key.clone(), value);
            if serde_json::from_value::<Settings>(Value::Object(known.clone())).is_err() {
                tracing::warn!(setting = %key, "a stored setting does not fit this version and is ignored");
                known.insert(key, previous);
            }
        }
    }
    serde_json::from_value(settings).map_err(|error| Error::Sql(sqlx::Error::Decode(error.into())))
}

/// Stores one setting (upsert). Call [`bump_generation`] afterwards.
#[boxed]
pub async fn set(tx: &mut Tx, key: &str, value: &Value, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at"
    ))
    .bind(key.to_owned())
    .bind(Json(value.clone()))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Increments the generation, so that every running server reloads settings, rules, emojis, the domain policy and the
/// desired state of plugins.
///
/// The database increments it, so that two concurrent changes count twice. Every such transaction locks this one row:
/// call it last, so that the lock is held only for the commit and two transactions cannot deadlock on it. The texts
/// differ because a JSON value is text on SQLite and `jsonb` on PostgreSQL.
#[boxed]
pub async fn bump_generation(tx: &mut Tx, now: Time) -> Result<()> {
    tx.query(sql!(
        sqlite: "INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)
                 ON CONFLICT (key) DO UPDATE
                 SET value = CAST(CAST(settings.value AS INTEGER) + 1 AS TEXT), updated_at = excluded.updated_at";
        postgres: "INSERT INTO settings (key, value, updated_at) VALUES ($1, $2, $3)
                   ON CONFLICT (key) DO UPDATE
                   SET value = to_jsonb(CAST(settings.value #>> '{}' AS BIGINT) + 1), updated_at = excluded.updated_at"
    ))
    .bind(GENERATION.to_owned())
    .bind(Json(1_i64))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}
