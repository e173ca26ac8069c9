//! The handles to the database, over both engines: [`Db`] reads, [`Tx`] reads and writes.
//!
//! On SQLite (WAL mode) there is one writer connection (`BEGIN IMMEDIATE`) and a pool of read-only connections, so
//! readers never wait for the writer: [`sqlite`](super::sqlite). On PostgreSQL one pool of sqlx serves both.
//! Statements are run by [`query`](super::query), statements of plugins by [`confined`](super::confined).

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection as _, Postgres};
use tokio::sync::Notify;

use super::confined::Shares;
use super::fault::{Fault, Faults};
use super::job_signals::{JobSignals, Lanes};
use super::notify::{self, JOBS};
use super::query::{Query, decode};
use super::sql::Sql;
use super::sqlite::connection::Wanted;
use super::sqlite::{Sqlite, Transaction, file_of};
use super::versions::Versions;
use super::{Error, Result};
use crate::options::{Options, PoolStats, tested};
use model::Row;
use model::job::Lane;

/// The engine of a database.
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
    /// The read connections of plugins.
    pub(super) shares: Arc<Shares>,
    pub(super) statements: Arc<AtomicU64>,
    pub(super) faults: Arc<Faults>,
    /// The SQLite file.
    pub(super) file: Option<PathBuf>,
    jobs: Arc<JobSignals>,
    events: Arc<Notify>,
}

#[derive(Clone, Debug)]
pub(super) enum Pools {
    Sqlite(Arc<Sqlite>),
    Postgres(PgPool),
}

/// A transaction; dropping it without [`Tx::commit`] rolls it back.
#[derive(Debug)]
pub struct Tx {
    pub(super) inner: Inner,
    pub(super) statements: Arc<AtomicU64>,
    pub(super) faults: Arc<Faults>,
    jobs: Arc<JobSignals>,
    queued: Lanes,
    events: Arc<Notify>,
    recorded: bool,
    after: AfterCommit,
}

/// Callbacks to run after the commit, in order, and how many of them were added before the savepoint.
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
    Sqlite(Transaction),
    Postgres(sqlx::Transaction<'static, Postgres>),
}

impl Db {
    /// Opens the database, creating the SQLite file and its folder when missing. Runs no migration.
    ///
    /// # Errors
    /// [`Error::Url`] for a scheme other than these two or when the folder cannot be created, [`Error::Sql`] when the
    /// database cannot be reached.
    pub async fn open(options: &Options) -> Result<Self> {
        let faults = Arc::<Faults>::default();
        let mut file = None;
        let (pools, shares) = match options.url.split_once(':').map(|(scheme, _)| scheme) {
            Some("sqlite") => {
                let path = file.insert(file_of(&options.url)?);
                let pools = Pools::Sqlite(Arc::new(Sqlite::open(options).await?));
                (pools, Shares::sqlite(path, options.plugin_connections, Arc::clone(&faults)))
            }
            Some("postgres" | "postgresql") => {
                let connect = postgres_options(&options.url)?;
                let shares = Shares::postgres(connect.clone(), options.plugin_connections, Arc::clone(&faults));
                (open_postgres(connect, options, &faults).await?, shares)
            }
            _ => return Err(Error::Url("must start with sqlite: or postgres:".into())),
        };
        let shares = Arc::new(shares);
        let (statements, jobs, events) = (Arc::default(), Arc::default(), Arc::default());
        Ok(Self { pools, shares, statements, faults, file, jobs, events })
    }

    #[must_use]
    pub fn engine(&self) -> Engine {
        match self.pools {
            Pools::Sqlite(_) => Engine::Sqlite,
            Pools::Postgres(_) => Engine::Postgres,
        }
    }

    /// Number of statements since the database was opened: a measure of cost that does not depend on the machine.
    #[must_use]
    pub fn statements(&self) -> u64 {
        self.statements.load(Ordering::Relaxed)
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// The fault of the machine that statements reported, until [`Db::check_writing`] finds it gone.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.faults.current()
    }

    /// The current connection counts: of the read pool on SQLite, of the only pool on PostgreSQL.
    #[must_use]
    pub fn pool(&self) -> PoolStats {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.stats(),
            Pools::Postgres(pool) => PoolStats { open: pool.size(), idle: pool.num_idle() },
        }
    }

    /// How long the open transaction has held the writer, and the plugin whose statement runs in it, if any; `None`
    /// when the writer is free, and on PostgreSQL, where writers do not exclude each other.
    #[must_use]
    pub fn writer_held(&self) -> Option<(Duration, Option<String>)> {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.held(),
            Pools::Postgres(_) => None,
        }
    }

    /// How long the open transaction has held the writer, if others wait for it; `None` on PostgreSQL.
    #[must_use]
    pub fn writer_held_while_others_wait(&self) -> Option<Duration> {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.held_while_others_wait(),
            Pools::Postgres(_) => None,
        }
    }

    /// Resolves when this process commits a transaction that queued jobs in `lane`.
    pub fn jobs_queued(&self, lane: Lane) -> tokio::sync::futures::Notified<'_> {
        self.jobs.of(lane)
    }

    /// Wakes this process's workers of `lane`, for jobs that another process queued.
    pub fn wake_workers(&self, lane: Lane) {
        let mut lanes = Lanes::default();
        lanes.insert(lane);
        self.jobs.ring(lanes);
    }

    /// Notifies every listening node, by [`notify`], that jobs of `lane` were queued.
    ///
    /// # Errors
    /// As [`Db::begin`].
    pub async fn tell_jobs_queued(&self, lane: Lane) -> Result<()> {
        let mut tx = self.begin().await?;
        notify::send(&mut tx, &format!("{JOBS}{lane}")).await?;
        tx.commit().await
    }

    /// Resolves when this process commits a transaction that recorded events for plugins.
    pub fn events_recorded(&self) -> tokio::sync::futures::Notified<'_> {
        self.events.notified()
    }

    /// A read-only statement on a connection from the pool.
    pub fn query(&self, sql: Sql) -> Query<'_> {
        Query::new(self.into(), sql)
    }

    /// Starts a transaction. On SQLite it holds the only writer connection until it ends, so run no slow work inside.
    ///
    /// # Errors
    /// [`Error::Sql`] when no connection became free within [`Options::acquire_timeout`].
    // Boxed like a statement: see `query::Running`.
    pub fn begin(&self) -> BoxFuture<'_, Result<Tx>> {
        Box::pin(self.start())
    }

    async fn start(&self) -> Result<Tx> {
        let inner = match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.begin().await.map(Inner::Sqlite),
            Pools::Postgres(pool) => pool.begin().await.map(Inner::Postgres).map_err(Into::into),
        };
        let inner = self.faults.noted(inner)?;
        Ok(Tx {
            inner,
            statements: Arc::clone(&self.statements),
            faults: Arc::clone(&self.faults),
            jobs: Arc::clone(&self.jobs),
            queued: Lanes::default(),
            events: Arc::clone(&self.events),
            recorded: false,
            after: AfterCommit::default(),
        })
    }

    /// Waits until all data that can be read now would survive a power cut. Returns immediately on PostgreSQL.
    ///
    /// # Errors
    /// [`Error::NotDurable`].
    pub async fn synced(&self) -> Result<()> {
        match &self.pools {
            Pools::Sqlite(sqlite) => self.faults.noted(sqlite.writer.synced().await),
            Pools::Postgres(_) => Ok(()),
        }
    }

    /// How often a waiting caller caused a sync of the log: for tests.
    #[doc(hidden)]
    #[must_use]
    pub fn syncs(&self) -> u64 {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.syncs(),
            Pools::Postgres(_) => 0,
        }
    }

    /// Waits for running statements and closes every connection; on SQLite this also checkpoints the write-ahead log.
    pub async fn close(&self) {
        self.shares.close().await;
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.close().await,
            Pools::Postgres(pool) => pool.close().await,
        }
    }

    /// Returns the next unused pages of a SQLite file to the file system, in a transaction that delays others for
    /// some milliseconds; true when there are more. Does nothing on PostgreSQL, which has an autovacuum.
    ///
    /// # Errors
    /// As [`Db::begin`].
    pub async fn release_pages(&self) -> Result<bool> {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.release_pages().await,
            Pools::Postgres(_) => Ok(false),
        }
    }

    /// Prepares `sql` without running it, to check that the engine accepts it.
    ///
    /// # Errors
    /// [`Error::Sql`] with the engine's message when it does not.
    pub async fn prepare(&self, sql: Sql) -> Result<()> {
        use sqlx::{Executor as _, SqlSafeStr as _};
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.unguarded().await?.prepare(sql.sqlite)?,
            Pools::Postgres(pool) => {
                pool.acquire().await?.prepare(sql.postgres.into_sql_str()).await?;
            }
        }
        Ok(())
    }

    /// Runs SQL that is not registered by [`sql!`](crate::sql!): for tests that set up state directly.
    #[doc(hidden)]
    pub async fn execute_raw(&self, sql: &str) -> Result<()> {
        match &self.pools {
            Pools::Sqlite(sqlite) => {
                let mut tx = sqlite.writer.unguarded().await?;
                tx.batch(sql)?;
                tx.commit().await
            }
            Pools::Postgres(pool) => {
                sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(pool).await?;
                Ok(())
            }
        }
    }

    /// Reads with SQL that is not registered by [`sql!`](crate::sql!): for tests that check rows directly.
    #[doc(hidden)]
    pub async fn fetch_raw<T: Row>(&self, sql: &str) -> Result<Vec<T>> {
        match &self.pools {
            Pools::Sqlite(sqlite) => {
                let mut tx = sqlite.writer.unguarded().await?;
                let rows = tx.fetch_made(sql, &[], Wanted::All)?;
                tx.commit().await?;
                Ok(rows)
            }
            Pools::Postgres(pool) => decode(&sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).fetch_all(pool).await?),
        }
    }

    /// When rows of accounts and tokens last changed, so that they can be cached; `None` on PostgreSQL, where other
    /// nodes change them too.
    #[must_use]
    pub fn versions(&self) -> Option<&Versions> {
        match &self.pools {
            Pools::Sqlite(sqlite) => Some(&sqlite.versions),
            Pools::Postgres(_) => None,
        }
    }

    /// Checks whether another process (the command line) wrote to the database; if so, nothing cached with
    /// [`Db::versions`] counts as current. Does nothing on PostgreSQL.
    ///
    /// # Errors
    /// As [`Db::begin`].
    pub async fn notice_other_processes(&self) -> Result<()> {
        match &self.pools {
            Pools::Sqlite(sqlite) => sqlite.writer.notice_others().await,
            Pools::Postgres(_) => Ok(()),
        }
    }
}

impl Tx {
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self.inner {
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
        }
    }

    /// Commits durably, then wakes this process's workers if jobs were queued, and the delivery of plugin events if
    /// events were recorded.
    ///
    /// # Errors
    /// [`Error::Sql`]: the transaction is rolled back, unless the connection broke during the commit, which leaves the
    /// outcome unknown.
    pub fn commit(self) -> BoxFuture<'static, Result<()>> {
        Box::pin(self.end())
    }

    async fn end(self) -> Result<()> {
        let committed = match self.inner {
            Inner::Sqlite(tx) => tx.commit().await,
            Inner::Postgres(tx) => tx.commit().await.map_err(Into::into),
        };
        self.faults.noted(committed)?;
        self.jobs.ring(self.queued);
        if self.recorded {
            self.events.notify_waiters();
        }
        self.after.run.into_iter().for_each(|run| run());
        Ok(())
    }

    /// Runs `run` once this transaction is committed; dropped without running when the transaction, or a savepoint
    /// set before this call, is rolled back. Not for work that must not be lost: a kill after the commit loses it.
    pub fn after_commit(&mut self, run: impl FnOnce() + Send + 'static) {
        self.after.run.push(Box::new(run));
    }

    pub(super) fn count(&self) {
        self.statements.fetch_add(1, Ordering::Relaxed);
    }

    /// Sets a savepoint. They do not nest: [`Tx::rollback_to_savepoint`] or [`Tx::release_savepoint`] must come before the next one.
    pub async fn savepoint(&mut self) -> Result<()> {
        self.after.at_mark = self.after.run.len();
        self.run_batch("SAVEPOINT mark").await
    }

    /// Rolls back to the savepoint of [`Tx::savepoint`] and releases it. A PostgreSQL transaction aborted by a failed
    /// statement can be used again afterwards.
    pub async fn rollback_to_savepoint(&mut self) -> Result<()> {
        self.after.run.truncate(self.after.at_mark);
        self.run_batch("ROLLBACK TO SAVEPOINT mark; RELEASE SAVEPOINT mark").await
    }

    /// Releases the savepoint of [`Tx::savepoint`]; changes since then stay part of the transaction.
    pub async fn release_savepoint(&mut self) -> Result<()> {
        self.run_batch("RELEASE SAVEPOINT mark").await
    }

    /// Runs several statements without parameters.
    pub(super) async fn run_batch(&mut self, text: &str) -> Result<()> {
        let done = match &mut self.inner {
            Inner::Sqlite(tx) => tx.batch(text),
            Inner::Postgres(tx) => {
                let ran = sqlx::raw_sql(sqlx::AssertSqlSafe(text.to_owned())).execute(&mut **tx).await;
                ran.map(drop).map_err(Into::into)
            }
        };
        self.faults.noted(done)
    }

    /// Wakes this process's workers of `lane` when this transaction commits.
    pub fn wake_workers(&mut self, lane: Lane) {
        self.queued.insert(lane);
    }

    /// Wakes the delivery of plugin events in this process when this transaction commits.
    pub fn wake_event_delivery(&mut self) {
        self.recorded = true;
    }

    /// A statement inside this transaction.
    pub fn query(&mut self, sql: Sql) -> Query<'_> {
        Query::new(self.into(), sql)
    }
}

/// The file of a SQLite `url`; `None` for another engine.
///
/// # Errors
/// [`Error::Url`] for a SQLite URL without a file.
pub fn sqlite_file(url: &str) -> Result<Option<PathBuf>> {
    if url.starts_with("sqlite:") { file_of(url).map(Some) } else { Ok(None) }
}

/// How long a transaction may be idle on PostgreSQL.
const IDLE_IN_TRANSACTION: &str = "60s";

fn postgres_options(url: &str) -> Result<PgConnectOptions> {
    // No JIT: a page reads a few rows by index, and compiling its plan takes a hundred times as long as running it.
    // A process that stops inside a transaction (suspended, swapped out, its machine lost) loses the transaction, so
    // that the rows and jobs it locked become available elsewhere. Transactions of the server wait for nothing but
    // the database.
    let connect = PgConnectOptions::from_str(url)?
        .options([("jit", "off"), ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION)]);
    Ok(connect.statement_cache_capacity(512).disable_statement_logging())
}

/// Connects once: a pool would try until its time is over, and say only that.
async fn reach(connect: &PgConnectOptions, time_limit: Duration) -> Result<()> {
    let failed = |what: &str, why: String| {
        let place = match connect.get_socket() {
            Some(socket) => socket.display().to_string(),
            None => format!("{}:{}", connect.get_host(), connect.get_port()),
        };
        Error::Unreachable(format!("PostgreSQL at {place} (database.url) {what}: {why}"))
    };
    match tokio::time::timeout(time_limit, PgConnection::connect_with(connect)).await {
        Ok(Ok(connection)) => {
            // Best effort: the connection has served its purpose.
            let _ = connection.close().await;
            Ok(())
        }
        Ok(Err(sqlx::Error::Database(error))) => Err(failed("refuses this server", error.message().to_owned())),
        Ok(Err(sqlx::Error::Io(error))) => Err(failed("cannot be reached", error.to_string())),
        Ok(Err(error)) => Err(failed("cannot be used", error.to_string())),
        Err(_) => Err(failed("cannot be reached", format!("no answer within {} s", time_limit.as_secs()))),
    }
}

async fn open_postgres(connect: PgConnectOptions, options: &Options, faults: &Arc<Faults>) -> Result<Pools> {
    reach(&connect, options.acquire_timeout).await?;
    let pool = tested(PgPoolOptions::new(), faults)
        .max_connections(options.max_connections.max(2))
        .acquire_timeout(options.acquire_timeout)
        .connect_with(connect)
        .await?;
    Ok(Pools::Postgres(pool))
}
