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
use super::sink::{Sink, rows_of};
use super::sql::Sql;
use super::sqlite::connection::Wanted;
use super::sqlite::{Readers, Transaction};
use model::Row;
use model::row::{Bind, Binder, Table};
use model::sqlite::Parameter;

/// Where a statement runs: the pool, to read, or a transaction, to read and write.
///
/// One type for both, so that a function with statements is compiled once, in its own crate. Made of `&Db` and
/// `&mut Tx` by [`Into`], which [`boxed`](macro@model::boxed) functions call for their callers.
#[derive(Debug)]
pub enum Conn<'a> {
    /// Any connection of the pool.
    Db(&'a Db),
    /// The connection of a transaction.
    Tx(&'a mut Tx),
}

#[derive(Debug)]
enum Handle<'a> {
    SqliteReaders(&'a Arc<Readers>),
    PgPool(&'a PgPool),
    SqliteTx(&'a mut Transaction),
    PgConn(&'a mut sqlx::PgConnection),
}

impl<'a> From<&'a Db> for Conn<'a> {
    fn from(db: &'a Db) -> Self {
        Self::Db(db)
    }
}

impl<'a> From<&'a mut Tx> for Conn<'a> {
    fn from(tx: &'a mut Tx) -> Self {
        Self::Tx(tx)
    }
}

impl<'a> Conn<'a> {
    /// The same connection for one statement, so that a function can run several.
    pub fn reborrow(&mut self) -> Conn<'_> {
        match self {
            Self::Db(db) => Conn::Db(db),
            Self::Tx(tx) => Conn::Tx(tx),
        }
    }

    /// A statement on this connection.
    pub fn query(self, sql: Sql) -> Query<'a> {
        Query::new(self, sql)
    }

    /// The engine of the database.
    #[must_use]
    pub fn engine(&self) -> Engine {
        match self {
            Self::Db(db) => db.engine(),
            Self::Tx(tx) => tx.engine(),
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
            Self::Db(db) => match &db.pools {
                Pools::Sqlite(sqlite) => Handle::SqliteReaders(&sqlite.readers),
                Pools::Postgres(pool) => Handle::PgPool(pool),
            },
            Self::Tx(tx) => match &mut tx.inner {
                Inner::Sqlite(tx) => Handle::SqliteTx(tx),
                Inner::Postgres(tx) => Handle::PgConn(tx),
            },
        }
    }
}

enum Args {
    Sqlite(Vec<Parameter>),
    Postgres(PgArguments),
}

/// A statement with its bound values, ready to run.
#[must_use = "a query does nothing until it is run"]
pub struct Query<'a> {
    conn: Conn<'a>,
    sql: Sql,
    /// The error if a value could not be bound.
    args: std::result::Result<Args, sqlx::Error>,
}

/// A statement on PostgreSQL. Boxed: as part of a caller's future, sqlx's future would be compiled again in each
/// crate that awaits it.
type Running<'a, T> = BoxFuture<'a, Result<T>>;

/// Runs a statement on SQLite: on this thread if it ends within the time slice.
async fn fetch_sqlite(
    readers: &Arc<Readers>,
    sql: Sql,
    args: Vec<Parameter>,
    wanted: Wanted,
    mut rows: Box<dyn Sink>,
) -> Result<Box<dyn Sink>> {
    match readers.try_fetch(sql.sqlite, &args, wanted, &mut *rows) {
        Some(done) => done.map(|()| rows),
        None => {
            rows.clear();
            Arc::clone(readers).fetch(sql.sqlite, args, wanted, rows).await
        }
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
            unreachable!("a query is built for the engine of its connection")
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
            unreachable!("a query is built for the engine of its connection")
        }
    }
}

pub(super) fn decode<T: Row>(rows: &[PgRow]) -> Result<Vec<T>> {
    Ok(rows.iter().map(T::decode).collect::<std::result::Result<_, _>>()?)
}

impl<'a> Query<'a> {
    pub(super) fn new(conn: Conn<'a>, sql: Sql) -> Self {
        let args = match conn.engine() {
            Engine::Sqlite => Args::Sqlite(Vec::new()),
            Engine::Postgres => Args::Postgres(PgArguments::default()),
        };
        Self { conn, sql, args: Ok(args) }
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
        Ok(rows_of(self.fetch(Wanted::All, Box::<Vec<T>>::default()).await?))
    }

    /// The first row, if there is one.
    ///
    /// # Errors
    /// As [`Query::all`].
    pub async fn optional<T: Row>(self) -> Result<Option<T>> {
        Ok(rows_of(self.fetch(Wanted::First, Box::<Vec<T>>::default()).await?).pop())
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
        self.conn.counter().fetch_add(1, Ordering::Relaxed);
        let done = match (self.conn.handle(), self.args?) {
            (Handle::SqliteTx(tx), Args::Sqlite(args)) => tx.execute(self.sql.sqlite, &args),
            (Handle::SqliteReaders(_), Args::Sqlite(_)) => {
                Err(sqlx::Error::Protocol("a change needs a transaction".to_owned()).into())
            }
            (handle, Args::Postgres(args)) => execute_postgres(handle, self.sql, args).await,
            (_, Args::Sqlite(_)) => unreachable!("a query is built for the engine of its connection"),
        };
        ended(&span, done.is_err());
        self.conn.faults().noted(done)
    }

    /// Adds the rows to `rows`, which is returned.
    async fn fetch(mut self, wanted: Wanted, mut rows: Box<dyn Sink>) -> Result<Box<dyn Sink>> {
        let span = self.sql.span();
        self.conn.counter().fetch_add(1, Ordering::Relaxed);
        let done = match (self.conn.handle(), self.args?) {
            (Handle::SqliteReaders(readers), Args::Sqlite(args)) => {
                fetch_sqlite(readers, self.sql, args, wanted, rows).await
            }
            (Handle::SqliteTx(tx), Args::Sqlite(args)) => {
                tx.fetch(self.sql.sqlite, &args, wanted, &mut *rows).map(|()| rows)
            }
            (handle, Args::Postgres(args)) => {
                let fetched = fetch_postgres(handle, self.sql, args, wanted).await;
                fetched.and_then(|fetched| fetched.iter().try_for_each(|row| rows.push_postgres(row))).map(|()| rows)
            }
            (_, Args::Sqlite(_)) => unreachable!("a query is built for the engine of its connection"),
        };
        ended(&span, done.is_err());
        self.conn.faults().noted(done)
    }
}

/// Records in a statement's span whether it failed. The span is never entered: it has no children, and lasts from its
/// creation to its end.
fn ended(span: &Span, failed: bool) {
    if failed {
        span.record("otel.status_code", "ERROR");
    }
}

impl Binder for Query<'_> {
    fn value<'q>(self, value: impl Bind<'q>) -> Self {
        self.bind(value)
    }
}
