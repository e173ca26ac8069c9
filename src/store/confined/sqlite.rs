//! On SQLite: the one writer, which plugins share with the server.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use libsqlite3_sys as ffi;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Column as _, Either, Executor as _, SqlSafeStr as _, Statement as _};

use super::authorizer::{self, Cell, Wide};
use super::{Arg, Failed, GRACE, Limits, Rows, Scope, bind};

/// Time to compile a statement.
const PREPARE: Duration = Duration::from_secs(5);

const PREPARING: Limits = Limits { time: PREPARE, rows: 0, bytes: 0 };

/// Who the writer's connection works for. There is one connection at a time; each gets a cell of its own.
#[derive(Debug, Default)]
pub(in crate::store) struct Writer(Mutex<Arc<Cell>>);

impl Writer {
    /// For a connection that has just been opened.
    pub(in crate::store) async fn adopt(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let cell = Arc::new(Cell::default());
        authorizer::harden(connection).await?;
        authorizer::install(connection, &cell).await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cell;
        Ok(())
    }

    /// For who takes the connection next, with all the time there is. False when a statement was left in the middle: the
    /// connection must not be used again.
    pub(in crate::store) fn renew(&self) -> bool {
        self.bound(None);
        self.cell().is_clean()
    }

    /// The transaction that is open ends after `left` at the latest.
    pub(in crate::store) fn bound(&self, left: Option<Duration>) {
        self.cell().bound(left);
    }

    fn cell(&self) -> Arc<Cell> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) async fn run(
        &self,
        connection: &mut SqliteConnection,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Arg>,
        limits: &Limits,
    ) -> Result<Rows, Failed> {
        let entered = Entered::new(self.cell(), scope, limits.time)?;
        let wide = authorizer::narrow(connection).await.map_err(|error| failed(&error, limits))?;
        let (done, entered) = watched(connection, entered, text, args, limits).await;
        match entered {
            None => done,
            Some(entered) => entered.rejoin(connection, wide, done).await,
        }
    }

    pub(super) async fn prepare(
        &self,
        connection: &mut SqliteConnection,
        scope: &Arc<Scope>,
        text: &Arc<str>,
    ) -> Result<Vec<String>, Failed> {
        let entered = Entered::new(self.cell(), scope, PREPARE)?;
        let wide = authorizer::narrow(connection).await.map_err(|error| failed(&error, &PREPARING))?;
        let prepared = prepare(connection, text).await;
        entered.rejoin(connection, wide, prepared).await
    }
}

/// A cell that works for a plugin. Dropped without [`Entered::leave`], the connection can only roll back.
struct Entered(Option<Arc<Cell>>);

impl Entered {
    fn new(cell: Arc<Cell>, scope: &Arc<Scope>, time: Duration) -> Result<Self, Failed> {
        if cell.is_confined() {
            return Err(Failed::Unavailable(
                "an earlier statement was cut off, so this transaction is over".to_owned(),
            ));
        }
        cell.enter(scope, time);
        Ok(Self(Some(cell)))
    }

    fn leave(mut self) {
        if let Some(cell) = self.0.take() {
            cell.leave();
        }
    }

    /// Gives the connection back to the transaction of the server, unless the statement ended that.
    async fn rejoin<T>(
        self,
        connection: &mut SqliteConnection,
        wide: Wide,
        done: Result<T, Failed>,
    ) -> Result<T, Failed> {
        if authorizer::widen(connection, wide).await.map_err(|error| failed(&error, &PREPARING))? {
            self.leave();
            done
        } else {
            Err(Failed::Undone)
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            cell.end();
        }
    }
}

/// Runs a text; gives back what was entered, unless the text was cut off: SQLite then rolls the whole transaction back by
/// itself.
async fn watched(
    connection: &mut SqliteConnection,
    entered: Entered,
    text: &Arc<str>,
    args: Vec<Arg>,
    limits: &Limits,
) -> (Result<Rows, Failed>, Option<Entered>) {
    let done = match tokio::time::timeout(limits.time + GRACE, run(connection, text, args, limits)).await {
        Ok(done) => done,
        Err(_) => Err(Failed::Time(limits.time)),
    };
    match &done {
        Err(Failed::Time(_) | Failed::Bytes(_)) => return (done, None),
        // Having the handle means that the engine is not at work on rows that nobody takes any more.
        Ok(rows) if rows.truncated => {
            if let Err(error) = connection.lock_handle().await {
                return (Err(failed(&error, limits)), None);
            }
        }
        _ => {}
    }
    (done, Some(entered))
}

/// A view's name must not become the name of a common table: the authorizer goes by the name through which a table is
/// read. What is qualified can be no such name.
pub(super) fn guard(text: &str) -> Result<(), Failed> {
    const VIEW: &[u8] = b"core_v1__";
    let bytes = text.as_bytes();
    for (at, found) in bytes.windows(VIEW.len()).enumerate() {
        if found.eq_ignore_ascii_case(VIEW) && !bytes[..at].ends_with(b"main.") {
            return Err(Failed::Denied("core_v1__ stands for a view of the server".to_owned()));
        }
    }
    Ok(())
}

async fn run(
    connection: &mut SqliteConnection,
    text: &Arc<str>,
    args: Vec<Arg>,
    limits: &Limits,
) -> Result<Rows, Failed> {
    guard(text)?;
    let query = sqlx::query_with(AssertSqlSafe(Arc::clone(text)), bind::sqlite(args)?);
    let mut stream = connection.fetch_many(query);
    let mut rows = Rows::default();
    while let Some(next) = stream.next().await {
        match next.map_err(|error| failed(&error, limits))? {
            Either::Left(done) => rows.affected += done.rows_affected(),
            Either::Right(_) if rows.full(limits) => break,
            Either::Right(row) => bind::take_sqlite(&row, &mut rows, limits)?,
        }
    }
    Ok(rows)
}

async fn prepare(connection: &mut SqliteConnection, text: &Arc<str>) -> Result<Vec<String>, Failed> {
    guard(text)?;
    let text = AssertSqlSafe(super::anew(text)).into_sql_str();
    let statement = connection.prepare(text).await.map_err(|error| failed(&error, &PREPARING))?;
    Ok(statement.columns().iter().map(|column| column.name().to_owned()).collect())
}

fn failed(error: &sqlx::Error, limits: &Limits) -> Failed {
    let sqlx::Error::Database(error) = error else { return Failed::Unavailable(error.to_string()) };
    refused(error.code().and_then(|code| code.parse().ok()), error.message(), limits)
}

/// What SQLite says by an extended result code (<https://www.sqlite.org/rescode.html>) and in words.
pub(super) fn refused(code: Option<c_int>, message: &str, limits: &Limits) -> Failed {
    match code {
        Some(ffi::SQLITE_INTERRUPT) => Failed::Time(limits.time),
        Some(ffi::SQLITE_BUSY | ffi::SQLITE_BUSY_RECOVERY | ffi::SQLITE_BUSY_SNAPSHOT) => {
            Failed::Unavailable("it is busy".to_owned())
        }
        Some(ffi::SQLITE_TOOBIG) => Failed::Bytes(authorizer::VALUE),
        Some(ffi::SQLITE_AUTH | ffi::SQLITE_READONLY) => Failed::Denied(message.to_owned()),
        Some(ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID) => {
            Failed::Unique(table_of(message))
        }
        Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER) => Failed::ForeignKey,
        Some(ffi::SQLITE_CONSTRAINT_CHECK | ffi::SQLITE_CONSTRAINT_NOTNULL | ffi::SQLITE_CONSTRAINT_DATATYPE) => {
            Failed::Constraint(message.to_owned())
        }
        // Some refusals of the authorizer come back as plain errors.
        _ if message.starts_with("not authorized") || message.contains("is prohibited") => {
            Failed::Denied(message.to_owned())
        }
        _ => Failed::Statement(message.to_owned()),
    }
}

/// `UNIQUE constraint failed: p_notes__notes.id, p_notes__notes.name`
fn table_of(message: &str) -> String {
    let place = message.rsplit(": ").next().unwrap_or_default();
    place.split(['.', ',']).next().unwrap_or_default().trim_start_matches("index '").trim_end_matches('\'').to_owned()
}
