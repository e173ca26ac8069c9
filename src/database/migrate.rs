//! Schema migrations: brings the database to the version of this binary.
//!
//! Each migration is a pair of files of the same number in `migrations/sqlite` and `migrations/postgres`, embedded in
//! the binary. The first ones are the base schema of 0.1, by aggregate: in order, they document the data model. Run
//! at the start of a server and by the command line. There are no down migrations, and the tables of plugins have
//! separate migrations (`plugins::sql`).

use std::borrow::Cow;

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};

use super::db::Pools;
use super::{Db, Error, Result};
use crate::sql;

/// Number and name of a migration, its text for SQLite and its text for PostgreSQL.
type Pair = (i64, &'static str, &'static str, &'static str);

/// The migrations with these file names, `0001_accounts`.
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

/// All migrations, by number: the base schema of 0.1, followed by its changes.
///
/// A released file is never edited. A schema change is a new pair of files with the next number, and also updates the
/// schema record (`tests/frozen/schema`).
const MIGRATIONS: &[Pair] = migrations![
    "0001_accounts",
    "0002_users",
    "0003_oauth",
    "0004_statuses",
    "0005_interactions",
    "0006_tags",
    "0007_media",
    "0008_polls",
    "0009_relationships",
    "0010_timelines",
    "0011_filters",
    "0012_notifications",
    "0013_conversations",
    "0014_discovery",
    "0015_moderation",
    "0016_server",
    "0017_operation",
    "0018_plugins",
    "0019_own_data",
    "0020_core_views",
    "0021_domain_policy",
    "0022_federation",
    "0023_remote_threads",
    "0024_remote_hosts",
    "0025_conversation_statuses",
    "0026_staff",
    "0027_addresses",
    "0028_figures",
    "0029_sign_up_days",
    "0030_shares",
    "0031_bounds",
    "0032_quotas",
    "0033_plugin_permission",
    "0034_suspended_by_origin",
    "0035_held_statuses",
    "0036_former_usernames",
    "0037_moves",
    "0038_domain_lists",
    "0039_report_uris",
    "0040_local_only",
    "0041_relays",
    "0042_remote_files",
    "0043_retention",
    "0044_interaction_policies",
    "0045_terms_of_service",
    "0046_username_blocks",
    "0047_drafts",
    "0048_session_tokens",
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

/// The part of a file name after the number.
const fn name(file: &'static str) -> &'static str {
    file.split_at(5).1
}

/// Runs the pending migrations in order, each in a separate transaction.
///
/// # Errors
/// [`Error::Migrate`] when a migration fails, when an applied migration has been edited since (checksum mismatch), or
/// when an applied migration is unknown (from a newer version); [`Error::Unreleased`] for the database of a
/// development version.
pub async fn run(db: &Db) -> Result<()> {
    let done = match &db.pools {
        Pools::Sqlite(_) => run_sqlite(db, &migrator(|m| m.2)).await,
        Pools::Postgres(pool) => migrator(|m| m.3).run(pool).await.map_err(Error::from),
    };
    let strange = |error: &Error| {
        matches!(error, Error::Migrate(MigrateError::VersionMissing(_) | MigrateError::VersionMismatch(_)))
    };
    if done.as_ref().is_err_and(strange) {
        applied(db).await?;
    }
    done
}

/// The table of migrations, as sqlx creates it on PostgreSQL.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
)";

/// As sqlx does on PostgreSQL. Another process may be migrating too, so each transaction checks again.
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

/// The numbers of this version's migrations that the database has not applied.
///
/// # Errors
/// As [`applied`].
pub async fn pending(db: &Db) -> Result<Vec<i64>> {
    let applied = applied(db).await?;
    Ok(all().into_iter().filter(|number| !applied.contains(number)).collect())
}

/// The numbers of the applied migrations.
///
/// # Errors
/// [`Error::Unreleased`] for migrations of a development version, whose first had another name. An error of the
/// engine if no migration ever ran: the table `_sqlx_migrations` does not exist then.
async fn applied(db: &Db) -> Result<Vec<i64>> {
    let applied: Vec<(i64, String)> = db
        .query(sql!("SELECT version, description FROM _sqlx_migrations WHERE success ORDER BY version"))
        .all()
        .await?;
    let (first, name, ..) = MIGRATIONS[0];
    if applied.iter().any(|(version, description)| *version == first && description != name) {
        return Err(Error::Unreleased);
    }
    Ok(applied.into_iter().map(|(version, _)| version).collect())
}

fn migrator(text: impl Fn(&Pair) -> &'static str) -> Migrator {
    let migrations = MIGRATIONS
        .iter()
        .map(|m| Migration::new(m.0, Cow::Borrowed(m.1), MigrationType::Simple, text(m).into_sql_str(), false))
        .collect();
    Migrator::with_migrations(migrations)
}
