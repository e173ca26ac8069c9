//! The schema of the database: the migrations make what `tests/frozen/schema` records, and a database of other migrations
//! is refused.

use std::collections::BTreeSet;
use std::time::Duration;

use store::db::{Db, Options};
use store::{Engine, migrate};

use crate::harness::TestDatabase;

/// A database with the schema and nothing else; the folder and the database go with what is returned beside it.
async fn open() -> (Db, tempfile::TempDir, TestDatabase) {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let options = Options {
        url: database.url.clone(),
        // Migrations that fail on PostgreSQL leave a lock to their connection.
        max_connections: 1,
        acquire_timeout: Duration::from_secs(30),
        plugin_connections: 2,
    };
    (Db::open(&options).await.unwrap(), folder, database)
}

/// The schema and the rows of the tables, a line for each of their parts: what the statements in `tests/api/schema` read.
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

/// The record is of the current version, and read as the inventory of the data model: a new migration changes it in the
/// same commit, on both engines. Its lines are sorted by their bytes.
#[tokio::test]
async fn base_schema_equals_the_recorded_one() {
    let (db, _folder, _database) = open().await;
    let (file, recorded) = match db.engine() {
        Engine::Sqlite => ("sqlite.txt", include_str!("../frozen/schema/sqlite.txt")),
        Engine::Postgres => ("postgres.txt", include_str!("../frozen/schema/postgres.txt")),
    };
    let recorded: BTreeSet<String> = recorded.lines().map(str::to_owned).collect();
    let made = inventory(&db).await;
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

#[tokio::test]
async fn database_of_a_development_version_is_refused() {
    let (db, _folder, _database) = open().await;
    assert!(migrate::pending(&db).await.unwrap().is_empty());
    // Its first migration had another name and another text; some of its numbers are not known any more.
    set_checksum(&db, 1).await;
    db.execute_raw("UPDATE _sqlx_migrations SET description = 'base' WHERE version = 1").await.unwrap();
    for _ in 0..2 {
        let refused = migrate::run(&db).await.unwrap_err().to_string();
        assert!(refused.contains("unreleased development version"), "{refused}");
        assert_eq!(migrate::pending(&db).await.unwrap_err().to_string(), refused);
        db.execute_raw("UPDATE _sqlx_migrations SET version = 74 WHERE version = 2").await.unwrap();
    }
}

#[tokio::test]
async fn migrations_of_a_newer_version_and_edited_ones_are_refused() {
    let (db, _folder, _database) = open().await;
    let last = *migrate::all().last().unwrap();
    let newer = format!("UPDATE _sqlx_migrations SET version = 9999 WHERE version = {last}");
    db.execute_raw(&newer).await.unwrap();
    let refused = migrate::run(&db).await.unwrap_err().to_string();
    assert!(refused.contains("9999") && !refused.contains("development"), "{refused}");
    assert_eq!(migrate::pending(&db).await.unwrap(), [last]);

    db.execute_raw(&format!("UPDATE _sqlx_migrations SET version = {last} WHERE version = 9999")).await.unwrap();
    set_checksum(&db, last).await;
    let refused = migrate::run(&db).await.unwrap_err().to_string();
    assert!(refused.contains(&last.to_string()) && !refused.contains("development"), "{refused}");
}

/// As if the migration had been edited since it ran.
async fn set_checksum(db: &Db, version: i64) {
    let checksum = match db.engine() {
        Engine::Sqlite => "x'00'",
        Engine::Postgres => r"'\x00'",
    };
    let text = format!("UPDATE _sqlx_migrations SET checksum = {checksum} WHERE version = {version}");
    db.execute_raw(&text).await.unwrap();
}
