//! Schema migrations: brings the database to the version of this binary.
//!
//! Each migration is a pair of files of the same number in `migrations/sqlite` and `migrations/postgres`, embedded in
//! the binary. Run when a server starts and by the command line. There are no down migrations, and the tables of
//! plugins have migrations of their own (`plugins::sql`).

use std::borrow::Cow;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::db::Pools;
use super::{Db, Result};
use crate::sql;

/// Number, name, SQLite text, PostgreSQL text. A released migration is never edited.
const MIGRATIONS: &[(i64, &str, &str, &str)] = &[
    (
        1,
        "base",
        include_str!("../../migrations/sqlite/0001_base.sql"),
        include_str!("../../migrations/postgres/0001_base.sql"),
    ),
    (
        2,
        "plugins",
        include_str!("../../migrations/sqlite/0002_plugins.sql"),
        include_str!("../../migrations/postgres/0002_plugins.sql"),
    ),
    (
        3,
        "core_views",
        include_str!("../../migrations/sqlite/0003_core_views.sql"),
        include_str!("../../migrations/postgres/0003_core_views.sql"),
    ),
    (
        4,
        "notices",
        include_str!("../../migrations/sqlite/0004_notices.sql"),
        include_str!("../../migrations/postgres/0004_notices.sql"),
    ),
    (
        5,
        "plugin_feed_kinds",
        include_str!("../../migrations/sqlite/0005_plugin_feed_kinds.sql"),
        include_str!("../../migrations/postgres/0005_plugin_feed_kinds.sql"),
    ),
    (
        6,
        "removal",
        include_str!("../../migrations/sqlite/0006_removal.sql"),
        include_str!("../../migrations/postgres/0006_removal.sql"),
    ),
    (
        7,
        "plugin_nodes",
        include_str!("../../migrations/sqlite/0007_plugin_nodes.sql"),
        include_str!("../../migrations/postgres/0007_plugin_nodes.sql"),
    ),
    (
        8,
        "small_rows",
        include_str!("../../migrations/sqlite/0008_small_rows.sql"),
        include_str!("../../migrations/postgres/0008_small_rows.sql"),
    ),
    (
        9,
        "relations_version",
        include_str!("../../migrations/sqlite/0009_relations_version.sql"),
        include_str!("../../migrations/postgres/0009_relations_version.sql"),
    ),
    (
        10,
        "bounded_functions",
        include_str!("../../migrations/sqlite/0010_bounded_functions.sql"),
        include_str!("../../migrations/postgres/0010_bounded_functions.sql"),
    ),
    (
        11,
        "plugin_quotas",
        include_str!("../../migrations/sqlite/0011_plugin_quotas.sql"),
        include_str!("../../migrations/postgres/0011_plugin_quotas.sql"),
    ),
    (
        12,
        "public_tags",
        include_str!("../../migrations/sqlite/0012_public_tags.sql"),
        include_str!("../../migrations/postgres/0012_public_tags.sql"),
    ),
    (
        13,
        "id_nodes",
        include_str!("../../migrations/sqlite/0013_id_nodes.sql"),
        include_str!("../../migrations/postgres/0013_id_nodes.sql"),
    ),
    (
        14,
        "seal_keys",
        include_str!("../../migrations/sqlite/0014_seal_keys.sql"),
        include_str!("../../migrations/postgres/0014_seal_keys.sql"),
    ),
    (
        15,
        "list_notices",
        include_str!("../../migrations/sqlite/0015_list_notices.sql"),
        include_str!("../../migrations/postgres/0015_list_notices.sql"),
    ),
    (
        16,
        "filters",
        include_str!("../../migrations/sqlite/0016_filters.sql"),
        include_str!("../../migrations/postgres/0016_filters.sql"),
    ),
    (
        18,
        "polls",
        include_str!("../../migrations/sqlite/0018_polls.sql"),
        include_str!("../../migrations/postgres/0018_polls.sql"),
    ),
    (
        19,
        "scheduled_statuses",
        include_str!("../../migrations/sqlite/0019_scheduled_statuses.sql"),
        include_str!("../../migrations/postgres/0019_scheduled_statuses.sql"),
    ),
    (
        20,
        "notifications",
        include_str!("../../migrations/sqlite/0020_notifications.sql"),
        include_str!("../../migrations/postgres/0020_notifications.sql"),
    ),
    (
        22,
        "conversations",
        include_str!("../../migrations/sqlite/0022_conversations.sql"),
        include_str!("../../migrations/postgres/0022_conversations.sql"),
    ),
    (
        23,
        "announcements",
        include_str!("../../migrations/sqlite/0023_announcements.sql"),
        include_str!("../../migrations/postgres/0023_announcements.sql"),
    ),
    (
        24,
        "reports",
        include_str!("../../migrations/sqlite/0024_reports.sql"),
        include_str!("../../migrations/postgres/0024_reports.sql"),
    ),
    (
        25,
        "domain_blocks",
        include_str!("../../migrations/sqlite/0025_domain_blocks.sql"),
        include_str!("../../migrations/postgres/0025_domain_blocks.sql"),
    ),
];

/// Runs the pending migrations in order, each in a transaction of its own.
///
/// # Errors
/// [`super::Error::Migrate`] when a migration fails, or one that ran before has been edited since (checksum mismatch).
pub async fn run(db: &Db) -> Result<()> {
    match &db.pools {
        Pools::Sqlite(_) => run_sqlite(db, &migrator(|m| m.2)).await,
        Pools::Postgres(pool) => Ok(migrator(|m| m.3).run(pool).await?),
    }
}

/// The table of sqlx's migrations, which an earlier version of this server made.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
)";

/// As sqlx does on PostgreSQL. Another process may be at it too, so each transaction looks anew.
async fn run_sqlite(db: &Db, migrator: &Migrator) -> Result<()> {
    let mut tx = db.begin().await?;
    tx.run_batch(TABLE).await?;
    let applied: Vec<(i64,)> = tx.query(sql!("SELECT version FROM _sqlx_migrations ORDER BY version")).all().await?;
    tx.commit().await?;
    if let Some((version,)) = applied.iter().find(|(version,)| !migrator.version_exists(*version)) {
        return Err(MigrateError::VersionMissing(*version).into());
    }
    for migration in migrator.iter() {
        apply(db, migration).await?;
    }
    Ok(())
}

async fn apply(db: &Db, migration: &Migration) -> Result<()> {
    let mut tx = db.begin().await?;
    let applied: Option<(Vec<u8>, bool)> = tx
        .query(sql!("SELECT checksum, success FROM _sqlx_migrations WHERE version = $1"))
        .bind(migration.version)
        .optional()
        .await?;
    match applied {
        Some((_, false)) => return Err(MigrateError::Dirty(migration.version).into()),
        Some((checksum, _)) if checksum != *migration.checksum => {
            return Err(MigrateError::VersionMismatch(migration.version).into());
        }
        Some(_) => return Ok(()),
        None => {}
    }
    tx.run_batch(migration.sql.as_str()).await?;
    tx.query(sql!(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES ($1, $2, TRUE, $3, -1)"
    ))
    .bind(migration.version)
    .bind(migration.description.to_string())
    .bind(migration.checksum.to_vec())
    .execute()
    .await?;
    tx.commit().await
}

/// The numbers of all migrations of this version.
#[must_use]
pub fn all() -> Vec<i64> {
    MIGRATIONS.iter().map(|m| m.0).collect()
}

/// The numbers of the migrations of this version that the database has not seen.
///
/// # Errors
/// [`super::Error::Sql`] also when no migration ever ran: the table `_sqlx_migrations` does not exist then.
pub async fn pending(db: &Db) -> Result<Vec<i64>> {
    let applied: Vec<i64> =
        db.query(sql!("SELECT version FROM _sqlx_migrations WHERE success ORDER BY version")).scalars().await?;
    Ok(all().into_iter().filter(|number| !applied.contains(number)).collect())
}

fn migrator(text: impl Fn(&(i64, &'static str, &'static str, &'static str)) -> &'static str) -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|m| Migration::new(m.0, Cow::Borrowed(m.1), MigrationType::Simple, text(m).into_sql_str(), false))
        .collect();
    Migrator::with_migrations(migrations)
}
