//! Confined statements on SQLite, and statements on the only writer connection, which plugins share with the server.
//!
//! While a plugin's statement runs, the [`Confinement`] of the connection has the plugin's scope and a deadline, and
//! SQLite's limits are lowered; afterwards both are restored, and the transaction continues. On the writer it runs on
//! a blocking thread, since it may use its full time limit there: interrupting it would roll back the transaction.
//! After a statement was cut off, the connection can only roll back. Plugins that only read have separate
//! connections: [`readers`](super::readers).

use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

use libsqlite3_sys as ffi;
use model::sqlite::Parameter;

use super::authorizer::{self, Confinement, Stay};
use super::bind;
use super::functions::MAX_VALUE_BYTES;
use super::types::{ConfinedError, Limits, Param, Rows, Scope, within};
use crate::Fault;
use crate::sqlite::connection::bind_by_number;
use crate::sqlite::{Connection, Transaction};

/// The longest that compiling a statement may take.
const PREPARE: Duration = Duration::from_secs(5);

const PREPARING: Limits = Limits { time: PREPARE, rows: 0, bytes: 0 };

/// A guard that interrupts the plugin's statement if it is dropped before the statement ends.
pub(super) struct InterruptOnDrop(pub(super) Arc<Confinement>, pub(super) Stay);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

pub(super) async fn run(
    tx: &mut Transaction,
    scope: &Arc<Scope>,
    text: &Arc<str>,
    args: Vec<Param>,
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
    guard(text)?;
    let (text, args, limits) = (Arc::clone(text), bind::sqlite(args)?, *limits);
    confined(tx, scope, limits, move |connection| rows(connection, &text, &args, &limits)).await
}

/// Prepares a statement without the cache and returns the names of its columns.
pub(super) async fn prepare(
    tx: &mut Transaction,
    scope: &Arc<Scope>,
    text: &Arc<str>,
) -> Result<Vec<String>, ConfinedError> {
    guard(text)?;
    let text = Arc::clone(text);
    confined(tx, scope, PREPARING, move |connection| {
        let statement = connection.prepare(&text).map_err(|error| failed(&error, &PREPARING))?;
        Ok(statement.column_names().into_iter().map(str::to_owned).collect())
    })
    .await
}

/// Runs `work` on a blocking thread within `scope`, for at most the time of `limits`.
async fn confined<T: Send + 'static>(
    tx: &mut Transaction,
    scope: &Arc<Scope>,
    limits: Limits,
    work: impl FnOnce(&rusqlite::Connection) -> Result<T, ConfinedError> + Send + 'static,
) -> Result<T, ConfinedError> {
    let over =
        || ConfinedError::Unavailable("an earlier statement was cancelled, so this transaction has ended".to_owned());
    let cell = tx.cell().ok().filter(|cell| !cell.is_confined()).ok_or_else(over)?;
    let stay = cell.enter(scope, limits.time);
    let interrupt = InterruptOnDrop(Arc::clone(&cell), stay);
    let done = within(&limits, async {
        let ran = tx.on_blocking_thread(move |connection| enclosed(connection, work)).await;
        ran.map_err(|error| ConfinedError::Unavailable(error.to_string()))?
    });
    let done = done.await;
    drop(interrupt);
    match done {
        Err(ConfinedError::Time(_)) if cell.was_cut_off() => Err(ConfinedError::TransactionTime),
        done => done,
    }
}

/// Runs `work` within the limits of plugins; after a cut-off the connection stays confined.
fn enclosed<T>(
    connection: &Connection,
    work: impl FnOnce(&rusqlite::Connection) -> Result<T, ConfinedError>,
) -> Result<T, ConfinedError> {
    let done = authorizer::with_relaxed_limits(&connection.raw, &connection.cell, || work(&connection.raw));
    if matches!(done, Err(ConfinedError::Time(_) | ConfinedError::Bytes(_))) {
        return done;
    }
    if connection.raw.is_autocommit() {
        return Err(ConfinedError::RolledBack);
    }
    connection.cell.leave();
    done
}

/// Runs a statement and collects its rows, within `limits` except for the time.
pub(super) fn rows(
    connection: &rusqlite::Connection,
    text: &str,
    args: &[Parameter],
    limits: &Limits,
) -> Result<Rows, ConfinedError> {
    let failed = |error| failed(&error, limits);
    let mut statement = connection.prepare_cached(text).map_err(failed)?;
    bind_by_number(&mut statement, args)
        .map_err(failed)?
        .map_err(|number| ConfinedError::Statement(format!("no value for parameter {number}")))?;
    let mut rows = Rows::default();
    let mut found = statement.raw_query();
    while let Some(row) = found.next().map_err(failed)? {
        if rows.full(limits) {
            break;
        }
        if rows.columns.is_empty() {
            rows.columns = row.as_ref().column_names().into_iter().map(str::to_owned).collect();
        }
        for index in 0..rows.columns.len() {
            rows.push(bind::take_sqlite(row.get_ref(index).map_err(failed)?)?, limits)?;
        }
    }
    drop(found);
    rows.affected = if statement.readonly() { 0 } else { connection.changes() };
    Ok(rows)
}

/// Rejects `core_v1__…` unless it is qualified as `main.core_v1__…`.
///
/// The authorizer allows reading a table by the name of the view through which it is read, and SQLite also passes the
/// name of a CTE there: a plugin could give a CTE the name of a view. A qualified name never refers to a CTE.
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

/// Maps an error of SQLite to [`ConfinedError`].
pub(super) fn failed(error: &rusqlite::Error, limits: &Limits) -> ConfinedError {
    match error {
        rusqlite::Error::SqliteFailure(error, message) => {
            let message = message.clone().unwrap_or_else(|| error.to_string());
            refused(error.extended_code, &message, limits)
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => refused(error.extended_code, msg, limits),
        other => ConfinedError::Statement(other.to_string()),
    }
}

/// Maps an extended result code of SQLite (<https://www.sqlite.org/rescode.html>) and its message to [`ConfinedError`].
fn refused(code: c_int, message: &str, limits: &Limits) -> ConfinedError {
    match code {
        ffi::SQLITE_INTERRUPT => ConfinedError::Time(limits.time),
        ffi::SQLITE_BUSY | ffi::SQLITE_BUSY_RECOVERY | ffi::SQLITE_BUSY_SNAPSHOT => {
            ConfinedError::Unavailable("it is busy".to_owned())
        }
        ffi::SQLITE_FULL => ConfinedError::Unavailable(Fault::Full.sentence().to_owned()),
        ffi::SQLITE_TOOBIG => ConfinedError::Bytes(MAX_VALUE_BYTES),
        ffi::SQLITE_AUTH | ffi::SQLITE_READONLY => ConfinedError::Denied(message.to_owned()),
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_ROWID => {
            ConfinedError::Unique(table_of(message))
        }
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER => ConfinedError::ForeignKey,
        ffi::SQLITE_CONSTRAINT_CHECK | ffi::SQLITE_CONSTRAINT_NOTNULL | ffi::SQLITE_CONSTRAINT_DATATYPE => {
            ConfinedError::Constraint(message.to_owned())
        }
        // Some rejections of the authorizer have a general error code.
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
