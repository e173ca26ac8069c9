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

/// Number and name of a migration, its text for SQLite and its text for PostgreSQL.
type Pair = (i64, &'static str, &'static str, &'static str);

/// The migrations of these file names, `0001_base`.
macro_rules! migrations {
    ($($file:literal),+ $(,)?) => {
        &[$((
            number($file),
            name($file),
            include_str!(concat!("../../migrations/sqlite/", $file, ".sql")),
            include_str!(concat!("../../migrations/postgres/", $file, ".sql")),
        )),+]
    };
}

/// All of them, by number. A released one is never edited.
const MIGRATIONS: &[Pair] = migrations![
    "0001_base",
    "0002_plugins",
    "0003_core_views",
    "0004_notices",
    "0005_plugin_feed_kinds",
    "0006_removal",
    "0007_plugin_nodes",
    "0008_small_rows",
    "0009_relations_version",
    "0010_bounded_functions",
    "0011_plugin_quotas",
    "0012_public_tags",
    "0013_id_nodes",
    "0014_seal_keys",
    "0015_list_notices",
    "0016_filters",
    "0018_polls",
    "0019_scheduled_statuses",
    "0020_notifications",
    "0022_conversations",
    "0023_announcements",
    "0024_reports",
    "0025_domain_blocks",
    "0026_status_terms",
    "0028_directory",
    "0029_trends",
    "0030_suggestions",
    "0031_preview_cards",
    "0032_link_review",
    "0033_media_failures",
    "0034_references",
    "0035_markdown",
    "0036_status_expiration",
    "0039_imports",
    "0040_status_cleanup",
    "0042_session_browsers",
    "0044_core_view_applications",
    "0048_node_changes",
    "0049_limited_conversations",
    "0051_core_view_tokens",
    "0052_invited_by",
    "0053_push",
    "0054_plugin_keys",
    "0058_quote_policies",
    "0059_card_creators",
    "0060_archives",
    "0061_cached_images",
    "0064_status_cleanup_exceptions",
    "0065_plugin_indexes",
    "0066_mentions_in_text",
    "0070_write_trials",
    "0071_translation_use",
    "0072_vote_places",
    "0073_profile_tabs",
    "0074_account_names",
];

/// The four digits at the beginning of a file name.
const fn number(file: &str) -> i64 {
    let digits = file.as_bytes();
    let (mut number, mut at) = (0, 0);
    while at < 4 {
        number = number * 10 + (digits[at] - b'0') as i64;
        at += 1;
    }
    number
}

/// What follows them.
const fn name(file: &'static str) -> &'static str {
    file.split_at(5).1
}

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

fn migrator(text: impl Fn(&Pair) -> &'static str) -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|m| Migration::new(m.0, Cow::Borrowed(m.1), MigrationType::Simple, text(m).into_sql_str(), false))
        .collect();
    Migrator::with_migrations(migrations)
}
