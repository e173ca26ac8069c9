//! Connection pools and transactions, over sqlx's native SQLite and PostgreSQL drivers.
//!
//! [`Db`] reads, [`Tx`] reads and writes. On SQLite (WAL mode) there is one writer connection (`BEGIN IMMEDIATE`) and a
//! pool of read-only connections, so readers never wait for the writer; on PostgreSQL one pool serves both. Statements
//! are run by [`query`](super::query), those of plugins by [`confined`](super::confined).

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Postgres, Sqlite};
use tokio::sync::Notify;

use super::confined::{Readers, Writer};
use super::job_signals::{JobSignals, Lanes};
use super::query::{Executor, Handle, Query, Rows};
use super::sql::Sql;
use super::{Error, Result};
use model::Row;
use model::job::Lane;

/// How long a SQLite connection waits for a lock that another process holds (the command line beside a server).
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// PRAGMAs of every SQLite connection: a page cache of 8,000 KiB, and 256 MiB of the file memory-mapped.
const PRAGMAS: &[(&str, &str)] = &[("temp_store", "memory"), ("cache_size", "-8000"), ("mmap_size", "268435456")];

/// Which engine a statement runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// SQLite, the database of the embedded profile.
    Sqlite,
    /// PostgreSQL, the database of the cluster profile.
    Postgres,
}

/// A handle to the database, for reading; [`Db::begin`] starts a transaction to write. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Db {
    pub(super) pools: Pools,
    pub(super) statements: Arc<AtomicU64>,
    jobs: Arc<JobSignals>,
    events: Arc<Notify>,
}

#[derive(Clone, Debug)]
pub(super) enum Pools {
    Sqlite { write: SqlitePool, read: SqlitePool, writer: Arc<Writer>, readers: Arc<Readers> },
    Postgres(PgPool),
}

/// A transaction; dropping it without [`Tx::commit`] rolls it back.
#[derive(Debug)]
pub struct Tx {
    pub(super) inner: Inner,
    pub(super) statements: Arc<AtomicU64>,
    jobs: Arc<JobSignals>,
    queued: Lanes,
    events: Arc<Notify>,
    recorded: bool,
    after: AfterCommit,
}

/// What runs once a transaction is committed, in order, and how much of it stood before the savepoint.
#[derive(Default)]
struct AfterCommit {
    run: Vec<Box<dyn FnOnce() + Send>>,
    at_mark: usize,
}

impl std::fmt::Debug for AfterCommit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AfterCommit({})", self.run.len())
    }
}

#[derive(Debug)]
pub(super) enum Inner {
    Sqlite(sqlx::Transaction<'static, Sqlite>, Arc<Writer>),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

/// How to connect to the database.
#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite://path/to/file.db` or `postgres://…`.
    pub url: String,
    /// Size limit of the pool, at least 1: of the read connections on SQLite, of all connections on PostgreSQL (which
    /// gets at least 2).
    pub max_connections: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: Duration,
}

/// Connection counts of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolStats {
    /// Open connections.
    pub open: u32,
    /// Open connections that are idle.
    pub idle: usize,
}

impl Db {
    /// Opens the database, creating the SQLite file and its folder when missing. Runs no migration.
    ///
    /// # Errors
    /// [`Error::Url`] for a scheme other than these two or when the folder cannot be created, [`Error::Sql`] when the
    /// database cannot be reached.
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

    /// How many statements ran since the database was opened: a measure of cost that does not depend on the machine.
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// The current connection counts: of the read pool on SQLite, of the only pool on PostgreSQL.
    #[must_use]
    pub fn pool(&self) -> PoolStats {
        match &self.pools {
            Pools::Sqlite { read, .. } => PoolStats { open: read.size(), idle: read.num_idle() },
            Pools::Postgres(pool) => PoolStats { open: pool.size(), idle: pool.num_idle() },
        }
    }

    /// Resolves when this process commits a transaction that queued jobs in `lane`.
    pub fn jobs_queued(&self, lane: Lane) -> tokio::sync::futures::Notified<'_> {
        self.jobs.of(lane)
    }

    /// Resolves when this process commits a transaction that recorded events for plugins.
    pub fn events_recorded(&self) -> tokio::sync::futures::Notified<'_> {
        self.events.notified()
    }

    /// A read-only statement on a connection from the pool.
    pub fn query(&self, sql: Sql) -> Query<&Self> {
        Query::new(self, sql)
    }

    /// Starts a transaction. On SQLite it holds the only writer connection until it ends, so do no slow work inside.
    ///
    /// # Errors
    /// [`Error::Sql`] when no connection became free within [`Options::acquire_timeout`].
    // Boxed like a statement: see `query::Running`.
    pub fn begin(&self) -> BoxFuture<'_, Result<Tx>> {
        Box::pin(self.start())
    }

    async fn start(&self) -> Result<Tx> {
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
            queued: Lanes::default(),
            events: Arc::clone(&self.events),
            recorded: false,
            after: AfterCommit::default(),
        })
    }

    /// Waits for running statements and closes every connection; on SQLite this also checkpoints the write-ahead log.
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

    /// Prepares `sql` without running it, to check that the engine accepts it.
    ///
    /// # Errors
    /// [`Error::Sql`] with the engine's message when it does not.
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

    /// Runs SQL that is not registered by [`sql!`](crate::sql!): for tests that set up a state by hand.
    #[doc(hidden)]
    pub async fn execute_raw(&self, sql: &str) -> Result<u64> {
        let text = sqlx::AssertSqlSafe(sql.to_owned());
        Ok(match &self.pools {
            Pools::Sqlite { write, .. } => sqlx::raw_sql(text).execute(write).await?.rows_affected(),
            Pools::Postgres(pool) => sqlx::raw_sql(text).execute(pool).await?.rows_affected(),
        })
    }

    /// Reads with SQL that is not registered by [`sql!`](crate::sql!): for tests that look behind the API.
    #[doc(hidden)]
    pub async fn fetch_raw<T: Row>(&self, sql: &str) -> Result<Vec<T>> {
        let text = sqlx::AssertSqlSafe(sql.to_owned());
        let rows = match &self.pools {
            Pools::Sqlite { write, .. } => Rows::Sqlite(sqlx::query(text).fetch_all(write).await?),
            Pools::Postgres(pool) => Rows::Postgres(sqlx::query(text).fetch_all(pool).await?),
        };
        Ok(rows.decode()?)
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

    /// Commits durably, then wakes this process's workers when jobs were queued, and the delivery of plugin events when
    /// some were recorded.
    ///
    /// # Errors
    /// [`Error::Sql`]: the transaction is rolled back, unless the connection broke during the commit, which leaves the
    /// outcome unknown.
    pub fn commit(self) -> BoxFuture<'static, Result<()>> {
        Box::pin(self.end())
    }

    async fn end(self) -> Result<()> {
        match self.inner {
            Inner::Sqlite(tx, writer) => {
                // The time limit of the transaction must not interrupt the commit itself.
                writer.bound(None);
                tx.commit().await?;
            }
            Inner::Postgres(tx) => tx.commit().await?,
        }
        self.jobs.ring(self.queued);
        if self.recorded {
            self.events.notify_waiters();
        }
        self.after.run.into_iter().for_each(|run| run());
        Ok(())
    }

    /// Runs `run` once this transaction is committed; dropped unrun when it is rolled back, or back to a savepoint that was
    /// set before. Not for what must not be lost: a kill after the commit loses it.
    pub fn after_commit(&mut self, run: impl FnOnce() + Send + 'static) {
        self.after.run.push(Box::new(run));
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets a savepoint. They do not nest: [`Tx::rollback_to_savepoint`] or [`Tx::release_savepoint`] must come before the next one.
    pub async fn savepoint(&mut self) -> Result<()> {
        self.after.at_mark = self.after.run.len();
        self.control("SAVEPOINT mark").await
    }

    /// Rolls back to the savepoint of [`Tx::savepoint`] and releases it. A PostgreSQL transaction that a failed statement
    /// aborted can be used again afterwards.
    pub async fn rollback_to_savepoint(&mut self) -> Result<()> {
        self.after.run.truncate(self.after.at_mark);
        self.control("ROLLBACK TO SAVEPOINT mark; RELEASE SAVEPOINT mark").await
    }

    /// Releases the savepoint of [`Tx::savepoint`]; what was done since stays part of the transaction.
    pub async fn release_savepoint(&mut self) -> Result<()> {
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

    /// Wakes this process's workers of `lane` when this transaction commits.
    pub(super) fn wake_workers(&mut self, lane: Lane) {
        self.queued.insert(lane);
    }

    /// Wakes the delivery of plugin events in this process when this transaction commits.
    pub(super) fn wake_event_delivery(&mut self) {
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
        // A connection on which a plugin's statement was cut off is closed instead of reused.
        .before_acquire(move |_, _| {
            let clean = checking.renew();
            Box::pin(async move { Ok(clean) })
        })
        // Only on the writer: setting it takes the write lock, which a reader must never wait for.
        .connect_with(base.clone().auto_vacuum(SqliteAutoVacuum::Incremental))
        .await?;
    forget_statistics(&write).await?;
    let readers = Arc::new(Readers::new(base.get_filename(), PRAGMAS));
    let reading = base.pragma("query_only", "true");
    let read = pool().max_connections(options.max_connections).min_connections(1).connect_with(reading).await?;
    Ok(Pools::Sqlite { write, read, writer, readers })
}

/// Deletes the statistics that an `ANALYZE` left behind.
///
/// Without statistics SQLite assumes that every table is large and reads it by index, which is right for a small table
/// too. Stale statistics would keep a plan that was chosen for ten rows when the table has a million.
async fn forget_statistics(write: &SqlitePool) -> Result<()> {
    // `ANALYZE sqlite_schema` analyses nothing: it makes the connection reload its statistics, of which there are none
    // now.
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
    // No JIT: a page reads a few rows by index, and compiling its plan takes a hundred times as long as running it.
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
