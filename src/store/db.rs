//! One SQL text, two engines: the seam over the native pools of sqlx.
//!
//! [`Db`] reads, [`Tx`] reads and changes. On SQLite there is one writer connection (`BEGIN IMMEDIATE`)
//! and a pool of read-only ones, so readers never wait; on PostgreSQL one pool serves both. Statements come from
//! [`sql!`](crate::sql), values are bound by position. There is no query builder and no macro that looks into the
//! database at compile time: a test prepares every statement on both engines instead.

use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::postgres::{PgArguments, PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::sqlite::{
    SqliteArguments, SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteRow, SqliteSynchronous,
};
use sqlx::{Arguments, ConnectOptions, Encode, FromRow, Postgres, Sqlite, Type};
use tokio::sync::Notify;

use super::confined::{Readers, Writer};
use super::sql::Sql;
use super::{Error, Result};

/// How long a SQLite connection waits for another process that writes (the command line beside a server).
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of every SQLite connection.
const PRAGMAS: &[(&str, &str)] = &[("temp_store", "memory"), ("cache_size", "-8000"), ("mmap_size", "268435456")];

/// A value that both engines can encode.
pub trait Bind<'q>: Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres> {}
impl<'q, T> Bind<'q> for T where T: Encode<'q, Sqlite> + Type<Sqlite> + Encode<'q, Postgres> + Type<Postgres> {}

/// A row type that both engines can decode: `#[derive(FromRow)]` or a tuple.
pub trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}
impl<T> Row for T where T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

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
    statements: Arc<AtomicU64>,
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
    statements: Arc<AtomicU64>,
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
                readers.close();
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

/// Where a statement runs: `&Db`, or `&mut Tx` to see and make the changes of a transaction.
pub trait Executor: Send {
    /// Lends itself for one statement, so that a function can run several.
    fn again(&mut self) -> Lent<'_>;

    #[doc(hidden)]
    fn engine(&self) -> Engine;
    #[doc(hidden)]
    fn counter(&self) -> &AtomicU64;
    #[doc(hidden)]
    fn handle(&mut self) -> Handle<'_>;

    /// A statement on this executor.
    fn query(self, sql: Sql) -> Query<Self>
    where
        Self: Sized,
    {
        Query::new(self, sql)
    }
}

#[doc(hidden)]
#[derive(Debug)]
pub enum Handle<'a> {
    SqlitePool(&'a SqlitePool),
    PgPool(&'a PgPool),
    SqliteConn(&'a mut sqlx::SqliteConnection),
    PgConn(&'a mut sqlx::PgConnection),
}

impl Executor for &Db {
    fn again(&mut self) -> Lent<'_> {
        Lent::Db(self)
    }
    fn engine(&self) -> Engine {
        Db::engine(self)
    }
    fn counter(&self) -> &AtomicU64 {
        &self.statements
    }
    fn handle(&mut self) -> Handle<'_> {
        match &self.pools {
            Pools::Sqlite { read, .. } => Handle::SqlitePool(read),
            Pools::Postgres(pool) => Handle::PgPool(pool),
        }
    }
}

impl Executor for &mut Tx {
    fn again(&mut self) -> Lent<'_> {
        Lent::Tx(self)
    }
    fn engine(&self) -> Engine {
        Tx::engine(self)
    }
    fn counter(&self) -> &AtomicU64 {
        &self.statements
    }
    fn handle(&mut self) -> Handle<'_> {
        match &mut self.inner {
            Inner::Sqlite(tx, _) => Handle::SqliteConn(tx),
            Inner::Postgres(tx) => Handle::PgConn(tx),
        }
    }
}

/// An executor that was lent for one statement: one type for both, so that whoever runs several needs no other bounds.
#[derive(Debug)]
#[expect(missing_docs, reason = "what the names say")]
pub enum Lent<'a> {
    Db(&'a Db),
    Tx(&'a mut Tx),
}

impl Executor for Lent<'_> {
    fn again(&mut self) -> Lent<'_> {
        match self {
            Self::Db(db) => Lent::Db(db),
            Self::Tx(tx) => Lent::Tx(tx),
        }
    }
    fn engine(&self) -> Engine {
        match self {
            Self::Db(db) => db.engine(),
            Self::Tx(tx) => Executor::engine(tx),
        }
    }
    fn counter(&self) -> &AtomicU64 {
        match self {
            Self::Db(db) => &db.statements,
            Self::Tx(tx) => &tx.statements,
        }
    }
    fn handle(&mut self) -> Handle<'_> {
        match self {
            Self::Db(db) => db.handle(),
            Self::Tx(tx) => tx.handle(),
        }
    }
}

enum Args {
    Sqlite(SqliteArguments),
    Postgres(PgArguments),
}

/// A statement with its values, ready to run.
#[must_use = "a query does nothing until it is run"]
pub struct Query<E> {
    executor: E,
    sql: Sql,
    args: Args,
    error: Option<sqlx::Error>,
}

/// Runs `$method` of the sqlx query for whichever engine and handle this is.
macro_rules! run {
    ($self:ident, $build:ident, $method:ident $(, $then:expr)?) => {{
        if let Some(error) = $self.error.take() {
            return Err(error.into());
        }
        $self.executor.counter().fetch_add(1, Ordering::Relaxed);
        let Sql { sqlite, postgres, .. } = $self.sql;
        match ($self.executor.handle(), $self.args) {
            (Handle::SqlitePool(pool), Args::Sqlite(args)) => sqlx::$build(sqlite, args).$method(pool).await$(.map($then))?,
            (Handle::SqliteConn(conn), Args::Sqlite(args)) => sqlx::$build(sqlite, args).$method(conn).await$(.map($then))?,
            (Handle::PgPool(pool), Args::Postgres(args)) => sqlx::$build(postgres, args).$method(pool).await$(.map($then))?,
            (Handle::PgConn(conn), Args::Postgres(args)) => sqlx::$build(postgres, args).$method(conn).await$(.map($then))?,
            (Handle::SqlitePool(_) | Handle::SqliteConn(_), Args::Postgres(_))
            | (Handle::PgPool(_) | Handle::PgConn(_), Args::Sqlite(_)) => {
                unreachable!("a query is built for the engine of its executor")
            }
        }
    }};
}

impl<E: Executor> Query<E> {
    fn new(executor: E, sql: Sql) -> Self {
        let args = match executor.engine() {
            Engine::Sqlite => Args::Sqlite(SqliteArguments::default()),
            Engine::Postgres => Args::Postgres(PgArguments::default()),
        };
        Self { executor, sql, args, error: None }
    }

    /// Binds the next `$n`.
    pub fn bind<'q, T: Bind<'q>>(mut self, value: T) -> Self {
        let added = match &mut self.args {
            Args::Sqlite(args) => args.add(value),
            Args::Postgres(args) => args.add(value),
        };
        if let Err(error) = added {
            self.error.get_or_insert(sqlx::Error::Encode(error));
        }
        self
    }

    /// Every row.
    ///
    /// # Errors
    /// [`Error::Sql`] when the statement fails or a row does not decode.
    pub async fn all<T: Row>(mut self) -> Result<Vec<T>> {
        let rows: std::result::Result<Vec<T>, sqlx::Error> = run!(self, query_as_with, fetch_all);
        Ok(rows?)
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn optional<T: Row>(mut self) -> Result<Option<T>> {
        let row: std::result::Result<Option<T>, sqlx::Error> = run!(self, query_as_with, fetch_optional);
        Ok(row?)
    }

    /// The first row.
    ///
    /// # Errors
    /// As [`Query::all`], and `RowNotFound` when there is none.
    pub async fn one<T: Row>(mut self) -> Result<T> {
        let row: std::result::Result<T, sqlx::Error> = run!(self, query_as_with, fetch_one);
        Ok(row?)
    }

    /// Every value of a statement with one column.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn scalars<T>(self) -> Result<Vec<T>>
    where
        (T,): Row,
    {
        Ok(self.all::<(T,)>().await?.into_iter().map(|(value,)| value).collect())
    }

    /// The one value of a statement with one column and one row, such as a count.
    ///
    /// # Errors
    /// As [`Query::one`].
    pub async fn scalar<T>(self) -> Result<T>
    where
        (T,): Row,
    {
        Ok(self.one::<(T,)>().await?.0)
    }

    /// Runs the statement; gives how many rows it changed.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn execute(mut self) -> Result<u64> {
        let done: std::result::Result<u64, sqlx::Error> = run!(self, query_with, execute, |done| done.rows_affected());
        Ok(done?)
    }
}
