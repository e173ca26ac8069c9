//! Confined statements on SQLite's only writer connection, which plugins share with the server.
//!
//! While a plugin's statement runs, the [`Confinement`] of the connection holds the plugin's scope and a deadline, and
//! SQLite's limits are lowered; afterwards both are restored, and the transaction goes on. When a statement was cut
//! off, the connection can only roll back. Plugins that only read have connections of their own:
//! [`readers`](super::readers).

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use libsqlite3_sys as ffi;
use sqlx::sqlite::SqliteConnection;
use sqlx::{AssertSqlSafe, Column as _, Either, Executor as _, SqlSafeStr as _, Statement as _};

use super::authorizer::{self, Confinement, SavedLimits};
use super::{ConfinedError, GRACE, Limits, Param, Rows, Scope, bind};

/// The longest that compiling a statement may take.
const PREPARE: Duration = Duration::from_secs(5);

const PREPARING: Limits = Limits { time: PREPARE, rows: 0, bytes: 0 };

/// The [`Confinement`] of the writer connection. There is one connection at a time, and each new one gets a cell of its own.
#[derive(Debug, Default)]
pub(crate) struct Writer(Mutex<Arc<Confinement>>);

impl Writer {
    /// Hardens a connection that has just been opened, and installs the authorizer with a new cell.
    pub(crate) async fn adopt(&self, connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let cell = Arc::new(Confinement::default());
        authorizer::harden(connection).await?;
        authorizer::install(connection, &cell).await?;
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cell;
        Ok(())
    }

    /// Called before the connection is taken from the pool: removes the time limit of the transaction before. False
    /// when a statement was cut off on it: the pool must close it.
    pub(crate) fn renew(&self) -> bool {
        self.bound(None);
        self.cell().is_clean()
    }

    /// Limits how long the open transaction may still last; `None` removes the limit.
    pub(crate) fn bound(&self, left: Option<Duration>) {
        self.cell().bound(left);
    }

    fn cell(&self) -> Arc<Confinement> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) async fn run(
        &self,
        connection: &mut SqliteConnection,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Param>,
        limits: &Limits,
    ) -> Result<Rows, ConfinedError> {
        let entered = ConfinedGuard::new(self.cell(), scope, limits.time)?;
        let wide = authorizer::lower_limits(connection).await.map_err(|error| failed(&error, limits))?;
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
    ) -> Result<Vec<String>, ConfinedError> {
        let entered = ConfinedGuard::new(self.cell(), scope, PREPARE)?;
        let wide = authorizer::lower_limits(connection).await.map_err(|error| failed(&error, &PREPARING))?;
        let prepared = prepare(connection, text).await;
        entered.rejoin(connection, wide, prepared).await
    }
}

/// A guard for a cell that is confined to a plugin. When it is dropped without [`ConfinedGuard::leave`], the connection can
/// only roll back.
struct ConfinedGuard(Option<Arc<Confinement>>);

impl ConfinedGuard {
    fn new(cell: Arc<Confinement>, scope: &Arc<Scope>, time: Duration) -> Result<Self, ConfinedError> {
        if cell.is_confined() {
            return Err(ConfinedError::Unavailable(
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

    /// Restores the limits of the connection and lets the server go on with its transaction; [`ConfinedError::RolledBack`] when
    /// the statement ended that.
    async fn rejoin<T>(
        self,
        connection: &mut SqliteConnection,
        wide: SavedLimits,
        done: Result<T, ConfinedError>,
    ) -> Result<T, ConfinedError> {
        if authorizer::restore_limits(connection, wide).await.map_err(|error| failed(&error, &PREPARING))? {
            self.leave();
            done
        } else {
            Err(ConfinedError::RolledBack)
        }
    }
}

impl Drop for ConfinedGuard {
    fn drop(&mut self) {
        if let Some(cell) = self.0.take() {
            cell.end();
        }
    }
}

/// Runs a statement within its time. Gives the guard back, unless the statement was cut off: an interrupted statement
/// that writes makes SQLite roll back the whole transaction, so the guard is dropped.
async fn watched(
    connection: &mut SqliteConnection,
    entered: ConfinedGuard,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> (Result<Rows, ConfinedError>, Option<ConfinedGuard>) {
    let done = match tokio::time::timeout(limits.time + GRACE, run(connection, text, args, limits)).await {
        Ok(done) => done,
        Err(_) => Err(ConfinedError::Time(limits.time)),
    };
    match &done {
        Err(ConfinedError::Time(_) | ConfinedError::Bytes(_)) => return (done, None),
        // Rows are left in the stream: locking the handle waits until SQLite has stopped working on them.
        Ok(rows) if rows.truncated => {
            if let Err(error) = connection.lock_handle().await {
                return (Err(failed(&error, limits)), None);
            }
        }
        _ => {}
    }
    (done, Some(entered))
}

/// Refuses `core_v1__…` unless it is qualified as `main.core_v1__…`.
///
/// The authorizer allows reading a table by the name of the view through which it is read, and SQLite also reports the
/// name of a CTE there: a plugin could give a CTE the name of a view. A qualified name never means a CTE.
pub(super) fn guard(text: &str) -> Result<(), ConfinedError> {
    const VIEW: &[u8] = b"core_v1__";
    let bytes = text.as_bytes();
    for (at, found) in bytes.windows(VIEW.len()).enumerate() {
        if found.eq_ignore_ascii_case(VIEW) && !bytes[..at].ends_with(b"main.") {
            return Err(ConfinedError::Denied("core_v1__ stands for a view of the server".to_owned()));
        }
    }
    Ok(())
}

async fn run(
    connection: &mut SqliteConnection,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
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

async fn prepare(connection: &mut SqliteConnection, text: &Arc<str>) -> Result<Vec<String>, ConfinedError> {
    guard(text)?;
    let text = AssertSqlSafe(super::uncached(text)).into_sql_str();
    let statement = connection.prepare(text).await.map_err(|error| failed(&error, &PREPARING))?;
    Ok(statement.columns().iter().map(|column| column.name().to_owned()).collect())
}

fn failed(error: &sqlx::Error, limits: &Limits) -> ConfinedError {
    let sqlx::Error::Database(error) = error else { return ConfinedError::Unavailable(error.to_string()) };
    refused(error.code().and_then(|code| code.parse().ok()), error.message(), limits)
}

/// Maps an extended result code of SQLite (<https://www.sqlite.org/rescode.html>) and its message to [`ConfinedError`].
pub(super) fn refused(code: Option<c_int>, message: &str, limits: &Limits) -> ConfinedError {
    match code {
        Some(ffi::SQLITE_INTERRUPT) => ConfinedError::Time(limits.time),
        Some(ffi::SQLITE_BUSY | ffi::SQLITE_BUSY_RECOVERY | ffi::SQLITE_BUSY_SNAPSHOT) => {
            ConfinedError::Unavailable("it is busy".to_owned())
        }
        Some(ffi::SQLITE_TOOBIG) => ConfinedError::Bytes(authorizer::MAX_VALUE_BYTES),
        Some(ffi::SQLITE_AUTH | ffi::SQLITE_READONLY) => ConfinedError::Denied(message.to_owned()),
        Some(ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID) => {
            ConfinedError::Unique(table_of(message))
        }
        Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER) => ConfinedError::ForeignKey,
        Some(ffi::SQLITE_CONSTRAINT_CHECK | ffi::SQLITE_CONSTRAINT_NOTNULL | ffi::SQLITE_CONSTRAINT_DATATYPE) => {
            ConfinedError::Constraint(message.to_owned())
        }
        // Some refusals of the authorizer are reported with a general error code.
        _ if message.starts_with("not authorized") || message.contains("is prohibited") => {
            ConfinedError::Denied(message.to_owned())
        }
        _ => ConfinedError::Statement(message.to_owned()),
    }
}

/// The table in a message such as `UNIQUE constraint failed: p_notes__notes.id, p_notes__notes.name`.
fn table_of(message: &str) -> String {
    let place = message.rsplit(": ").next().unwrap_or_default();
    place.split(['.', ',']).next().unwrap_or_default().trim_start_matches("index '").trim_end_matches('\'').to_owned()
}
