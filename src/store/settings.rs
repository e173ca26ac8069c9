//! Settings, rules, and the generation by which a server notices that another process changed them.

use serde_json::{Map, Value};

use super::{Error, Executor, Result, Tx};
use crate::model::{Json, Settings, Time};
use crate::sql;

/// Name of the row that counts changes.
const GENERATION: &str = "generation";

/// How often settings, rules or emojis were changed; at least 1.
///
/// # Errors
/// When the database does.
pub async fn generation(db: impl Executor) -> Result<i64> {
    let row: Option<(Json<i64>,)> =
        db.query(sql!("SELECT value FROM settings WHERE key = $1")).bind(GENERATION.to_owned()).optional().await?;
    Ok(row.map_or(0, |(Json(generation),)| generation) + 1)
}

/// The settings: what is stored over what is default. A stored key of another version is left out.
///
/// # Errors
/// When the database does.
pub async fn load(db: impl Executor) -> Result<Settings> {
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

/// Stores one setting.
///
/// # Errors
/// When the database does.
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

/// Tells every running server to read settings, rules and emojis again. Counted by the database, so that of two changes at
/// once neither hides the other. The last thing that a transaction does: all of them meet here, and nowhere after it.
///
/// # Errors
/// When the database does.
pub async fn touch(tx: &mut Tx, now: Time) -> Result<()> {
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
