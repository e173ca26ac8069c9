//! The store interface: both engines prepare every statement, and have the same tables.

use std::collections::BTreeMap;

use context::queue::{self, AcceptRequests, Job as _, MaintainFeeds};
use database::Engine;
use database::sql::STATEMENTS;
use model::job::Lane;
use store::job::{self, Attempt};

use crate::harness::TestApp;

#[tokio::test]
async fn every_statement_prepares() {
    let app = TestApp::new().await;
    let mut broken = Vec::new();
    for statement in STATEMENTS {
        if let Err(error) = app.db().prepare(*statement).await {
            broken.push(format!("{}:{}: {error}", statement.place.0, statement.place.1));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(STATEMENTS.len() > 10, "the register is filled");
}

/// Tables and columns as a migration file declares them. Types and indexes may differ between engines.
fn schema(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut tables = BTreeMap::new();
    let mut table: Option<(String, Vec<String>)> = None;
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("CREATE TABLE ") {
            table = Some((rest.trim_end_matches(" (").to_owned(), Vec::new()));
        } else if line.starts_with(')') {
            tables.extend(table.take());
        } else if let Some((_, columns)) = &mut table {
            let word = line.split_whitespace().next().unwrap_or_default();
            if word.chars().all(|c| c.is_ascii_lowercase() || c == '_') && !word.is_empty() {
                columns.push(word.to_owned());
            }
        }
    }
    tables
}

#[test]
fn both_engines_have_the_same_tables_and_columns() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let read = |engine: &str| {
        let mut files: Vec<_> =
            std::fs::read_dir(folder.join(engine)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let names: Vec<_> = files.iter().map(|file| file.file_name().unwrap().to_owned()).collect();
        let text: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
        (names, schema(&text))
    };
    let (sqlite, postgres) = (read("sqlite"), read("postgres"));
    assert_eq!(sqlite.0, postgres.0, "the same files");
    assert_eq!(sqlite.1, postgres.1);
    assert!(sqlite.1.len() > 30, "the files were understood");
}

#[tokio::test]
async fn job_with_expired_lease_passes_to_next_worker() {
    let app = TestApp::new().await;
    let cx = &app.app;
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await.unwrap();
    queue::enqueue(cx, &mut tx, &MaintainFeeds::begin()).await.unwrap();
    let slow = job::claim(&mut tx, Lane::Background, now, now, 1).await.unwrap()[0].claim;
    job::retry(&mut tx, slow, Attempt::Counts, now, "its worker was killed").await.unwrap();
    let next = job::claim_ids(&mut tx, &[slow.id], now).await.unwrap()[0];

    assert!(!job::delete(&mut tx, slow).await.unwrap());
    assert!(!job::dead_letter(&mut tx, slow, "late").await.unwrap());
    assert!(!job::reschedule(&mut tx, slow, now).await.unwrap());
    job::retry(&mut tx, slow, Attempt::TakenBack, now, "late").await.unwrap();
    assert!(job::delete(&mut tx, next).await.unwrap(), "the next worker still has it");
}

#[tokio::test]
async fn newest_dead_letters_are_kept() {
    let app = TestApp::new().await;
    let now = app.app.clock.now();
    let mut tx = app.db().begin().await.unwrap();
    for account in 1..=5 {
        queue::enqueue(&app.app, &mut tx, &AcceptRequests { account: account.into() }).await.unwrap();
    }
    for row in job::claim(&mut tx, Lane::Background, now, now, 5).await.unwrap() {
        assert!(job::dead_letter(&mut tx, row.claim, "it failed").await.unwrap());
    }
    let kind = AcceptRequests::KIND;
    assert_eq!(job::delete_dead_beyond(&mut tx, "expire_mute", 0).await.unwrap(), 0, "others stay");
    assert_eq!(job::delete_dead_beyond(&mut tx, kind, 2).await.unwrap(), 3);
    assert_eq!(job::delete_dead_beyond(&mut tx, kind, 2).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let left = "SELECT key FROM jobs WHERE kind = 'accept_requests' AND state = 'dead' ORDER BY id";
    let left: Vec<(String,)> = app.db().fetch_raw(left).await.unwrap();
    assert_eq!(left, [("4".to_owned(),), ("5".to_owned(),)]);
}

#[tokio::test]
async fn node_tables_list_every_table_with_ids() {
    let app = TestApp::new().await;
    let text = match app.db().engine() {
        Engine::Sqlite => {
            "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND c.name = 'id' AND c.pk = 1 ORDER BY m.name"
        }
        Engine::Postgres => {
            "SELECT k.table_name::text FROM information_schema.key_column_usage k
             JOIN information_schema.table_constraints t ON t.constraint_name = k.constraint_name
             WHERE t.constraint_type = 'PRIMARY KEY' AND k.column_name = 'id' AND k.table_schema = 'public'
             ORDER BY k.table_name"
        }
    };
    let tables: Vec<(String,)> = app.db().fetch_raw(text).await.unwrap();
    let mut known = store::node::TABLES.to_vec();
    known.sort_unstable();
    assert_eq!(tables.iter().map(|(name,)| name.as_str()).collect::<Vec<_>>(), known);
}

#[tokio::test]
async fn idle_transaction_ends_on_postgres() {
    let app = TestApp::new().await;
    if app.db().engine() == Engine::Postgres {
        let limit: Vec<(String,)> = app.db().fetch_raw("SHOW idle_in_transaction_session_timeout").await.unwrap();
        assert_eq!(limit, [("1min".to_owned(),)]);
    }
}
