//! The schemas of plugins as recorded by the server: applied migrations, tables with rows that belong to accounts,
//! references between the tables, and their sizes.
//!
//! Reached from `plugins::sql`. Does not change the tables themselves: [`confined`](database::confined) does.

use std::collections::BTreeMap;
use std::time::Duration;

use database::{Conn, Db, Result, Tx, sql};
use model::{PluginId, Time, boxed};

/// An applied migration.
#[derive(Clone, Debug, model::Row)]
#[row(table = "plugin_migrations", alias = "m")]
pub struct AppliedMigration {
    pub version: i64,
    pub name: String,
    pub sha256: String,
    pub compatible_from: Option<i64>,
}

/// The applied migrations of `plugin`, in order.
#[boxed]
pub async fn list(db: Conn<'_>, plugin: PluginId) -> Result<Vec<AppliedMigration>> {
    db.query(sql!(
        "SELECT " applied_migration_columns!() " FROM plugin_migrations m WHERE m.plugin_id = $1 ORDER BY m.version"
    ))
    .bind(plugin)
    .all()
    .await
}

/// As [`list`], for all plugins.
#[boxed]
pub async fn list_all(db: Conn<'_>) -> Result<BTreeMap<PluginId, Vec<AppliedMigration>>> {
    #[derive(model::Row)]
    struct Row {
        plugin_id: PluginId,
        #[row(flatten)]
        applied: AppliedMigration,
    }
    let rows: Vec<Row> = db
        .query(sql!(
            "SELECT m.plugin_id, " applied_migration_columns!() " FROM plugin_migrations m ORDER BY m.plugin_id, m.version"
        ))
        .all()
        .await?;
    let mut all: BTreeMap<PluginId, Vec<AppliedMigration>> = BTreeMap::new();
    for row in rows {
        all.entry(row.plugin_id).or_default().push(row.applied);
    }
    Ok(all)
}

/// Records that a migration was applied at `now`, which took `time`.
#[boxed]
pub async fn insert(
    tx: &mut Tx,
    plugin: PluginId,
    applied: &AppliedMigration,
    now: Time,
    time: Duration,
) -> Result<()> {
    tx.query(sql!(applied_migration_insert!("plugin_id", "applied_at", "duration_ms")))
        .bind(plugin)
        .bind(now)
        .bind(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
        .bind_row(applied)
        .execute()
        .await?;
    Ok(())
}

/// Deletes the records of migrations and of owner columns of a plugin whose tables are gone.
#[boxed]
pub async fn forget(tx: &mut Tx, plugin: PluginId) -> Result<()> {
    tx.query(sql!("DELETE FROM plugin_migrations WHERE plugin_id = $1")).bind(plugin).execute().await?;
    tx.query(sql!("DELETE FROM plugin_owner_columns WHERE plugin_id = $1")).bind(plugin).execute().await?;
    Ok(())
}

/// The size in bytes of a plugin's tables with their indexes, its key-value items, its account settings, and the
/// payloads of its waiting jobs, whose kind is `jobs`. On SQLite it reads all their pages: not for every request.
///
/// SQLite does not reorder the `CROSS JOIN`: `dbstat` is queried for each table and index by name, instead of reading
/// the whole file.
#[boxed]
pub async fn size(db: &Db, plugin: PluginId, name: &str, jobs: &str) -> Result<i64> {
    let place = match db.engine() {
        database::Engine::Sqlite => format!("p_{name}__*"),
        database::Engine::Postgres => format!("p_{name}"),
    };
    db.query(sql!(
        sqlite: "SELECT COALESCE((SELECT SUM(d.pgsize) FROM sqlite_schema s CROSS JOIN dbstat d
                                  WHERE d.name = s.name AND d.aggregate = 1 AND s.tbl_name GLOB $1), 0)
                      + COALESCE((SELECT SUM(LENGTH(k.key) + LENGTH(k.value)) FROM plugin_kv k WHERE k.plugin_id = $2), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(p.value)) FROM plugin_settings p WHERE p.plugin_id = $2), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(j.payload)) FROM jobs j
                                  WHERE j.kind = $3 AND j.key IS NOT NULL AND j.state = 'ready'), 0)";
        postgres: "SELECT (COALESCE((SELECT SUM(pg_total_relation_size(c.oid)) FROM pg_class c
                                     JOIN pg_namespace n ON n.oid = c.relnamespace
                                     WHERE n.nspname = $1 AND c.relkind = 'r'), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(k.key) + OCTET_LENGTH(k.value)) FROM plugin_kv k WHERE k.plugin_id = $2), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(p.value::TEXT)) FROM plugin_settings p WHERE p.plugin_id = $2), 0)
                      + COALESCE((SELECT SUM(OCTET_LENGTH(j.payload::TEXT)) FROM jobs j
                                  WHERE j.kind = $3 AND j.key IS NOT NULL AND j.state = 'ready'), 0))::BIGINT"
    ))
    .bind(place)
    .bind(plugin)
    .bind(jobs.to_owned())
    .scalar()
    .await
}

/// The size in bytes of the storage with the tables of the plugin called `name`, as this transaction sees it: the
/// difference between two calls is the amount written in between. Cheap. On PostgreSQL it is the plugin's schema; on
/// SQLite the used pages of the whole file, which no other transaction changes meanwhile. `$1` is tested there only
/// because the parameter must occur in both texts.
#[boxed]
pub async fn storage_size(tx: &mut Tx, name: &str) -> Result<i64> {
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

/// A table of a plugin with rows that belong to accounts.
#[derive(Clone, Debug, model::Row)]
pub struct OwnedTable {
    pub plugin_id: PluginId,
    pub plugin: String,
    pub table_name: String,
    pub column_name: String,
    pub feed: Option<String>,
}

/// The tables with rows that belong to accounts, of all plugins, including disabled ones.
#[boxed]
pub async fn list_owned(db: Conn<'_>) -> Result<Vec<OwnedTable>> {
    db.query(sql!(
        "SELECT p.id AS plugin_id, p.name AS plugin, o.table_name, o.column_name, o.feed FROM plugins p
         JOIN plugin_owner_columns o ON o.plugin_id = p.id
         ORDER BY p.name, o.table_name"
    ))
    .all()
    .await
}

/// A reference from one table of a plugin to another, or to itself.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct ForeignKey {
    pub holder: String,
    pub target: String,
    /// The action on the rows of `holder` when a row of `target` is deleted: `CASCADE`, `SET NULL`, or another action
    /// that keeps the reference.
    pub on_delete: String,
}

/// The foreign keys between the tables of the plugin called `name`, from the catalogue of the engine, without prefix
/// or schema.
#[boxed]
pub async fn list_references(tx: &mut Tx, name: &str) -> Result<Vec<ForeignKey>> {
    let place = match tx.engine() {
        database::Engine::Sqlite => format!("p_{name}__"),
        database::Engine::Postgres => format!("p_{name}"),
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

/// Replaces the records of tables of a plugin with rows that belong to accounts: `columns` maps each table to the
/// column with the account, `feeds` a table to the feed whose entries are deleted with its rows.
#[boxed]
pub async fn replace_owned(
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
