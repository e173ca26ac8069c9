//! Running a statement with bound values on either engine: on `&Db` to read, on `&mut Tx` inside a transaction.
//!
//! Statements come from [`sql!`](crate::sql!), values are bound by position, and each connection keeps a prepared
//! statement cache. There is no query builder and no check against a database at compile time (sqlx's `query!`): a test
//! prepares every statement on both engines instead.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use sqlx::Arguments;
use sqlx::postgres::{PgArguments, PgPool, PgRow};
use sqlx::sqlite::{SqliteArguments, SqlitePool, SqliteRow};

use super::Result;
use super::db::{Db, Engine, Inner, Pools, Tx};
use super::sql::Sql;
use model::Row;
use model::row::{Bind, Binder, Table};

/// Where a statement runs: `&Db` to read from the pool, `&mut Tx` to read and write inside a transaction.
pub trait Executor: Send {
    /// Reborrows the executor for one statement, so that a function that takes it by value can run several.
    fn reborrow(&mut self) -> Reborrowed<'_>;

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
    fn reborrow(&mut self) -> Reborrowed<'_> {
        Reborrowed::Db(self)
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
    fn reborrow(&mut self) -> Reborrowed<'_> {
        Reborrowed::Tx(self)
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

/// A reborrowed executor, from [`Executor::reborrow`]. One type for both kinds, so that a function which is generic over
/// [`Executor`] needs no further bounds.
#[derive(Debug)]
#[expect(missing_docs, reason = "what the names say")]
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

/// A statement with its bound values, ready to run.
#[must_use = "a query does nothing until it is run"]
pub struct Query<E> {
    executor: E,
    sql: Sql,
    /// Or why a value could not be bound.
    args: std::result::Result<Args, sqlx::Error>,
}

/// The rows of a statement, not decoded yet.
pub(super) enum Rows {
    Sqlite(Vec<SqliteRow>),
    Postgres(Vec<PgRow>),
}

impl Rows {
    pub(super) fn decode<T: Row>(&self) -> std::result::Result<Vec<T>, sqlx::Error> {
        match self {
            Self::Sqlite(rows) => rows.iter().map(T::decode).collect(),
            Self::Postgres(rows) => rows.iter().map(T::decode).collect(),
        }
    }
}

/// A statement under way. Boxed, and made by functions that are not generic: the drivers' futures are then compiled here,
/// once, and not into every future that awaits a statement, in every crate (which took more of a build than all else).
type Running<'a, T> = BoxFuture<'a, std::result::Result<T, sqlx::Error>>;

/// All rows of a statement, or the first.
fn fetch(handle: Handle<'_>, sql: Sql, args: Args, all: bool) -> Running<'_, Rows> {
    macro_rules! fetch {
        ($rows:ident, $text:expr, $args:ident, $on:ident) => {
            Box::pin(async move {
                let query = sqlx::query_with($text, $args);
                Ok(Rows::$rows(if all {
                    query.fetch_all($on).await?
                } else {
                    query.fetch_optional($on).await?.into_iter().collect()
                }))
            })
        };
    }
    match (handle, args) {
        (Handle::SqlitePool(on), Args::Sqlite(args)) => fetch!(Sqlite, sql.sqlite, args, on),
        (Handle::SqliteConn(on), Args::Sqlite(args)) => fetch!(Sqlite, sql.sqlite, args, on),
        (Handle::PgPool(on), Args::Postgres(args)) => fetch!(Postgres, sql.postgres, args, on),
        (Handle::PgConn(on), Args::Postgres(args)) => fetch!(Postgres, sql.postgres, args, on),
        (_, Args::Sqlite(_) | Args::Postgres(_)) => unreachable!("a query is built for the engine of its executor"),
    }
}

/// Runs a statement; gives the number of affected rows.
fn execute(handle: Handle<'_>, sql: Sql, args: Args) -> Running<'_, u64> {
    macro_rules! execute {
        ($text:expr, $args:ident, $on:ident) => {
            Box::pin(async move { Ok(sqlx::query_with($text, $args).execute($on).await?.rows_affected()) })
        };
    }
    match (handle, args) {
        (Handle::SqlitePool(on), Args::Sqlite(args)) => execute!(sql.sqlite, args, on),
        (Handle::SqliteConn(on), Args::Sqlite(args)) => execute!(sql.sqlite, args, on),
        (Handle::PgPool(on), Args::Postgres(args)) => execute!(sql.postgres, args, on),
        (Handle::PgConn(on), Args::Postgres(args)) => execute!(sql.postgres, args, on),
        (_, Args::Sqlite(_) | Args::Postgres(_)) => unreachable!("a query is built for the engine of its executor"),
    }
}

impl<E: Executor> Query<E> {
    pub(super) fn new(executor: E, sql: Sql) -> Self {
        let args = match executor.engine() {
            Engine::Sqlite => Args::Sqlite(SqliteArguments::default()),
            Engine::Postgres => Args::Postgres(PgArguments::default()),
        };
        Self { executor, sql, args: Ok(args) }
    }

    /// Binds the next `$n`. A value that cannot be encoded fails the statement when it runs.
    pub fn bind<'q, T: Bind<'q>>(mut self, value: T) -> Self {
        let added = match &mut self.args {
            Ok(Args::Sqlite(args)) => args.add(value),
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
        Ok(self.fetch(true).await?.decode()?)
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn optional<T: Row>(self) -> Result<Option<T>> {
        Ok(self.fetch(false).await?.decode()?.pop())
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
        self.executor.counter().fetch_add(1, Ordering::Relaxed);
        Ok(execute(self.executor.handle(), self.sql, self.args?).await?)
    }

    async fn fetch(mut self, all: bool) -> Result<Rows> {
        self.executor.counter().fetch_add(1, Ordering::Relaxed);
        Ok(fetch(self.executor.handle(), self.sql, self.args?, all).await?)
    }
}

impl<E: Executor> Binder for Query<E> {
    fn value<'q>(self, value: impl Bind<'q>) -> Self {
        self.bind(value)
    }
}
