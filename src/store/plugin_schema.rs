//! Which migrations of plugins ran, whose rows their tables hold, and how large they are.

use std::collections::BTreeMap;

use super::{Db, Executor, Result, Tx};
use crate::model::Time;
use crate::plugins::PluginId;
use crate::sql;

/// A migration that ran.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table plugin_migrations")]
pub struct Applied {
    pub version: i64,
    pub name: String,
    pub sha256: String,
    pub compatible_from: Option<i64>,
}

/// A migration that has just run.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "columns of the table plugin_migrations")]
pub struct NewApplied<'a> {
    pub version: i64,
    pub name: &'a str,
    pub sha256: &'a str,
    pub applied_at: Time,
    pub duration_ms: i64,
    pub compatible_from: Option<i64>,
}

/// In order.
///
/// # Errors
/// When the database does.
pub async fn list(db: impl Executor, plugin: PluginId) -> Result<Vec<Applied>> {
    db.query(sql!(
        "SELECT version, name, sha256, compatible_from FROM plugin_migrations WHERE plugin_id = $1 ORDER BY version"
    ))
    .bind(plugin)
    .all()
    .await
}

/// Those of all plugins, in order, by the plugin.
///
/// # Errors
/// When the database does.
pub async fn list_all(db: impl Executor) -> Result<BTreeMap<PluginId, Vec<Applied>>> {
    #[derive(sqlx::FromRow)]
    struct Row {
        plugin_id: PluginId,
        #[sqlx(flatten)]
        applied: Applied,
    }
    let rows: Vec<Row> = db
        .query(sql!(
            "SELECT plugin_id, version, name, sha256, compatible_from FROM plugin_migrations ORDER BY plugin_id, version"
        ))
        .all()
        .await?;
    let mut all: BTreeMap<PluginId, Vec<Applied>> = BTreeMap::new();
    for row in rows {
        all.entry(row.plugin_id).or_default().push(row.applied);
    }
    Ok(all)
}

/// Notes that a migration ran.
///
/// # Errors
/// When the database does.
pub async fn insert(tx: &mut Tx, plugin: PluginId, applied: &NewApplied<'_>) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO plugin_migrations (plugin_id, version, name, sha256, applied_at, duration_ms, compatible_from)
         VALUES ($1, $2, $3, $4, $5, $6, $7)"
    ))
    .bind(plugin)
    .bind(applied.version)
    .bind(applied.name.to_owned())
    .bind(applied.sha256.to_owned())
    .bind(applied.applied_at)
    .bind(applied.duration_ms)
    .bind(applied.compatible_from)
    .execute()
    .await?;
    Ok(())
}

/// Forgets all migrations of a plugin whose tables are gone.
///
/// # Errors
/// When the database does.
pub async fn forget(tx: &mut Tx, plugin: PluginId) -> Result<()> {
    tx.query(sql!("DELETE FROM plugin_migrations WHERE plugin_id = $1")).bind(plugin).execute().await?;
    tx.query(sql!("DELETE FROM plugin_owner_columns WHERE plugin_id = $1")).bind(plugin).execute().await?;
    Ok(())
}

/// Bytes of a plugin's tables, their indexes and its small values. Reads all of it on SQLite: not for every request.
///
/// # Errors
/// When the database does.
pub async fn size(db: &Db, plugin: PluginId, name: &str) -> Result<i64> {
    let place = match db.engine() {
        super::Engine::Sqlite => format!("p_{name}__*"),
        super::Engine::Postgres => format!("p_{name}"),
    };
    db.query(sql!(
        sqlite: "SELECT COALESCE((SELECT SUM(d.pgsize) FROM sqlite_schema s CROSS JOIN dbstat d
                                  WHERE d.name = s.name AND d.aggregate = 1 AND s.tbl_name GLOB $1), 0)
                      + COALESCE((SELECT SUM(LENGTH(k.key) + LENGTH(k.value)) FROM plugin_kv k WHERE k.plugin_id = $2), 0)";
        postgres: "SELECT (COALESCE((SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c
                                     JOIN pg_namespace n ON n.oid = c.relnamespace
                                     WHERE n.nspname = $1 AND c.relkind = 'r'), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(k.key) + OCTET_LENGTH(k.value)) FROM plugin_kv k WHERE k.plugin_id = $2), 0))::BIGINT"
    ))
    .bind(place)
    .bind(plugin)
    .scalar()
    .await
}

/// Bytes of what holds the tables of the plugin called `name`, as this transaction leaves it: the difference of two such
/// numbers is what came in between. Costs next to nothing. On SQLite the whole file holds them, and nobody else writes.
///
/// # Errors
/// When the database does.
pub async fn extent(tx: &mut Tx, name: &str) -> Result<i64> {
    tx.query(sql!(
        sqlite: "SELECT (p.page_count - f.freelist_count) * s.page_size
                 FROM pragma_page_count p JOIN pragma_freelist_count f JOIN pragma_page_size s WHERE $1 IS NOT NULL";
        postgres: "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0)::BIGINT FROM pg_class c
                   JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE n.nspname = $1 AND c.relkind = 'r'"
    ))
    .bind(format!("p_{name}"))
    .scalar()
    .await
}

/// A table with rows that belong to accounts.
#[derive(Clone, Debug, sqlx::FromRow)]
#[expect(missing_docs, reason = "columns of the table plugin_owner_columns")]
pub struct Owned {
    pub plugin_id: PluginId,
    pub plugin: String,
    pub table_name: String,
    pub column_name: String,
    pub feed: Option<String>,
}

/// Such tables of all plugins that are installed, whether they are on or off.
///
/// # Errors
/// When the database does.
pub async fn list_owned(db: impl Executor) -> Result<Vec<Owned>> {
    db.query(sql!(
        "SELECT p.id AS plugin_id, p.name AS plugin, o.table_name, o.column_name, o.feed FROM plugins p
         JOIN plugin_owner_columns o ON o.plugin_id = p.id
         ORDER BY p.name, o.table_name"
    ))
    .all()
    .await
}

/// A reference from one table of a plugin to another, or to itself.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Reference {
    /// The table that refers.
    pub holder: String,
    /// The table that it refers to.
    pub target: String,
    /// What becomes of the rows of `holder` when a row of `target` is deleted: `CASCADE`, `SET NULL`, or another: they keep it.
    pub on_delete: String,
}

/// The references between the tables of the plugin called `name`.
///
/// # Errors
/// When the database does.
pub async fn list_references(tx: &mut Tx, name: &str) -> Result<Vec<Reference>> {
    let place = match tx.engine() {
        super::Engine::Sqlite => format!("p_{name}__"),
        super::Engine::Postgres => format!("p_{name}"),
    };
    tx.query(sql!(
        sqlite: "SELECT substr(s.name, LENGTH($1) + 1) AS holder, substr(k.\"table\", LENGTH($1) + 1) AS target, k.on_delete
                 FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) k
                 WHERE s.type = 'table' AND s.name GLOB $1 || '*'
                 ORDER BY s.name, k.id";
        postgres: "SELECT h.relname::TEXT AS holder, t.relname::TEXT AS target,
                          CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END AS on_delete
                   FROM pg_constraint c
                   JOIN pg_class h ON h.oid = c.conrelid
                   JOIN pg_class t ON t.oid = c.confrelid
                   JOIN pg_namespace n ON n.oid = h.relnamespace
                   WHERE c.contype = 'f' AND n.nspname = $1
                   ORDER BY h.relname, c.conname"
    ))
    .bind(place)
    .all()
    .await
}

/// These are the tables of a plugin with rows that belong to accounts, with the column that says to whose; `feeds` are those
/// that go with the rows of a table.
///
/// # Errors
/// When the database does.
pub async fn set_owned(
    tx: &mut Tx,
    plugin: PluginId,
    columns: &BTreeMap<String, String>,
    feeds: &BTreeMap<String, String>,
) -> Result<()> {
    tx.query(sql!("DELETE FROM plugin_owner_columns WHERE plugin_id = $1")).bind(plugin).execute().await?;
    for (table, column) in columns {
        tx.query(sql!(
            "INSERT INTO plugin_owner_columns (plugin_id, table_name, column_name, feed) VALUES ($1, $2, $3, $4)"
        ))
        .bind(plugin)
        .bind(table.clone())
        .bind(column.clone())
        .bind(feeds.get(table).cloned())
        .execute()
        .await?;
    }
    Ok(())
}
