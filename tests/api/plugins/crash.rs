//! Kills while plugins are compiled, migrated and sent events: the next start is complete, and every event is
//! delivered exactly once.
//!
//! Runs the real binary and ends it with SIGKILL. `KILL_ROUNDS` sets the number of kills; 3 by default.

use std::path::Path;
use std::time::Duration;

use database::Db;
use database::db::Engine;

use super::guest;
use crate::harness::TestDatabase;
use crate::platform::crash::{Server, prepare, program, publish, rounds, settle};

/// The probe with one more migration for each of `rounds`: each creates a table and fills it.
fn put(folder: &Path, rounds: usize) {
    let package = folder.join("plugins/probe");
    guest::copy_built("probe", &package);
    for round in 1..=rounds {
        let number = round + 1;
        let rows: Vec<String> = (0..400).map(|row| format!("({row})")).collect();
        let text = format!(
            "CREATE TABLE round{round} (number BIGINT PRIMARY KEY);\nINSERT INTO round{round} (number) VALUES {};\n",
            rows.join(", ")
        );
        std::fs::write(package.join(format!("migrations/{number:04}_round{round}.sql")), text).unwrap();
    }
}

fn table(db: &Db, name: &str) -> String {
    match db.engine() {
        Engine::Sqlite => format!("p_probe__{name}"),
        Engine::Postgres => format!("p_probe.{name}"),
    }
}

async fn count(db: &Db, what: &str) -> i64 {
    db.fetch_raw::<(i64,)>(&format!("SELECT COUNT(*) FROM {what}")).await.unwrap()[0].0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn start_after_kill_is_complete_and_delivers_events_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = prepare(&database.url).await;
    let command = || {
        let mut command = program(folder.path(), &database.url);
        command.env("ROOKERY_SERVER_DEVELOPMENT", "true").env("ROOKERY_PLUGINS_EMBEDDED", "false");
        command
    };
    put(folder.path(), 0);
    for arguments in [&["plugin", "enable", "probe", "--yes"][..], &["plugin", "grant", "probe"]] {
        assert!(command().args(arguments).status().unwrap().success(), "{arguments:?}");
    }
    let (mut posted, mut unanswered) = (0, 0);
    for round in 1..=rounds() {
        put(folder.path(), round);
        let _ = std::fs::remove_dir_all(folder.path().join("plugin-cache"));
        // Between reading the package and serving it.
        let mut server = Server::spawn(command());
        tokio::time::sleep(Duration::from_millis(100 + (round as u64 * 173) % 900)).await;
        server.kill();
        // While it serves, with events in flight.
        let mut server = Server::spawn(command());
        assert!(server.answers(Duration::from_secs(60)).await, "round {round}: it does not start");
        let address = server.address;
        let posting = tokio::spawn(async move {
            let mut number = 0;
            while publish(address, &format!("r{round}n{number}")).await.is_some() {
                number += 1;
            }
            number
        });
        tokio::time::sleep(Duration::from_millis(200 + (round as u64 * 97) % 350)).await;
        server.kill();
        posted += posting.await.unwrap();
        unanswered += 1;
    }

    let lease = "UPDATE jobs SET lease_until = created_at WHERE state = 'running'";
    db.execute_raw(lease).await.unwrap();
    let server = Server::spawn(command());
    assert!(server.answers(Duration::from_secs(60)).await, "it does not start");
    settle(&db).await;
    for _ in 0..600 {
        if count(&db, "plugin_events").await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(count(&db, "plugin_events").await, 0, "events are left");
    for round in 1..=rounds() {
        assert_eq!(count(&db, &table(&db, &format!("round{round}"))).await, 400, "the migration of round {round}");
    }
    let migrations = i64::try_from(rounds()).unwrap() + 1;
    assert_eq!(count(&db, "plugin_migrations").await, migrations);
    let statuses = count(&db, "statuses").await;
    assert!((posted..=posted + unanswered).contains(&statuses) && posted > 0, "{posted} posted, {statuses} there");
    let heard = table(&db, "heard");
    assert_eq!(count(&db, &format!("{heard} WHERE kind = 'status.created'")).await, statuses, "each is told once");
    let distinct = format!("(SELECT DISTINCT about FROM {heard} WHERE kind = 'status.created') told");
    assert_eq!(count(&db, &distinct).await, statuses, "and of each");
    drop(server);
    db.close().await;
}
