//! Each layer that confines SQL of plugins, with the others disabled. The first layer, the check, has unit tests.

use std::sync::Arc;
use std::time::{Duration, Instant};

use database::Engine;
use database::confined::{ConfinedError, Limits, Scope, functions};
use plugin_package::manifest::Resolved;
use plugins::sql::{Quota, Statements, load};
use store::plugin_kv::{self, Item};

use super::sql::{ID, files, int, manifest, notes, register, text};
use crate::harness::TestApp;

const LIMITS: Limits = Limits { time: Duration::from_secs(30), rows: 1_000, bytes: 1 << 20 };

async fn scope(app: &TestApp) -> Arc<Scope> {
    let views = ["accounts", "statuses"].map(str::to_owned).into();
    Arc::new(Scope::find(app.db(), "notes", views).await.unwrap())
}

/// Another plugin with a table.
async fn other(app: &TestApp) {
    register(app, ID + 1, "other").await;
    let files = files(&[("migrations/0001_base.sql", "CREATE TABLE secrets (word TEXT NOT NULL)")]);
    let mut tx = app.db().begin().await.unwrap();
    let (now, time) = (app.app.clock.now(), Duration::from_secs(60));
    let progress = &mut plugins::sql::Progress::begin();
    plugins::sql::migrate(&mut tx, ID + 1, &manifest("other", ""), &files, now, time, progress).await.unwrap();
    tx.commit().await.unwrap();
}

const SQLITE: &[&str] = &[
    "ATTACH DATABASE ':memory:' AS x",
    "DETACH DATABASE main",
    "PRAGMA writable_schema = 1",
    "PRAGMA query_only = 0",
    "PRAGMA table_info(accounts)",
    "SELECT name FROM pragma_table_info('accounts')",
    "SELECT load_extension('x.so')",
    "SELECT randomblob(1000000000)",
    "SELECT printf('%.*c', 100000000, 'x')",
    "SELECT instr('a', 'b')",
    "SELECT json_group_array(id) FROM p_notes__notes",
    "SELECT unhex('00', 'x')",
    "SELECT private_key FROM accounts",
    "SELECT count(*) FROM oauth_tokens",
    "SELECT email FROM users",
    "SELECT (SELECT email FROM users) FROM p_notes__notes",
    "SELECT u.email FROM main.core_v1__accounts a JOIN users u ON u.account_id = a.id",
    "SELECT id FROM main.core_v1__follows",
    "SELECT sql FROM sqlite_master",
    "SELECT sql FROM sqlite_schema",
    "SELECT pgno FROM dbstat",
    "SELECT word FROM p_other__secrets",
    "INSERT INTO p_other__secrets VALUES ('x')",
    "UPDATE accounts SET username = 'x'",
    "UPDATE main.core_v1__accounts SET username = 'x'",
    "INSERT INTO p_notes__notes (account_id, title) SELECT 1, email FROM users",
    "DELETE FROM accounts",
    "DELETE FROM plugins",
    "DROP TABLE p_notes__notes",
    "DROP TABLE accounts",
    "CREATE TABLE p_notes__more (id INTEGER)",
    "CREATE TEMP TABLE p_notes__more (id INTEGER)",
    "CREATE VIEW p_notes__view AS SELECT email FROM users",
    "CREATE TRIGGER p_notes__trigger AFTER INSERT ON accounts BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE p_notes__search USING fts5(text)",
    "ALTER TABLE p_notes__notes ADD COLUMN more TEXT",
    "CREATE INDEX p_notes__more ON p_notes__notes (id)",
    "REINDEX accounts",
    "ANALYZE",
    "VACUUM",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "SELECT 1; DELETE FROM accounts",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "WITH core_v1__accounts AS (SELECT private_key FROM accounts) SELECT private_key FROM core_v1__accounts",
    "WITH CORE_V1__accounts AS (SELECT email AS e FROM users) SELECT e FROM core_v1__ACCOUNTS",
    "WITH \"core_v1__accounts\" AS (SELECT email AS e FROM users) SELECT e FROM [core_v1__accounts]",
    "SELECT e FROM (SELECT email AS e FROM users) AS core_v1__accounts",
];

const POSTGRES: &[&str] = &[
    "COPY public.users TO STDOUT",
    "COPY p_notes.notes FROM PROGRAM 'echo 1'",
    "COPY p_notes.notes TO '/tmp/rookery-notes'",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT pg_ls_dir('/')",
    "SELECT lo_import('/etc/passwd')",
    "SELECT private_key FROM public.accounts",
    "SELECT count(*) FROM public.oauth_tokens",
    "SELECT id FROM core_v1.follows",
    "SELECT u.email FROM core_v1.accounts a JOIN public.users u ON u.account_id = a.id",
    "SELECT rolpassword FROM pg_catalog.pg_authid",
    "SELECT passwd FROM pg_catalog.pg_shadow",
    "SELECT word FROM p_other.secrets",
    "INSERT INTO p_other.secrets VALUES ('x')",
    "UPDATE core_v1.accounts SET username = 'x'",
    "UPDATE public.accounts SET username = 'x'",
    "INSERT INTO p_notes.notes (account_id, title) SELECT 1, email FROM public.users",
    "DELETE FROM public.accounts",
    "DROP TABLE public.accounts",
    "DROP SCHEMA core_v1 CASCADE",
    "CREATE TABLE public.more (id BIGINT)",
    "CREATE SCHEMA more",
    "CREATE ROLE more",
    "ALTER ROLE rookery PASSWORD 'x'",
    "CREATE EXTENSION dblink",
    "ALTER SYSTEM SET jit = on",
    "SELECT 1; DELETE FROM public.accounts",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n",
];

#[tokio::test]
async fn engine_refuses_foreign_tables() {
    let app = TestApp::new().await;
    app.accounts(["alice"]).await;
    notes(&app).await;
    other(&app).await;
    let scope = scope(&app).await;
    let hostile = if app.db().engine() == Engine::Sqlite { SQLITE } else { POSTGRES };
    for source in hostile {
        let source: Arc<str> = (*source).into();
        let read = app.db().confined(&scope, &source, vec![], &LIMITS).await;
        assert!(read.is_err(), "{source} gave {read:?}");
        let mut tx = app.db().begin().await.unwrap();
        let run = tx.confined(&scope, &source, vec![], &LIMITS).await;
        assert!(run.is_err(), "{source} gave {run:?}");
        assert!(!matches!(run, Err(ConfinedError::Unavailable(_))), "{source}: {run:?}");
        drop(tx);
    }
    let kept: Vec<(String,)> =
        app.db().fetch_raw("SELECT username FROM accounts WHERE username = 'alice'").await.unwrap();
    assert_eq!(kept.len(), 1);
}

#[tokio::test]
async fn dropped_role_is_assumed_again() {
    let app = TestApp::new().await;
    notes(&app).await;
    if app.db().engine() == Engine::Sqlite {
        return;
    }
    let scope = scope(&app).await;
    let secret: Arc<str> = "SELECT private_key FROM public.accounts".into();
    for leave in
        ["SET ROLE NONE", "RESET ROLE", "SET LOCAL ROLE NONE", "SELECT set_config('role', 'none', false)", "RESET ALL"]
    {
        let mut tx = app.db().begin().await.unwrap();
        tx.confined(&scope, &leave.into(), vec![], &LIMITS).await.unwrap();
        let read = tx.confined(&scope, &secret, vec![], &LIMITS).await;
        assert!(matches!(read, Err(ConfinedError::Denied(_))), "after {leave}: {read:?}");
        tx.commit().await.unwrap();
        let read = app.db().confined(&scope, &secret, vec![], &LIMITS).await;
        assert!(matches!(read, Err(ConfinedError::Denied(_))), "after {leave}: {read:?}");
    }
}

#[tokio::test]
async fn shared_transaction_keeps_server_role() {
    let app = TestApp::new().await;
    app.accounts(["alice"]).await;
    let sql = notes(&app).await;
    let scope = scope(&app).await;
    let (own, hostile) = match app.db().engine() {
        Engine::Sqlite => ("SELECT count(*) FROM p_notes__notes", "DELETE FROM accounts"),
        Engine::Postgres => ("SELECT count(*) FROM p_notes.notes", "DELETE FROM public.accounts"),
    };
    let mut tx = app.db().begin().await.unwrap();
    for _ in 0..3 {
        sql.run(&mut tx, "summary", vec![]).await.unwrap();
        assert!(matches!(tx.confined(&scope, &hostile.into(), vec![], &LIMITS).await, Err(ConfinedError::Denied(_))));
        tx.confined(&scope, &own.into(), vec![], &LIMITS).await.unwrap();
        // A table that no plugin may read.
        store::plugin_schema::list(&mut tx, ID).await.unwrap();
    }
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn rollback_statement_ends_transaction() {
    let app = TestApp::new().await;
    let sql = notes(&app).await;
    if app.db().engine() == Engine::Postgres {
        return;
    }
    let scope = scope(&app).await;
    let again = "INSERT OR ROLLBACK INTO p_notes__notes (account_id, title) VALUES (1, 'same')";
    let mut tx = app.db().begin().await.unwrap();
    sql.run(&mut tx, "insert", vec![int(1), text("same")]).await.unwrap();
    let undone = tx.confined(&scope, &again.into(), vec![], &LIMITS).await;
    assert_eq!(undone, Err(ConfinedError::RolledBack));
    let after = sql.run(&mut tx, "insert", vec![int(1), text("after")]).await.unwrap_err();
    assert_eq!(after.code, "sql.unavailable");
    assert!(tx.commit().await.is_err());
    assert!(sql.read(&app.plugins(), "all", vec![int(1)]).await.unwrap().values.is_empty());
    // The next transaction is a whole one.
    let mut tx = app.db().begin().await.unwrap();
    sql.run(&mut tx, "insert", vec![int(1), text("same")]).await.unwrap();
    drop(tx);
    assert!(sql.read(&app.plugins(), "all", vec![int(1)]).await.unwrap().values.is_empty());
}

#[tokio::test]
async fn writer_has_limits_during_plugin_work() {
    let app = TestApp::new().await;
    notes(&app).await;
    if app.db().engine() == Engine::Postgres {
        return;
    }
    let scope = scope(&app).await;
    let insert = "INSERT INTO p_notes__notes (account_id, title) VALUES (1, 'title')";
    let double = "UPDATE p_notes__notes SET title = title || title";
    let mut tx = app.db().begin().await.unwrap();
    tx.confined(&scope, &insert.into(), vec![], &LIMITS).await.unwrap();
    let mut last = Ok(());
    for _ in 0..24 {
        last = last.and(tx.confined(&scope, &double.into(), vec![], &LIMITS).await.map(drop));
    }
    assert_eq!(last, Err(ConfinedError::Bytes(functions::MAX_VALUE_BYTES)));
    drop(tx);
    // The server's own values may be larger, also right after a statement of a plugin.
    let mut tx = app.db().begin().await.unwrap();
    tx.confined(&scope, &insert.into(), vec![], &LIMITS).await.unwrap();
    let large = Item { key: "large".to_owned(), value: vec![0; 9 << 20], expires_at: None };
    plugin_kv::set(&mut tx, ID, &[large]).await.unwrap();
    tx.commit().await.unwrap();
}

/// Statements that pass the check and reach nothing foreign: only the limits stop them.
const BOMBS: &str = "
-- name: fill   returns: exec
-- params: integers numbers
INSERT INTO notes (account_id, title) SELECT 1, 'note ' || e.value FROM {each:numbers as e} WHERE TRUE;

-- name: product   returns: many
SELECT count(*) AS n FROM notes a JOIN notes b ON TRUE JOIN notes c ON TRUE JOIN notes d ON TRUE WHERE a.id + b.id + c.id + d.id < 0;

-- name: long   returns: one
SELECT count(*) AS n FROM notes a JOIN notes b ON a.id + b.id > 0 WHERE a.id <= 300;

-- name: stored   returns: exec
INSERT INTO notes (account_id, title)
SELECT 2, 'x' FROM notes a JOIN notes b ON TRUE JOIN notes c ON TRUE JOIN notes d ON TRUE WHERE a.id + b.id + c.id + d.id < 0;

-- name: rows   returns: many   max-rows: 50
SELECT a.id FROM notes a JOIN notes b ON TRUE;

-- name: bytes   returns: many
SELECT group_concat(a.title || a.title || a.title || a.title, b.title) AS t FROM notes a JOIN notes b ON b.id <= 120 GROUP BY a.id;

-- name: copy   returns: exec
INSERT INTO notes (account_id, title) SELECT n.account_id + (SELECT max(m.account_id) FROM notes m), n.title FROM notes n WHERE TRUE;

-- name: lengthen   returns: exec
UPDATE notes SET title = title || title || id WHERE id < 50;

-- name: repeat   returns: exec
-- params: text title
INSERT INTO notes (account_id, title) VALUES (9, replace(:title, 'a', '0123456789012345678901234567890123456789') || (SELECT count(*) FROM notes));

-- name: remove   returns: exec
DELETE FROM notes WHERE account_id = 9;
";

/// The statements with a time limit of 600 ms, see [`load_bombs`].
async fn bombs(app: &TestApp, most: u64) -> Statements {
    notes(app).await;
    let sql = load_bombs(app, most, Duration::from_millis(600)).await;
    let mut tx = app.db().begin().await.unwrap();
    let numbers: Vec<i64> = (0..1_000).collect();
    sql.run(&mut tx, "fill", vec![text(&serde_json::to_string(&numbers).unwrap())]).await.unwrap();
    tx.commit().await.unwrap();
    sql
}

/// The statements with a time limit, which test servers multiply by 400.
async fn load_bombs(app: &TestApp, most: u64, statement_time: Duration) -> Statements {
    let manifest = manifest("notes", "");
    let source = BOMBS.replace("-- name: bytes   returns: many\n", "-- name: bytes   returns: many\n-- dialect: sqlite\n").replace(
        "GROUP BY a.id;",
        "GROUP BY a.id;\n-- dialect: postgres\nSELECT string_agg(a.title || a.title || a.title || a.title, b.title) AS t FROM notes a JOIN notes b ON b.id <= 120 GROUP BY a.id;",
    );
    let files = files(&[("migrations/0001_base.sql", super::sql::TABLES), ("sql/queries.sql", &source)]);
    let quota = Quota::new(app.db().clone(), ID, "notes".to_owned(), most);
    let mut tx = app.db().begin().await.unwrap();
    let limits = Resolved { statement_time, ..Resolved::default() };
    let sql = load(&app.plugins(), quota, &manifest, &limits, &files, &mut tx).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    sql
}

#[tokio::test]
async fn limits_alone_stop_permitted_but_excessive_statements() {
    let app = TestApp::new().await;
    let sql = bombs(&app, 1 << 30).await;
    let strict = load_bombs(&app, 1 << 30, Duration::from_millis(10)).await;
    let begun = Instant::now();
    assert_eq!(strict.read(&app.plugins(), "product", vec![]).await.unwrap_err().code, "sql.time");
    let mut tx = app.db().begin().await.unwrap();
    assert_eq!(strict.run(&mut tx, "stored", vec![]).await.unwrap_err().code, "sql.time");
    drop(tx);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let rows = sql.read(&app.plugins(), "rows", vec![]).await.unwrap();
    assert_eq!((rows.values.len(), rows.truncated), (50, true));
    assert_eq!(sql.read(&app.plugins(), "bytes", vec![]).await.unwrap_err().code, "sql.bytes");
    // The connections stay usable, for the plugin and for the server.
    for _ in 0..6 {
        assert_eq!(sql.read(&app.plugins(), "rows", vec![]).await.unwrap().values.len(), 50);
    }
    let mut tx = app.db().begin().await.unwrap();
    assert_eq!(sql.run(&mut tx, "rows", vec![]).await.unwrap().values.len(), 50);
    assert_eq!(store::plugin_kv::add(&mut tx, ID, "n", 1, app.app.clock.now()).await.unwrap(), Some(1));
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn relaxed_reads_run_long_and_end_when_cancelled() {
    let app = TestApp::new().await;
    let sql = bombs(&app, 1 << 30).await;
    let long = sql.read(&app.plugins(), "long", vec![]).await.unwrap();
    assert_eq!(long.values, [int(300_000)], "counting these rows takes a while");
    // More statements than read connections; PostgreSQL runs one until its time limit.
    let strict = load_bombs(&app, 1 << 30, Duration::from_millis(1)).await;
    for _ in 0..6 {
        let cut = tokio::time::timeout(Duration::from_millis(20), strict.read(&app.plugins(), "product", vec![])).await;
        assert!(cut.is_err(), "it was not cut off: {cut:?}");
    }
    assert_eq!(sql.read(&app.plugins(), "rows", vec![]).await.unwrap().values.len(), 50);
}

#[tokio::test]
async fn cancelled_statement_rolls_back_transaction() {
    let app = TestApp::new().await;
    let patient = bombs(&app, 1 << 30).await;
    // PostgreSQL runs an abandoned statement until its time limit, which is 4 seconds here; a writer of the same rows
    // waits for it.
    let sql = load_bombs(&app, 1 << 30, Duration::from_millis(10)).await;
    for name in ["stored", "product"] {
        let mut tx = app.db().begin().await.unwrap();
        patient.run(&mut tx, "fill", vec![text("[5000]")]).await.unwrap();
        let cut = tokio::time::timeout(Duration::from_millis(50), sql.run(&mut tx, name, vec![])).await;
        assert!(cut.is_err(), "{name} was not cut off");
        drop(tx);
        let mut tx = app.db().begin().await.unwrap();
        let kept = store::plugin_kv::add(&mut tx, ID, "n", 1, app.app.clock.now()).await.unwrap();
        assert!(kept.is_some(), "the next transaction is the server's own");
        tx.commit().await.unwrap();
    }
    let mut tx = app.db().begin().await.unwrap();
    patient.run(&mut tx, "fill", vec![text("[5000]")]).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn full_quota_stops_only_growth() {
    let app = TestApp::new().await;
    let sql = bombs(&app, 1 << 20).await;
    let mut tx = app.db().begin().await.unwrap();
    let long = text(&serde_json::to_string(&vec![7; 600_000]).unwrap());
    let full = sql.run(&mut tx, "fill", vec![long]).await.unwrap_err();
    assert_eq!((full.status, full.code.as_str()), (507, "sql.quota"));
    sql.run(&mut tx, "remove", vec![]).await.unwrap();
    sql.run(&mut tx, "rows", vec![]).await.unwrap();
    tx.commit().await.unwrap();
    let quota = Quota::new(app.db().clone(), ID, "notes".to_owned(), 1);
    quota.measure().await.unwrap();
    assert!(quota.used() > 30_000, "{} bytes of a thousand notes", quota.used());
    assert!(!quota.take(1));
}

#[tokio::test]
async fn amplifying_statement_is_measured_before_commit() {
    let app = TestApp::new().await;
    for (name, params) in [("copy", vec![]), ("lengthen", vec![]), ("repeat", vec![text(&"a".repeat(2_000))])] {
        // PostgreSQL compresses values that are lengthened repeatedly.
        if name == "lengthen" && app.db().engine() == Engine::Postgres {
            continue;
        }
        let sql = bombs(&app, 1 << 20).await;
        let code = async {
            loop {
                let mut tx = app.db().begin().await.unwrap();
                if let Err(failure) = sql.run(&mut tx, name, params.clone()).await {
                    break (failure.status, failure.code);
                }
                tx.commit().await.unwrap();
            }
        };
        let code = tokio::time::timeout(Duration::from_secs(60), code).await.unwrap();
        // If the plugin was measured in between, the statement is rejected before it runs.
        assert!(code.0 == 507 && ["sql.undone", "sql.quota"].contains(&code.1.as_str()), "{name}: {code:?}");
        let quota = Quota::new(app.db().clone(), ID, "notes".to_owned(), 1);
        quota.ready().await.unwrap();
        // PostgreSQL reuses the space of rolled back rows.
        let room = if app.db().engine() == Engine::Sqlite { 1 << 20 } else { 4 << 20 };
        assert!(quota.used() <= room, "{name}: {}", quota.used());
        drop_notes(&app).await;
    }
}

async fn drop_notes(app: &TestApp) {
    let mut tx = app.db().begin().await.unwrap();
    plugins::sql::drop_all(&mut tx, ID, "notes").await.unwrap();
    store::plugin::delete(&mut tx, ID).await.unwrap();
    tx.commit().await.unwrap();
}

#[tokio::test]
async fn restart_does_not_reset_quota() {
    let app = TestApp::new().await;
    bombs(&app, 1 << 30).await;
    let manifest = manifest("notes", "");
    let files = files(&[("migrations/0001_base.sql", super::sql::TABLES), ("sql/queries.sql", BOMBS_OF_ONE)]);
    let quota = Quota::new(app.db().clone(), ID, "notes".to_owned(), 20_000);
    let mut tx = app.db().begin().await.unwrap();
    let sql = load(&app.plugins(), quota, &manifest, &Resolved::default(), &files, &mut tx).await;
    let full = sql.unwrap().unwrap().run(&mut tx, "plain", vec![]).await.unwrap_err();
    assert_eq!((full.status, full.code.as_str()), (507, "sql.quota"));
}

const BOMBS_OF_ONE: &str = "
-- name: plain   returns: exec
INSERT INTO notes (account_id, title) VALUES (3, 'first');
";
