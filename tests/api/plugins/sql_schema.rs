//! Migrations of plugins, and their tables after the deletion of an account or plugin.

use database::Engine;
use model::AccountId;
use plugin_package::manifest::Resolved;
use plugin_package::sql::Files;
use plugins::sql::{Migrated, Progress, drop_all, load, migrate};
use rookery_plugin_host::{LoadError, Stage};
use store::plugin_data::{export_account, purge_account, purge_part};
use store::plugin_schema;

use super::sql::{ID, QUERIES, TABLES, apply, files, int, manifest, notes, quota, register, text};
use crate::harness::TestApp;

/// Runs the migrations of a package and commits them.
async fn commit(app: &TestApp, rest: &str, files: &Files) -> Result<Migrated, LoadError> {
    let (about, rest) = rest.split_once('|').unwrap_or(("", rest));
    let mut manifest = manifest("notes", rest);
    manifest.plugin.compatible_from = about.parse().ok();
    let mut tx = app.db().begin().await.unwrap();
    let done = apply(app, &mut tx, &manifest, files).await?;
    tx.commit().await.unwrap();
    Ok(done)
}

async fn tables(app: &TestApp) -> Vec<String> {
    let text = match app.db().engine() {
        Engine::Sqlite => {
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'p#_notes#_#_%' ESCAPE '#' ORDER BY name"
        }
        Engine::Postgres => "SELECT tablename::TEXT FROM pg_tables WHERE schemaname = 'p_notes' ORDER BY tablename",
    };
    let rows: Vec<(String,)> = app.db().fetch_raw(text).await.unwrap();
    rows.into_iter().map(|(name,)| name.trim_start_matches("p_notes__").to_owned()).collect()
}

fn sentence(fault: &LoadError, words: &[&str]) {
    for word in words {
        assert!(fault.message.contains(word), "{word} is not in: {}", fault.message);
    }
    assert!(!fault.message.contains('\n') && fault.message.contains("notes"), "{}", fault.message);
}

#[tokio::test]
async fn migrations_run_once_in_order() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let first = files(&[("migrations/0001_base.sql", TABLES)]);
    assert_eq!(commit(&app, "", &first).await.unwrap().applied, [1]);
    assert_eq!(commit(&app, "", &first).await.unwrap(), Migrated { version: 1, ..Migrated::default() });
    let more = files(&[
        ("migrations/0001_base.sql", TABLES),
        ("migrations/0002_more.sqlite.sql", "ALTER TABLE notes ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"),
        ("migrations/0002_more.postgres.sql", "ALTER TABLE notes ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';"),
        (
            "migrations/0003_other.sql",
            "-- contract\nCREATE TABLE colours (name TEXT PRIMARY KEY); INSERT INTO colours (name) SELECT DISTINCT colour FROM notes;
             ALTER TABLE colours RENAME TO shades; ALTER TABLE notes RENAME COLUMN weight TO heaviness;
             DROP INDEX notes_title; ALTER TABLE notes DROP COLUMN raw;",
        ),
        ("migrations/readme.txt", "no SQL"),
    ]);
    let done = commit(&app, "", &more).await.unwrap();
    assert_eq!(done, Migrated { applied: vec![2, 3], version: 3, contract: true, more: false });
    assert_eq!(tables(&app).await, ["marks", "notes", "shades"]);
    assert_eq!(plugin_schema::list(app.db(), ID).await.unwrap().len(), 3);
}

#[tokio::test]
async fn failed_migration_changes_nothing() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    for (broken, words) in [
        ("CREATE TABLE more (id INTEGER); INSERT INTO more (id, other) VALUES (1, 2);", vec!["0002_broken", "failed"]),
        ("CREATE TABLE more (id INTEGER); DROP TABLE public.accounts;", vec!["0002_broken", "bare names"]),
        ("CREATE TABLE more (id INTEGER REFERENCES core_v1.accounts (id));", vec!["plugin's own"]),
        ("CREATE TABLE more (id VARCHAR(9));", vec!["varchar(9)", "text"]),
    ] {
        let files = files(&[("migrations/0001_base.sql", TABLES), ("migrations/0002_broken.sql", broken)]);
        let fault = commit(&app, "", &files).await.unwrap_err();
        assert_eq!(fault.stage, Stage::Migrate);
        sentence(&fault, &words);
        assert!(tables(&app).await.is_empty());
        assert!(plugin_schema::list(app.db(), ID).await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn changed_or_missing_migration_is_noticed() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let one = ("migrations/0001_base.sql", TABLES);
    let three = ("migrations/0003_more.sql", "CREATE TABLE more (id INTEGER);");
    commit(&app, "", &files(&[one, three])).await.unwrap();
    let edited = format!("{TABLES} -- harmless?");
    for (package, words) in [
        (files(&[("migrations/0001_base.sql", &edited), three]), vec!["0001_base", "edited"]),
        (files(&[three]), vec!["0001_base", "restore"]),
        (
            files(&[one, ("migrations/0002_late.sql", "CREATE TABLE late (id INTEGER);"), three]),
            vec!["2", "higher number"],
        ),
        (files(&[one, ("migrations/0003_other.sqlite.sql", ""), three]), vec!["two migrations"]),
        (files(&[one, three, ("migrations/0004_half.sqlite.sql", "")]), vec!["0004_half", "other file"]),
        (files(&[one, three, ("migrations/more.sql", "")]), vec!["no number"]),
        (files(&[one]), vec!["0003_more", "compatible-from"]),
    ] {
        sentence(&commit(&app, "", &package).await.unwrap_err(), &words);
    }
}

#[tokio::test]
async fn older_package_runs_where_newer_allows() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let one = ("migrations/0001_base.sql", TABLES);
    let two = ("migrations/0002_more.sql", "ALTER TABLE notes ADD COLUMN colour TEXT;");
    commit(&app, "1|", &files(&[one, two])).await.unwrap();
    assert_eq!(commit(&app, "", &files(&[one])).await.unwrap().version, 2);
}

#[tokio::test]
async fn old_generation_serves_while_new_expands() {
    let app = TestApp::new().await;
    let old = notes(&app).await;
    let mut tx = app.db().begin().await.unwrap();
    old.run(&mut tx, "insert", vec![int(1), text("before")]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(old.read(&app.plugins(), "all", vec![int(1)]).await.unwrap().columns.len(), 6);
    let two = ("migrations/0002_more.sql", "ALTER TABLE notes ADD COLUMN colour TEXT NOT NULL DEFAULT 'red';");
    let package = files(&[("migrations/0001_base.sql", TABLES), two, ("sql/queries.sql", QUERIES)]);
    // A candidate that is rolled back changes nothing …
    let mut tx = app.db().begin().await.unwrap();
    apply(&app, &mut tx, &manifest("notes", ""), &package).await.unwrap();
    drop(tx);
    assert_eq!(plugin_schema::list(app.db(), ID).await.unwrap().len(), 1);
    old.read(&app.plugins(), "all", vec![int(1)]).await.unwrap();
    // … and one that is kept, nothing that the old one sees.
    commit(&app, "[permissions]\ncore-views = [\"accounts\"]", &package).await.unwrap();
    let mut tx = app.db().begin().await.unwrap();
    old.run(&mut tx, "insert", vec![int(1), text("after")]).await.unwrap();
    tx.commit().await.unwrap();
    let all = old.read(&app.plugins(), "all", vec![int(1)]).await.unwrap();
    assert_eq!((all.columns.len(), all.values.len()), (6, 12));
}

#[tokio::test]
async fn invalid_statement_is_refused_at_load() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    for (source, rest, words) in [
        ("-- name: x returns: many\nSELECT nothing FROM notes;", "", vec!["statement x", "the database refuses it"]),
        ("-- name: x returns: many\nSELECT id FROM nowhere;", "", vec!["statement x", "nowhere"]),
        (
            "-- name: x returns: many\nSELECT id FROM core_v1.statuses;",
            "",
            vec!["statement x", "permissions.core-views"],
        ),
        (
            "-- name: x returns: many\nSELECT id FROM core_v1.statuses;",
            "[permissions]\ncore-views = [\"users\"]",
            vec!["users", "statuses:private"],
        ),
        ("-- name: x returns: many\nSELECT load_extension('x');", "", vec!["statement x", "load_extension"]),
        ("-- name: x returns: page(status)\nSELECT id FROM notes;", "", vec!["statement x", "{page:column}"]),
        ("-- name: x returns: few\nSELECT 1;", "", vec!["line 1", "few", "optional"]),
        ("-- name: x returns: one\n-- dialect: sqlite\nSELECT 1;", "", vec!["x", "PostgreSQL"]),
        ("-- name: x returns: one\nSELECT 1;\n-- name: x returns: one\nSELECT 2;", "", vec!["two statements"]),
        ("-- name: x returns: one\n-- params: number n\nSELECT 1;", "", vec!["line 2", "number", "integers"]),
        ("SELECT 1;", "", vec!["line 1", "-- name:"]),
        (
            "-- name: x returns: one\nSELECT 1 AS a;",
            "owner-columns = { notes = \"nobody\" }",
            vec!["owner-columns", "nobody"],
        ),
    ] {
        let package = files(&[("migrations/0001_base.sql", TABLES), ("sql/queries.sql", source)]);
        let manifest = manifest("notes", rest);
        let mut tx = app.db().begin().await.unwrap();
        let fault = match apply(&app, &mut tx, &manifest, &package).await {
            Err(fault) => fault,
            Ok(_) => {
                let load = load(&app.plugins(), quota(&app), &manifest, &Resolved::default(), &package, &mut tx).await;
                let fault = load.unwrap_err();
                assert_eq!(fault.stage, Stage::Statements, "{}", fault.message);
                fault
            }
        };
        sentence(&fault, &words);
    }
}

#[tokio::test]
async fn statement_with_too_many_texts_is_refused() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    for (calls, wanted) in [(31, true), (32, false), (390, false)] {
        let calls = vec!["length(upper(:word))"; calls].join(" + ");
        let source =
            format!("-- name: x returns: one\n-- params: text word\nSELECT {calls} + length(upper('a')) AS n;");
        let package = files(&[("migrations/0001_base.sql", TABLES), ("sql/queries.sql", &source)]);
        let mut tx = app.db().begin().await.unwrap();
        let manifest = manifest("notes", "");
        apply(&app, &mut tx, &manifest, &package).await.unwrap();
        let loaded = load(&app.plugins(), quota(&app), &manifest, &Resolved::default(), &package, &mut tx).await;
        match loaded {
            Ok(_) => assert!(wanted),
            Err(fault) => {
                assert!(!wanted, "{}", fault.message);
                sentence(&fault, &["texts at once", "the limit is 64"]);
            }
        }
    }
}

#[tokio::test]
async fn foreign_key_to_a_table_that_does_not_exist_is_refused() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    for table in [
        "CREATE TABLE marks (id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL REFERENCES nots (id) ON DELETE CASCADE);",
        "CREATE TABLE marks (id INTEGER PRIMARY KEY, note_id INTEGER, FOREIGN KEY (note_id) REFERENCES nots (id));",
    ] {
        let package = files(&[("migrations/0001_base.sql", table), ("sql/queries.sql", "")]);
        let mut tx = app.db().begin().await.unwrap();
        let fault = apply(&app, &mut tx, &manifest("notes", ""), &package).await.unwrap_err();
        assert_eq!(fault.stage, Stage::Migrate, "{}", fault.message);
        sentence(&fault, &["nots", "not exist"]);
    }
}

#[tokio::test]
async fn account_reference_without_cascade_is_refused_at_load() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let owner = "CREATE TABLE notes (id INTEGER PRIMARY KEY, account_id INTEGER NOT NULL, parent INTEGER REFERENCES notes (id) ON DELETE SET NULL);";
    let keeps = "CREATE TABLE marks (note_id INTEGER NOT NULL REFERENCES notes (id));";
    let goes = "CREATE TABLE marks (id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL REFERENCES notes (id) ON DELETE CASCADE);";
    let further =
        "CREATE TABLE words (mark_id INTEGER, FOREIGN KEY (mark_id) REFERENCES marks (id) ON DELETE RESTRICT);";
    for (tables, who) in [
        (format!("{owner}{goes}"), None),
        (format!("{owner}{keeps}"), Some("marks refers to notes")),
        (format!("{owner}{goes}{further}"), Some("words refers to marks")),
    ] {
        let queries = "-- name: x returns: one\nSELECT 1 AS a;";
        let package = files(&[("migrations/0001_base.sql", tables.as_str()), ("sql/queries.sql", queries)]);
        let manifest = manifest("notes", "owner-columns = { notes = \"account_id\" }");
        let mut tx = app.db().begin().await.unwrap();
        apply(&app, &mut tx, &manifest, &package).await.unwrap();
        let loaded = load(&app.plugins(), quota(&app), &manifest, &Resolved::default(), &package, &mut tx).await;
        match who {
            None => assert!(loaded.is_ok(), "{loaded:?}"),
            Some(who) => {
                let fault = loaded.unwrap_err();
                assert_eq!(fault.stage, Stage::Statements);
                sentence(&fault, &[who, "ON DELETE CASCADE"]);
            }
        }
    }
}

#[tokio::test]
async fn previous_package_runs_on_probed_schema() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let one = ("migrations/0001_base.sql", TABLES);
    let two = ("migrations/0002_more.sql", "ALTER TABLE notes ADD COLUMN colour TEXT;");
    let three = ("migrations/0003_more.sql", "ALTER TABLE notes ADD COLUMN size INTEGER;");
    let four = ("migrations/0004_less.sql", "-- contract\nALTER TABLE notes DROP COLUMN colour;");
    for package in [vec![one], vec![one, two], vec![one, two, three]] {
        commit(&app, "", &files(&package)).await.unwrap();
    }
    assert_eq!(commit(&app, "", &files(&[one, two])).await.unwrap().version, 3);
    assert_eq!(commit(&app, "", &files(&[one])).await.unwrap().version, 3, "it was tried with the one between");
    commit(&app, "", &files(&[one, two, three, four])).await.unwrap();
    for package in [vec![one, two, three], vec![one]] {
        sentence(&commit(&app, "", &files(&package)).await.unwrap_err(), &["0004_less", "compatible-from"]);
    }
}

#[tokio::test]
async fn account_deletion_cascades_to_plugin_rows() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let package = files(&[("migrations/0001_base.sql", TABLES), ("sql/queries.sql", QUERIES)]);
    let rest = "owner-columns = { notes = \"account_id\" }\n[permissions]\ncore-views = [\"accounts\"]";
    commit(&app, rest, &package).await.unwrap();
    let mut tx = app.db().begin().await.unwrap();
    let sql =
        load(&app.plugins(), quota(&app), &manifest("notes", rest), &Resolved::default(), &package, &mut tx).await;
    let sql = sql.unwrap().unwrap();
    for (account, title) in [(1, "mine"), (1, "too"), (2, "theirs")] {
        sql.run(&mut tx, "insert", vec![int(account), text(title)]).await.unwrap();
    }
    sql.run(&mut tx, "mark", vec![int(1), text("[\"x\"]")]).await.unwrap();
    tx.commit().await.unwrap();

    let given = export_account(app.db(), AccountId::from(1)).await.unwrap();
    assert_eq!(given["notes"]["notes"][0]["title"], "mine");
    assert_eq!(given["notes"]["notes"][1]["title"], "too");
    assert_eq!(given["notes"]["notes"].as_array().unwrap().len(), 2);

    let mut tx = app.db().begin().await.unwrap();
    assert_eq!(purge_part(&mut tx, AccountId::from(1), 1).await.unwrap(), 1, "within its limit");
    assert_eq!(purge_account(&mut tx, AccountId::from(1)).await.unwrap(), 1);
    assert_eq!(purge_account(&mut tx, AccountId::from(1)).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(export_account(app.db(), AccountId::from(1)).await.unwrap()["notes"]["notes"], serde_json::json!([]));
    assert_eq!(sql.read(&app.plugins(), "all", vec![int(2)]).await.unwrap().values[1], text("theirs"));
}

#[tokio::test]
async fn purged_plugin_leaves_nothing() {
    let app = TestApp::new().await;
    notes(&app).await;
    assert_eq!(tables(&app).await, ["marks", "notes"]);
    let mut tx = app.db().begin().await.unwrap();
    drop_all(&mut tx, ID, "notes").await.unwrap();
    tx.commit().await.unwrap();
    assert!(tables(&app).await.is_empty());
    assert!(plugin_schema::list(app.db(), ID).await.unwrap().is_empty());
    // It can be installed again.
    assert_eq!(commit(&app, "", &files(&[("migrations/0001_base.sql", TABLES)])).await.unwrap().applied, [1]);
}

#[tokio::test]
async fn migration_in_batches_lets_others_write_and_is_applied_once() {
    let app = TestApp::new().await;
    register(&app, ID, "notes").await;
    let fill = "INSERT INTO notes (account_id, title) VALUES (1, 'a'), (1, 'b'), (1, 'c'), (1, 'd'), (1, 'e')";
    let batched = "-- batch: 2\nUPDATE notes SET account_id = 2 WHERE account_id = 1";
    let all = [
        ("migrations/0001_base.sql", TABLES),
        ("migrations/0002_fill.sql", fill),
        ("migrations/0003_batched.sql", batched),
        ("migrations/0004_more.sql", "CREATE INDEX notes_account ON notes (account_id)"),
    ];
    let (package, manifest, mut progress) = (files(&all), manifest("notes", ""), Progress::begin());
    let mut steps = Vec::new();
    loop {
        let mut tx = app.db().begin().await.unwrap();
        let (now, time) = (app.app.clock.now(), std::time::Duration::from_secs(60));
        let done = migrate(&mut tx, ID, &manifest, &package, now, time, &mut progress).await.unwrap();
        tx.commit().await.unwrap();
        steps.push((done.applied.clone(), done.more));
        if !done.more {
            break;
        }
    }
    let batch = (vec![], true);
    assert_eq!(steps, [(vec![1, 2], true), batch.clone(), batch.clone(), batch, (vec![3, 4], false)]);
    let endless = "-- batch: 2\nUPDATE notes SET account_id = 2 WHERE account_id = 2";
    let package = files(&[&all[..], &[("migrations/0005_endless.sql", endless)]].concat());
    let mut progress = Progress::begin();
    let fault = loop {
        let mut tx = app.db().begin().await.unwrap();
        let (now, time) = (app.app.clock.now(), std::time::Duration::from_secs(60));
        match migrate(&mut tx, ID, &manifest, &package, now, time, &mut progress).await {
            Ok(done) => assert!(done.more),
            Err(fault) => break fault,
        }
        tx.commit().await.unwrap();
    };
    assert!(fault.lasting);
    sentence(&fault, &["goes on changing rows"]);
    for (source, words) in [
        ("-- batch: 0\nDELETE FROM notes WHERE id = 1", "no number"),
        ("-- batch: 5\nDELETE FROM notes", "every row"),
        ("-- batch: 5\nDELETE FROM notes WHERE id = 1; DELETE FROM notes WHERE id = 2", "one statement"),
        ("-- batch: 5\nCREATE TABLE x (id INTEGER)", "one plain UPDATE or DELETE"),
    ] {
        let package = files(&[&all[..], &[("migrations/0005_wrong.sql", source)]].concat());
        sentence(&commit(&app, "", &package).await.unwrap_err(), &[words]);
    }
}
