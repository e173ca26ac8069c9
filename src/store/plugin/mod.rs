//! Installed plugins: the desired state of each (package, switch, grants, limits, configuration), pauses, and the
//! manifest of the last active package.
//!
//! Reached from `plugins`, which reconciles its running plugins with these rows. A row stays when the package is
//! gone, until the plugin is purged. Knows nothing of packages.

pub mod plugin_data;
pub mod plugin_event;
pub mod plugin_feed;
pub mod plugin_index;
pub mod plugin_kv;
pub mod plugin_mark;
pub mod plugin_record;
pub mod plugin_schema;
pub mod plugin_setting;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use database::{Conn, Result, Tx, sql};
use model::{Json, Time, boxed};

/// The desired state of one plugin.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "plugins", alias = "p")]
pub struct Plugin {
    pub id: i64,
    pub name: String,
    pub enabled: bool,
    pub version: Option<String>,
    pub sha256: Option<String>,
    pub approved: Json<Vec<String>>,
    pub granted: Json<Vec<String>>,
    pub limits: Json<Value>,
    pub config: Json<Map<String, Value>>,
    pub config_version: i64,
    pub secrets: Json<Map<String, Value>>,
    pub refused: Option<String>,
    pub quarantined_at: Option<Time>,
    pub public_key: Option<String>,
    pub source: Option<String>,
    pub installs: Json<Vec<Install>>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// A package installed by a command: the audit trail of a plugin, in its column `installs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Install {
    pub version: String,
    /// SHA-256 of the package.
    pub digest: String,
    /// SHA-256 of its file.
    pub sha256: String,
    /// The name of the file in the folder of plugins.
    pub file: String,
    /// The public key that it was signed with; `None` when it was not signed.
    pub key: Option<String>,
    /// The source of the package.
    pub source: String,
    /// When, as RFC 3339.
    pub at: String,
}

/// Every installed plugin that was not purged, by name.
#[boxed]
pub async fn list(db: Conn<'_>) -> Result<Vec<Plugin>> {
    db.query(sql!("SELECT " plugin_columns!() " FROM plugins p ORDER BY p.name")).all().await
}

/// The plugin of this name.
#[boxed]
pub async fn find(db: Conn<'_>, name: &str) -> Result<Option<Plugin>> {
    db.query(sql!("SELECT " plugin_columns!() " FROM plugins p WHERE p.name = $1"))
        .bind(name.to_owned())
        .optional()
        .await
}

/// As [`find`], with the row locked until the transaction ends: by `FOR UPDATE` on PostgreSQL, by the single writer
/// on SQLite.
#[boxed]
pub async fn lock(tx: &mut Tx, name: &str) -> Result<Option<Plugin>> {
    tx.query(sql!(
        sqlite: "SELECT " plugin_columns!() " FROM plugins p WHERE p.name = $1";
        postgres: "SELECT " plugin_columns!() " FROM plugins p WHERE p.name = $1 FOR UPDATE"
    ))
    .bind(name.to_owned())
    .optional()
    .await
}

/// Inserts a plugin; false when one with this name exists, perhaps from another process.
#[boxed]
pub async fn insert(tx: &mut Tx, plugin: &Plugin) -> Result<bool> {
    let changed = tx.query(sql!(plugin_insert!() " ON CONFLICT (name) DO NOTHING")).bind_row(plugin).execute().await?;
    Ok(changed > 0)
}

/// Writes the desired state of an existing plugin.
#[boxed]
pub async fn update(tx: &mut Tx, plugin: &Plugin) -> Result<()> {
    tx.query(sql!(
        "UPDATE plugins
         SET enabled = $2, version = $3, sha256 = $4, approved = $5, granted = $6, limits = $7, config = $8,
             config_version = $9, secrets = $10, refused = $11, quarantined_at = $12, updated_at = $13,
             public_key = $14, source = $15, installs = $16
         WHERE id = $1"
    ))
    .bind(plugin.id)
    .bind(plugin.enabled)
    .bind(plugin.version.clone())
    .bind(plugin.sha256.clone())
    .bind(plugin.approved.clone())
    .bind(plugin.granted.clone())
    .bind(plugin.limits.clone())
    .bind(plugin.config.clone())
    .bind(plugin.config_version)
    .bind(plugin.secrets.clone())
    .bind(plugin.refused.clone())
    .bind(plugin.quarantined_at)
    .bind(plugin.updated_at)
    .bind(plugin.public_key.clone())
    .bind(plugin.source.clone())
    .bind(plugin.installs.clone())
    .execute()
    .await?;
    Ok(())
}

/// Deletes a plugin. Foreign keys delete its rows in the server's tables; the plugin's own tables are not touched.
#[boxed]
pub async fn delete(tx: &mut Tx, id: i64) -> Result<()> {
    tx.query(sql!("DELETE FROM plugins WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Pauses a plugin on every server, until [`resume`] or until `until` at the latest. `by` is a unique number of this
/// pause.
#[boxed]
pub async fn pause(tx: &mut Tx, id: i64, by: i64, until: Time) -> Result<()> {
    tx.query(sql!("UPDATE plugins SET paused_by = $2, paused_until = $3 WHERE id = $1"))
        .bind(id)
        .bind(by)
        .bind(until)
        .execute()
        .await?;
    Ok(())
}

/// Ends the pause that began with the same `by`; a pause by another server stays.
#[boxed]
pub async fn resume(tx: &mut Tx, id: i64, by: i64) -> Result<()> {
    tx.query(sql!("UPDATE plugins SET paused_by = NULL, paused_until = NULL WHERE id = $1 AND paused_by = $2"))
        .bind(id)
        .bind(by)
        .execute()
        .await?;
    Ok(())
}

/// The plugins that are paused at `now`, each with the latest end of its pause.
#[boxed]
pub async fn list_paused(db: Conn<'_>, now: Time) -> Result<Vec<(i64, Time)>> {
    db.query(sql!("SELECT p.id, p.paused_until FROM plugins p WHERE p.paused_until > $1")).bind(now).all().await
}

/// True when the plugin is paused at `now`.
#[boxed]
pub async fn is_paused(db: Conn<'_>, id: i64, now: Time) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM plugins p WHERE p.id = $1 AND p.paused_until > $2)"))
        .bind(id)
        .bind(now)
        .scalar()
        .await
}

/// Deletes the manifest that [`set_manifest`] stored.
#[boxed]
pub async fn clear_manifest(tx: &mut Tx, id: i64) -> Result<()> {
    tx.query(sql!("UPDATE plugins SET manifest = NULL WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Stores the manifest of the active package; false when it is already stored. A server that cannot load the package
/// reads from it which events to store for the plugin.
#[boxed]
pub async fn set_manifest(tx: &mut Tx, id: i64, manifest: &str) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE plugins SET manifest = $2 WHERE id = $1 AND manifest IS DISTINCT FROM $2"))
        .bind(id)
        .bind(manifest.to_owned())
        .execute()
        .await?;
    Ok(changed > 0)
}

/// The stored manifests of the enabled plugins, as (plugin, manifest, limits set by the admin).
#[boxed]
pub async fn list_manifests(db: Conn<'_>) -> Result<Vec<(i64, String, Json<Value>)>> {
    db.query(sql!(
        "SELECT p.id, p.manifest, p.limits FROM plugins p WHERE p.enabled AND p.manifest IS NOT NULL ORDER BY p.id"
    ))
    .all()
    .await
}

/// The version of the last migration applied to the plugin's tables; `None` without one.
#[boxed]
pub async fn schema_version(db: Conn<'_>, id: i64) -> Result<Option<i64>> {
    db.query(sql!("SELECT MAX(m.version) FROM plugin_migrations m WHERE m.plugin_id = $1")).bind(id).scalar().await
}
