//! Running a statement with bound values on either engine: on `&Db` to read, on `&mut Tx` inside a transaction.
//!
//! Statements come from [`sql!`](crate::sql!), values are bound by position, and each connection keeps a prepared
//! statement cache. There is no query builder and no check against a database at compile time (sqlx's `query!`): a test
//! prepares every statement on both engines instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use sqlx::Arguments;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use tracing::Span;

use super::Result;
use super::db::{Db, Engine, Inner, Pools, Tx};
use super::fault::Faults;
use super::sql::Sql;
use super::sqlite::connection::Wanted;
use super::sqlite::{Readers, Transaction};
use model::Row;
use model::row::{Bind, Binder, Table};
use model::sqlite::Parameter;

/// Where a statement runs: `&Db` to read from the pool, `&mut Tx` to read and write inside a transaction.
pub trait Executor: Send {
    /// Reborrows the executor for one statement, so that a function that takes it by value can run several
    /// statements.
    fn reborrow(&mut self) -> Reborrowed<'_>;

    #[doc(hidden)]
    fn engine(&self) -> Engine;
    #[doc(hidden)]
    fn counter(&self) -> &AtomicU64;
    #[doc(hidden)]
    fn faults(&self) -> &Faults;
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
    #[expect(private_interfaces, reason = "never constructed outside of this crate")]
    SqliteReaders(&'a Arc<Readers>),
    PgPool(&'a PgPool),
    #[expect(private_interfaces, reason = "as above")]
    SqliteTx(&'a mut Transaction),
    PgConn(&'a mut sqlx::PgConnection),
}

impl Executor for &Db {
    fn reborrow(&mut self) -> Reborrowed<'_> {
        Reborrowed::Db(self)
    }
    fn engine(&self) -> Engine {
        Db::engine(self)
    }
    fn counter(&self) -> &AtomicU64 {
        &self.statements
    }
    fn faults(&self) -> &Faults {
        &self.faults
    }
    fn handle(&mut self) -> Handle<'_> {
        match &self.pools {
            Pools::Sqlite(sqlite) => Handle::SqliteReaders(&sqlite.readers),
            Pools::Postgres(pool) => Handle::PgPool(pool),
        }
    }
}

impl Executor for &mut Tx {
    fn reborrow(&mut self) -> Reborrowed<'_> {
        Reborrowed::Tx(self)
    }
    fn engine(&self) -> Engine {
        Tx::engine(self)
    }
    fn counter(&self) -> &AtomicU64 {
        &self.statements
    }
    fn faults(&self) -> &Faults {
        &self.faults
    }
    fn handle(&mut self) -> Handle<'_> {
        match &mut self.inner {
            Inner::Sqlite(tx) => Handle::SqliteTx(tx),
            Inner::Postgres(tx) => Handle::PgConn(tx),
        }
    }
}

/// A reborrowed executor, from [`Executor::reborrow`]. One type for both kinds, so that a function that is generic
/// over [`Executor`] needs no further bounds.
#[derive(Debug)]
pub enum Reborrowed<'a> {
    Db(&'a Db),
    Tx(&'a mut Tx),
}

impl Executor for Reborrowed<'_> {
    fn reborrow(&mut self) -> Reborrowed<'_> {
        match self {
            Self::Db(db) => Reborrowed::Db(db),
            Self::Tx(tx) => Reborrowed::Tx(tx),
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
    fn faults(&self) -> &Faults {
        match self {
            Self::Db(db) => &db.faults,
            Self::Tx(tx) => &tx.faults,
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
    Sqlite(Vec<Parameter>),
    Postgres(PgArguments),
}

/// A statement with its bound values, ready to run.
#[must_use = "a query does nothing until it is run"]
pub struct Query<E> {
    executor: E,
    sql: Sql,
    /// The error if a value could not be bound.
    args: std::result::Result<Args, sqlx::Error>,
}

/// A statement on PostgreSQL. Boxed: as part of a caller's future, sqlx's future would be compiled again in each
/// crate that awaits it.
type Running<'a, T> = BoxFuture<'a, Result<T>>;

/// Runs a statement on SQLite: on this thread if it ends within the time slice.
async fn fetch_sqlite<T: Row>(
    readers: &Arc<Readers>,
    sql: Sql,
    args: Vec<Parameter>,
    wanted: Wanted,
) -> Result<Vec<T>> {
    match readers.try_fetch(sql.sqlite, &args, wanted) {
        Some(done) => done,
        None => Box::pin(Arc::clone(readers).fetch(sql.sqlite, args, wanted)).await,
    }
}

/// Runs a statement on PostgreSQL; the rows are not decoded yet.
fn fetch_postgres(handle: Handle<'_>, sql: Sql, args: PgArguments, wanted: Wanted) -> Running<'_, Vec<PgRow>> {
    macro_rules! fetch {
        ($on:ident) => {
            Box::pin(async move {
                let query = sqlx::query_with(sql.postgres, args);
                Ok(match wanted {
                    Wanted::All => query.fetch_all($on).await?,
                    Wanted::First => query.fetch_optional($on).await?.into_iter().collect(),
                })
            })
        };
    }
    match handle {
        Handle::PgPool(on) => fetch!(on),
        Handle::PgConn(on) => fetch!(on),
        Handle::SqliteReaders(_) | Handle::SqliteTx(_) => {
            unreachable!("a query is built for the engine of its executor")
        }
    }
}

/// Runs a statement on PostgreSQL; returns the number of affected rows.
fn execute_postgres(handle: Handle<'_>, sql: Sql, args: PgArguments) -> Running<'_, u64> {
    macro_rules! execute {
        ($on:ident) => {
            Box::pin(async move { Ok(sqlx::query_with(sql.postgres, args).execute($on).await?.rows_affected()) })
        };
    }
    match handle {
        Handle::PgPool(on) => execute!(on),
        Handle::PgConn(on) => execute!(on),
        Handle::SqliteReaders(_) | Handle::SqliteTx(_) => {
            unreachable!("a query is built for the engine of its executor")
        }
    }
}

pub(super) fn decode<T: Row>(rows: &[PgRow]) -> Result<Vec<T>> {
    Ok(rows.iter().map(T::decode).collect::<std::result::Result<_, _>>()?)
}

impl<E: Executor> Query<E> {
    pub(super) fn new(executor: E, sql: Sql) -> Self {
        let args = match executor.engine() {
            Engine::Sqlite => Args::Sqlite(Vec::new()),
            Engine::Postgres => Args::Postgres(PgArguments::default()),
        };
        Self { executor, sql, args: Ok(args) }
    }

    /// Binds the next `$n`. A value that cannot be encoded fails the statement when it runs.
    pub fn bind<'q, T: Bind<'q>>(mut self, value: T) -> Self {
        let added = match &mut self.args {
            Ok(Args::Sqlite(args)) => value.into_parameter().map(|parameter| args.push(parameter)),
            Ok(Args::Postgres(args)) => args.add(value),
            Err(_) => Ok(()),
        };
        if let Err(error) = added {
            self.args = Err(sqlx::Error::Encode(error));
        }
        self
    }

    /// Binds the next values: every field of `row`, for its `…_insert!()`.
    pub fn bind_row(self, row: &impl Table) -> Self {
        row.bind_to(self)
    }

    /// Every row.
    ///
    /// # Errors
    /// [`Error::Sql`](super::Error::Sql) when the statement fails or a row does not decode.
    pub async fn all<T: Row>(self) -> Result<Vec<T>> {
        self.fetch(Wanted::All).await
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn optional<T: Row>(self) -> Result<Option<T>> {
        Ok(self.fetch(Wanted::First).await?.pop())
    }

    /// The first row.
    ///
    /// # Errors
    /// As [`Query::all`], and `sqlx::Error::RowNotFound` when there is no row.
    pub async fn one<T: Row>(self) -> Result<T> {
        Ok(self.optional().await?.ok_or(sqlx::Error::RowNotFound)?)
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

    /// Runs the statement; returns the number of affected rows.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn execute(mut self) -> Result<u64> {
        let span = self.sql.span();
        self.executor.counter().fetch_add(1, Ordering::Relaxed);
        let done = match (self.executor.handle(), self.args?) {
            (Handle::SqliteTx(tx), Args::Sqlite(args)) => tx.execute(self.sql.sqlite, &args),
            (Handle::SqliteReaders(_), Args::Sqlite(_)) => {
                Err(sqlx::Error::Protocol("a change needs a transaction".to_owned()).into())
            }
            (handle, Args::Postgres(args)) => execute_postgres(handle, self.sql, args).await,
            (_, Args::Sqlite(_)) => unreachable!("a query is built for the engine of its executor"),
        };
        ended(&span, done.is_err());
        self.executor.faults().noted(done)
    }

    async fn fetch<T: Row>(mut self, wanted: Wanted) -> Result<Vec<T>> {
        let span = self.sql.span();
        self.executor.counter().fetch_add(1, Ordering::Relaxed);
        let done = match (self.executor.handle(), self.args?) {
            (Handle::SqliteReaders(readers), Args::Sqlite(args)) => fetch_sqlite(readers, self.sql, args, wanted).await,
            (Handle::SqliteTx(tx), Args::Sqlite(args)) => tx.fetch(self.sql.sqlite, &args, wanted),
            (handle, Args::Postgres(args)) => {
                fetch_postgres(handle, self.sql, args, wanted).await.and_then(|rows| decode(&rows))
            }
            (_, Args::Sqlite(_)) => unreachable!("a query is built for the engine of its executor"),
        };
        ended(&span, done.is_err());
        self.executor.faults().noted(done)
    }
}

/// Records in a statement's span whether it failed. The span is never entered: it has no children, and lasts from its
/// creation to its end.
fn ended(span: &Span, failed: bool) {
    if failed {
        span.record("otel.status_code", "ERROR");
    }
}

impl<E: Executor> Binder for Query<E> {
    fn value<'q>(self, value: impl Bind<'q>) -> Self {
        self.bind(value)
    }
}
