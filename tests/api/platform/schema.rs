//! The database schema: the migrations create the schema recorded in `tests/frozen/schema`, and a database with other
//! migrations is rejected.

use std::collections::BTreeSet;
use std::time::Duration;

use database::db::Db;
use database::{Engine, Options, migrate};

use crate::harness::TestDatabase;

async fn connect(database: &TestDatabase) -> Db {
    let options = Options {
        url: database.url.clone(),
        max_connections: 1,
        acquire_timeout: Duration::from_secs(30),
        plugin_connections: 2,
    };
    Db::open(&options).await.unwrap()
}

/// The schema and the rows of the tables, a line for each of their parts, read by the statements in
/// `tests/api/platform/schema`.
async fn inventory(db: &Db) -> BTreeSet<String> {
    let (schema, rows) = match db.engine() {
        Engine::Sqlite => (include_str!("schema/sqlite.sql"), include_str!("schema/sqlite_rows.sql")),
        Engine::Postgres => (include_str!("schema/postgres.sql"), include_str!("schema/postgres_rows.sql")),
    };
    let mut statements = vec![schema.to_owned()];
    statements.extend(read(db, rows).await);
    let mut lines = BTreeSet::new();
    for statement in statements {
        lines.extend(read(db, &statement).await);
    }
    lines
}

async fn read(db: &Db, statement: &str) -> Vec<String> {
    let rows: Vec<(String,)> = db.fetch_raw(statement).await.unwrap();
    rows.into_iter().map(|(text,)| text).collect()
}

/// The record describes the current version and serves as inventory of the data model: a new migration changes it in
/// the same commit, on both engines. Its lines are sorted by bytes.
#[tokio::test]
async fn base_schema_equals_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = connect(&database).await;
    let (file, recorded) = match db.engine() {
        Engine::Sqlite => ("sqlite.txt", include_str!("../../frozen/schema/sqlite.txt")),
        Engine::Postgres => ("postgres.txt", include_str!("../../frozen/schema/postgres.txt")),
    };
    let recorded: BTreeSet<String> = recorded.lines().map(str::to_owned).collect();
    let made = inventory(&db).await;
    db.close().await;
    let (missing, surplus) = (lines(&recorded, &made), lines(&made, &recorded));
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "The migrations do not make the schema in tests/frozen/schema/{file}; if a new migration changes it, change the \
         file.\nRecorded, but not made:\n{missing}Made, but not recorded:\n{surplus}"
    );
    assert!(made.len() > 1_000, "the schema was read");
}

/// The lines of `these` that `those` lacks.
fn lines(these: &BTreeSet<String>, those: &BTreeSet<String>) -> String {
    these.difference(those).map(|line| format!("{line}\n")).collect()
}

/// The errors of running and of listing the migrations on a database after `change`.
///
/// Each on a new connection: migrations that fail on PostgreSQL leave a lock on their connection.
async fn refused(database: &TestDatabase, change: &str) -> (String, Result<Vec<i64>, String>) {
    let db = connect(database).await;
    db.execute_raw(change).await.unwrap();
    let pending = migrate::pending(&db).await.map_err(|error| error.to_string());
    let refused = migrate::run(&db).await.unwrap_err().to_string();
    db.close().await;
    (refused, pending)
}

/// As if the migration had been different when it ran.
fn edit(engine: Engine, version: i64) -> String {
    let checksum = match engine {
        Engine::Sqlite => "x'00'",
        Engine::Postgres => r"'\x00'",
    };
    format!("UPDATE _sqlx_migrations SET checksum = {checksum} WHERE version = {version}")
}

#[tokio::test]
async fn database_of_a_development_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = connect(&database).await;
    // Its first migration had another name and text.
    db.execute_raw("UPDATE _sqlx_migrations SET description = 'base' WHERE version = 1").await.unwrap();
    let edited = edit(db.engine(), 1);
    db.close().await;
    // Some of its version numbers are unknown.
    for change in [edited.as_str(), "UPDATE _sqlx_migrations SET version = 74 WHERE version = 2"] {
        let (refused, pending) = refused(&database, change).await;
        assert!(refused.contains("unreleased development version"), "{refused}");
        assert_eq!(pending, Err(refused));
    }
}

#[tokio::test]
async fn migrations_that_are_newer_or_edited_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = connect(&database).await;
    let edited = edit(db.engine(), 2);
    db.close().await;
    for (change, number) in
        [(edited.as_str(), "2"), ("UPDATE _sqlx_migrations SET version = 9999 WHERE version = 2", "9999")]
    {
        let (refused, pending) = refused(&database, change).await;
        assert!(refused.contains(number) && !refused.contains("development"), "{refused}");
        assert_eq!(pending, Ok(if number == "2" { Vec::new() } else { vec![2] }));
    }
}
