//! Temporary databases to measure on, and direct queries of them.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use database::Options;
use database::db::{Db, Engine};
use model::Time;
use model::clock::Clock;
use tempfile::TempDir;

/// A database, and the folder of the servers that use it.
pub struct Scratch {
    pub url: String,
    folder: TempDir,
    /// For PostgreSQL: the server, and the name of the database on it.
    within: Option<(String, String)>,
}

impl Scratch {
    /// An empty database: a file, or a new one on the PostgreSQL `server`.
    pub async fn new(server: Option<&str>) -> Self {
        Self::make(server, "").await
    }

    /// A copy with the same rows. The original must have no connections.
    pub async fn copy(&self) -> Self {
        match &self.within {
            Some((server, name)) => Self::make(Some(server), &format!(" TEMPLATE {name}")).await,
            None => {
                let copy = Self::make(None, "").await;
                std::fs::copy(self.folder().join(FILE), copy.folder().join(FILE)).expect("a copy of the data");
                copy
            }
        }
    }

    async fn make(server: Option<&str>, like: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let Some(server) = server else {
            return Self { url: format!("sqlite://{}", folder.path().join(FILE).display()), folder, within: None };
        };
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("rookery_bench_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        execute(server, &format!("CREATE DATABASE {name}{like}")).await;
        let mut url = url::Url::parse(server).expect("a URL");
        url.set_path(&name);
        Self { url: url.into(), folder, within: Some((server.to_owned(), name)) }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub async fn remove(self) {
        if let Some((server, name)) = &self.within {
            execute(server, &format!("DROP DATABASE {name} WITH (FORCE)")).await;
        }
    }
}

/// The database of SQLite in its folder.
const FILE: &str = "bench.db";

async fn execute(url: &str, statement: &str) {
    let db = open(url).await;
    db.execute_raw(statement).await.expect("databases may be made and removed");
    db.close().await;
}

/// The PostgreSQL server to measure on as well, if configured.
#[expect(clippy::disallowed_methods, reason = "the environment says which databases to measure on")]
pub fn postgres() -> Option<String> {
    std::env::var("TEST_DATABASE_URL").ok()
}

pub async fn open(url: &str) -> Db {
    let options = Options {
        url: url.to_owned(),
        max_connections: 2,
        acquire_timeout: Duration::from_secs(60),
        plugin_connections: 2,
    };
    Db::open(&options).await.expect("the database")
}

/// The current time as SQL.
pub fn now(db: &Db) -> String {
    time(db, Clock::system().now())
}

/// A time as SQL.
pub fn time(db: &Db, time: Time) -> String {
    let micros = time.timestamp_micros();
    match db.engine() {
        Engine::Sqlite => micros.to_string(),
        Engine::Postgres => format!("to_timestamp({micros} / 1000000.0)"),
    }
}

/// Waits until all due work is done: jobs, and events for plugins.
pub async fn settle(db: &Db) {
    for _ in 0..6_000 {
        let now = now(db);
        let due = format!(
            "SELECT (SELECT COUNT(*) FROM jobs WHERE state = 'running' OR (state = 'ready' AND run_at <= {now}))
                  + (SELECT COUNT(*) FROM plugin_events e JOIN plugins p ON p.id = e.plugin_id
                     WHERE p.enabled AND e.state = 'ready' AND e.run_at <= {now})"
        );
        if number(db, &due).await == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let kinds: Vec<(String, i64)> =
        db.fetch_raw("SELECT kind, COUNT(*) FROM jobs GROUP BY kind").await.expect("the queue");
    panic!("the queue did not empty within two minutes: {kinds:?}");
}

/// The single number that a statement returns.
pub async fn number(db: &Db, statement: &str) -> i64 {
    let rows: Vec<(i64,)> = db.fetch_raw(statement).await.expect("a number");
    rows[0].0
}
