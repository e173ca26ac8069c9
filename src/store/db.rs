//! One SQL text, two engines: the seam over the native pools of sqlx.
//!
//! [`Db`] reads, [`Tx`] reads and changes. On SQLite there is one writer connection (`BEGIN IMMEDIATE`)
//! and a pool of read-only ones, so readers never wait; on PostgreSQL one pool serves both. Statements are run by
//! [`query`](super::query).

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Postgres, Sqlite};
use tokio::sync::Notify;

use super::confined::{Readers, Writer};
use super::query::{Executor, Handle, Query, Row};
use super::sql::Sql;
use super::{Error, Result};

/// How long a SQLite connection waits for another process that writes (the command line beside a server).
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of every SQLite connection.
const PRAGMAS: &[(&str, &str)] = &[("temp_store", "memory"), ("cache_size", "-8000"), ("mmap_size", "268435456")];

/// Which engine a statement runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The embedded database.
    Sqlite,
    /// The database of a cluster.
    Postgres,
}

/// The database, for reading; [`Db::begin`] changes it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pub(super) pools: Pools,
    pub(super) statements: Arc<AtomicU64>,
    jobs: Arc<Notify>,
    events: Arc<Notify>,
}

#[derive(Clone, Debug)]
pub(super) enum Pools {
    Sqlite { write: SqlitePool, read: SqlitePool, writer: Arc<Writer>, readers: Arc<Readers> },
    Postgres(PgPool),
}

/// A transaction; dropped without [`Tx::commit`], it never happened.
#[derive(Debug)]
pub struct Tx {
    pub(super) inner: Inner,
    pub(super) statements: Arc<AtomicU64>,
    jobs: Arc<Notify>,
    queued: bool,
    events: Arc<Notify>,
    recorded: bool,
}

#[derive(Debug)]
pub(super) enum Inner {
    Sqlite(sqlx::Transaction<'static, Sqlite>, Arc<Writer>),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

/// How to reach the database.
#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite://path/to/file.db` or `postgres://…`.
    pub url: String,
    /// Connections for reading (SQLite) or in all (PostgreSQL), at least 1.
    pub max_connections: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: Duration,
}

/// How many connections there are.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    /// In all.
    pub open: u32,
    /// Of these, unused.
    pub idle: usize,
}

impl Db {
    /// Opens the database, creating the SQLite file and its folder when missing. Runs no migration.
    ///
    /// # Errors
    /// [`Error::Url`] for any other scheme, [`Error::Sql`] when the database does not answer.
    pub async fn open(options: &Options) -> Result<Self> {
        let pools = match options.url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => open_sqlite(options).await?,
            Some("postgres" | "postgresql") => open_postgres(options).await?,
            _ => return Err(Error::Url("must start with sqlite: or postgres:".into())),
        };
        Ok(Self { pools, statements: Arc::default(), jobs: Arc::default(), events: Arc::default() })
    }

    /// Which engine this is.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self.pools {
            Pools::Sqlite { .. } => Engine::Sqlite,
            Pools::Postgres(_) => Engine::Postgres,
        }
    }

    /// How many statements ran since the start: what a page costs, in numbers that do not depend on the machine.
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// The connections of now: those that read (SQLite), or all.
    #[must_use]
    pub fn pool(&self) -> Pool {
        match &self.pools {
            Pools::Sqlite { read, .. } => Pool { open: read.size(), idle: read.num_idle() },
            Pools::Postgres(pool) => Pool { open: pool.size(), idle: pool.num_idle() },
        }
    }

    /// Resolves when a transaction of this process that queued jobs is committed.
    pub fn jobs_queued(&self) -> tokio::sync::futures::Notified<'_> {
        self.jobs.notified()
    }

    /// Resolves when a transaction of this process that recorded events for plugins is committed.
    pub fn events_recorded(&self) -> tokio::sync::futures::Notified<'_> {
        self.events.notified()
    }

    /// A statement that reads, on a connection of its own.
    pub fn query(&self, sql: Sql) -> Query<&Self> {
        Query::new(self, sql)
    }

    /// Starts a transaction. On SQLite it holds the one writer until it ends, so do no slow work inside.
    ///
    /// # Errors
    /// [`Error::Sql`] when no connection came free in time.
    pub async fn begin(&self) -> Result<Tx> {
        let inner = match &self.pools {
            Pools::Sqlite { write, writer, .. } => {
                Inner::Sqlite(write.begin_with("BEGIN IMMEDIATE").await?, Arc::clone(writer))
            }
            Pools::Postgres(pool) => Inner::Postgres(pool.begin().await?),
        };
        Ok(Tx {
            inner,
            statements: Arc::clone(&self.statements),
            jobs: Arc::clone(&self.jobs),
            queued: false,
            events: Arc::clone(&self.events),
            recorded: false,
        })
    }

    /// Waits for running statements and closes every connection; on SQLite this also folds the log into the file.
    pub async fn close(&self) {
        match &self.pools {
            Pools::Sqlite { write, read, readers, .. } => {
                readers.close().await;
                read.close().await;
                write.close().await;
            }
            Pools::Postgres(pool) => pool.close().await,
        }
    }

    /// Asks the engine whether it understands `sql`, without running it.
    ///
    /// # Errors
    /// [`Error::Sql`] with the engine's own words.
    pub async fn prepare(&self, sql: Sql) -> Result<()> {
        use sqlx::{Executor as _, SqlSafeStr as _};
        match &self.pools {
            Pools::Sqlite { write, .. } => {
                write.acquire().await?.prepare(sql.sqlite.into_sql_str()).await?;
            }
            Pools::Postgres(pool) => {
                pool.acquire().await?.prepare(sql.postgres.into_sql_str()).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn migrate(
        &self,
        sqlite: &sqlx::migrate::Migrator,
        postgres: &sqlx::migrate::Migrator,
    ) -> Result<()> {
        match &self.pools {
            Pools::Sqlite { write, .. } => sqlite.run(write).await?,
            Pools::Postgres(pool) => postgres.run(pool).await?,
        }
        Ok(())
    }

    /// Runs a text that is not one of the server's statements: for tests that prepare a state by hand.
    ///
    /// # Errors
    /// [`Error::Sql`] with the engine's own words.
    #[doc(hidden)]
    pub async fn execute_raw(&self, sql: &str) -> Result<u64> {
        let text = sqlx::AssertSqlSafe(sql.to_owned());
        Ok(match &self.pools {
            Pools::Sqlite { write, .. } => sqlx::raw_sql(text).execute(write).await?.rows_affected(),
            Pools::Postgres(pool) => sqlx::raw_sql(text).execute(pool).await?.rows_affected(),
        })
    }

    /// Reads with a text that is not one of the server's statements: for tests that look behind the API.
    ///
    /// # Errors
    /// [`Error::Sql`] with the engine's own words.
    #[doc(hidden)]
    pub async fn fetch_raw<T: Row>(&self, sql: &str) -> Result<Vec<T>> {
        let text = sqlx::AssertSqlSafe(sql.to_owned());
        Ok(match &self.pools {
            Pools::Sqlite { write, .. } => sqlx::query_as(text).fetch_all(write).await?,
            Pools::Postgres(pool) => sqlx::query_as(text).fetch_all(pool).await?,
        })
    }
}

impl Tx {
    /// Which engine this is.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self.inner {
            Inner::Sqlite(..) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
        }
    }

    /// Makes the changes of this transaction happen, durably.
    ///
    /// # Errors
    /// [`Error::Sql`]: nothing happened, unless the connection broke at this very moment.
    pub async fn commit(self) -> Result<()> {
        match self.inner {
            Inner::Sqlite(tx, writer) => {
                writer.bound(None);
                tx.commit().await?;
            }
            Inner::Postgres(tx) => tx.commit().await?,
        }
        if self.queued {
            self.jobs.notify_waiters();
        }
        if self.recorded {
            self.events.notify_waiters();
        }
        Ok(())
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// Marks a place to go back to, once: [`Tx::back_to_mark`] or [`Tx::forget_mark`] comes before the next mark.
    ///
    /// # Errors
    /// [`Error::Sql`] when the database does.
    pub async fn mark(&mut self) -> Result<()> {
        self.control("SAVEPOINT mark").await
    }

    /// Undoes everything since the mark, a failure too.
    ///
    /// # Errors
    /// [`Error::Sql`] when the database does.
    pub async fn back_to_mark(&mut self) -> Result<()> {
        self.control("ROLLBACK TO SAVEPOINT mark; RELEASE SAVEPOINT mark").await
    }

    /// Keeps everything since the mark.
    ///
    /// # Errors
    /// [`Error::Sql`] when the database does.
    pub async fn forget_mark(&mut self) -> Result<()> {
        self.control("RELEASE SAVEPOINT mark").await
    }

    async fn control(&mut self, text: &'static str) -> Result<()> {
        match Executor::handle(&mut &mut *self) {
            Handle::SqliteConn(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop)?,
            Handle::PgConn(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop)?,
            Handle::SqlitePool(_) | Handle::PgPool(_) => unreachable!("a transaction has a connection"),
        }
        Ok(())
    }

    /// Wakes this process's workers once this transaction is committed.
    pub(super) fn wake_workers(&mut self) {
        self.queued = true;
    }

    /// Wakes whoever delivers events to plugins in this process once this transaction is committed.
    pub(super) fn wake_consumers(&mut self) {
        self.recorded = true;
    }

    /// A statement inside this transaction.
    pub fn query(&mut self, sql: Sql) -> Query<&mut Self> {
        Query::new(self, sql)
    }
}

async fn open_sqlite(options: &Options) -> Result<Pools> {
    let mut base = SqliteConnectOptions::from_str(&options.url)?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(512)
        .optimize_on_close(false, None)
        .disable_statement_logging();
    for (name, value) in PRAGMAS {
        base = base.pragma(*name, *value);
    }
    create_folder(base.get_filename())?;
    let pool = || {
        SqlitePoolOptions::new()
            .acquire_timeout(options.acquire_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
    };
    let writer = Arc::new(Writer::default());
    let (adopting, checking) = (Arc::clone(&writer), Arc::clone(&writer));
    let write = pool()
        .max_connections(1)
        .after_connect(move |connection, _| {
            let writer = Arc::clone(&adopting);
            Box::pin(async move { writer.adopt(connection).await })
        })
        .before_acquire(move |_, _| {
            let clean = checking.renew();
            Box::pin(async move { Ok(clean) })
        })
        // Set on the writer alone: setting it takes the lock for writing, which a reader must never wait for.
        .connect_with(base.clone().auto_vacuum(SqliteAutoVacuum::Incremental))
        .await?;
    forget_statistics(&write).await?;
    let readers = Arc::new(Readers::new(base.get_filename(), PRAGMAS));
    let reading = base.pragma("query_only", "true");
    let read = pool().max_connections(options.max_connections).min_connections(1).connect_with(reading).await?;
    Ok(Pools::Sqlite { write, read, writer, readers })
}

/// Without statistics SQLite takes every table for a large one and reads it by index, which is right for a small one too.
/// Those that an `ANALYZE` left are of the tables as they were then: plans for ten rows would go on to read a million.
async fn forget_statistics(write: &SqlitePool) -> Result<()> {
    for (table, forget) in [
        ("sqlite_stat1", "DELETE FROM sqlite_stat1; ANALYZE sqlite_schema;"),
        ("sqlite_stat4", "DELETE FROM sqlite_stat4; ANALYZE sqlite_schema;"),
    ] {
        let found =
            sqlx::query("SELECT 1 FROM sqlite_master WHERE name = $1").bind(table).fetch_optional(write).await?;
        if found.is_some() {
            sqlx::raw_sql(forget).execute(write).await?;
        }
    }
    Ok(())
}

fn create_folder(file: &Path) -> Result<()> {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => std::fs::create_dir_all(folder)
            .map_err(|error| Error::Url(format!("cannot create {}: {error}", folder.display()))),
        _ => Ok(()),
    }
}

async fn open_postgres(options: &Options) -> Result<Pools> {
    // A page reads a few rows by index; compiling the plan of one takes a hundred times as long as running it.
    let connect = PgConnectOptions::from_str(&options.url)?
        .options([("jit", "off")])
        .statement_cache_capacity(512)
        .disable_statement_logging();
    let pool = PgPoolOptions::new()
        .max_connections(options.max_connections.max(2))
        .acquire_timeout(options.acquire_timeout)
        .test_before_acquire(false)
        .connect_with(connect)
        .await?;
    Ok(Pools::Postgres(pool))
}
