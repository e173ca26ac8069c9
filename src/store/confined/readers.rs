//! Read-only SQLite connections that only plugins use.
//!
//! A statement is run on the calling (async) thread first, under strict limits: to hand it to another thread, and its
//! rows back, takes several times as long as reading a page by index. If it does not end within [`STRICT_TIME`], or handles
//! large values, it is interrupted and started again on a blocking thread, where it has all of its time limit and
//! blocks nobody. There are at most [`MAX_READERS`] connections, each with a prepared statement cache.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Statement};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer::{self, Confinement};
use super::{ConfinedError, GRACE, Limits, Param, Rows, Scope, Value, bind, sqlite};

/// Most connections.
const MAX_READERS: usize = 4;

/// How long a call waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a statement may block the calling thread: half of what a plugin may compute before it must yield.
const STRICT_TIME: Duration = Duration::from_millis(2);

/// Capacity of the prepared statement cache of each connection.
const STATEMENT_CACHE: usize = 512;

/// Read-only connections, opened when first needed.
#[derive(Debug)]
pub(crate) struct Readers {
    file: PathBuf,
    /// PRAGMAs of each connection.
    pragmas: &'static [(&'static str, &'static str)],
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Reader>>,
}

#[derive(Debug)]
struct Reader {
    connection: Connection,
    cell: Arc<Confinement>,
}

/// A statement to be run, with its parameters and limits.
struct ReadRequest {
    scope: Arc<Scope>,
    text: Arc<str>,
    args: Vec<Param>,
    limits: Limits,
}

impl Readers {
    /// Readers of the database in `file`; no connection is opened yet.
    pub(crate) fn new(file: &Path, pragmas: &'static [(&'static str, &'static str)]) -> Self {
        Self { file: file.to_owned(), pragmas, places: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::default() }
    }

    /// True when a connection is free.
    pub(super) fn is_free(&self) -> bool {
        self.places.available_permits() > 0
    }

    pub(super) async fn run(
        &self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Param>,
        limits: &Limits,
    ) -> Result<Rows, ConfinedError> {
        sqlite::guard(text)?;
        let place = tokio::time::timeout(ACQUIRE_TIMEOUT, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Err(ConfinedError::Unavailable("all connections are busy".to_owned()));
        };
        let reader = match self.take() {
            Some(reader) => reader,
            None => self.open().await?,
        };
        let request = ReadRequest { scope: Arc::clone(scope), text: Arc::clone(text), args, limits: *limits };
        match reader.read(&request, STRICT_TIME.min(limits.time)) {
            Err(failed) if is_strict_failure(&failed) => self.run_relaxed(reader, place, request).await,
            done => {
                self.keep(reader);
                done
            }
        }
    }

    /// Runs a statement on a blocking thread, with the relaxed limits and all of its time. When this future is dropped
    /// or times out, the statement is interrupted and the connection closed.
    async fn run_relaxed(
        &self,
        reader: Reader,
        place: OwnedSemaphorePermit,
        request: ReadRequest,
    ) -> Result<Rows, ConfinedError> {
        let (time, mut ended) = (request.limits.time, InterruptOnDrop(Some(Arc::clone(&reader.cell))));
        let reading = tokio::task::spawn_blocking(move || {
            authorizer::set_strict(&reader.connection, false);
            let done = reader.connection.busy_timeout(time).map_err(|error| failed(&error, &request.limits));
            let done = done.and_then(|()| reader.read(&request, time));
            let _ = reader.connection.busy_timeout(Duration::ZERO);
            authorizer::set_strict(&reader.connection, true);
            (reader, place, done)
        });
        let Ok(read) = tokio::time::timeout(time + GRACE, reading).await else { return Err(ConfinedError::Time(time)) };
        ended.0 = None;
        let (reader, _place, done) = read.map_err(|error| ConfinedError::Unavailable(error.to_string()))?;
        self.keep(reader);
        done
    }

    fn take(&self) -> Option<Reader> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, reader: Reader) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.places.is_closed() {
            idle.push(reader);
        }
    }

    async fn open(&self) -> Result<Reader, ConfinedError> {
        let (file, pragmas) = (self.file.clone(), self.pragmas);
        let opened = tokio::task::spawn_blocking(move || Reader::open(&file, pragmas)).await;
        let opened = opened.map_err(|error| ConfinedError::Unavailable(error.to_string()))?;
        opened.map_err(|error| ConfinedError::Unavailable(error.to_string()))
    }

    /// Waits briefly for running statements, and closes the connections.
    pub(crate) async fn close(&self) {
        let all = self.places.acquire_many(u32::try_from(MAX_READERS).unwrap_or(u32::MAX));
        let _ = tokio::time::timeout(GRACE, all).await;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        self.places.close();
        idle.clear();
    }
}

/// A guard that interrupts the statement of a connection when it is dropped.
struct InterruptOnDrop(Option<Arc<Confinement>>);

impl Drop for InterruptOnDrop {
    fn drop(&mut self) {
        if let Some(cell) = &self.0 {
            cell.end();
        }
    }
}

impl Reader {
    fn open(file: &Path, pragmas: &[(&str, &str)]) -> rusqlite::Result<Self> {
        let connection =
            Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        for (name, value) in pragmas.iter().chain(&[("query_only", "true")]) {
            connection.pragma_update(None, name, value)?;
        }
        connection.busy_timeout(Duration::ZERO)?;
        connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        let cell = Arc::new(Confinement::default());
        authorizer::confine(&connection, &cell)?;
        authorizer::set_strict(&connection, true);
        Ok(Self { connection, cell })
    }

    fn read(&self, request: &ReadRequest, time: Duration) -> Result<Rows, ConfinedError> {
        self.cell.enter(&request.scope, time);
        let read = self.rows(request);
        self.cell.leave();
        read
    }

    fn rows(&self, ReadRequest { text, args, limits, .. }: &ReadRequest) -> Result<Rows, ConfinedError> {
        let failed = |error| failed(&error, limits);
        let mut statement = self.connection.prepare_cached(text).map_err(failed)?;
        bind_all(&mut statement, args, limits)?;
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
                let value = match row.get_ref(index).map_err(failed)? {
                    ValueRef::Null => Value::Null,
                    ValueRef::Integer(value) => Value::Integer(value),
                    ValueRef::Real(value) => Value::Real(value),
                    ValueRef::Text(bytes) => Value::Text(bind::utf8(bytes)?),
                    ValueRef::Blob(bytes) => Value::Blob(bytes.to_owned()),
                };
                rows.push(value, limits)?;
            }
        }
        Ok(rows)
    }
}

/// Binds `$1`, `$2` … by their number: SQLite numbers `$n` as named parameters, in the order in which they first occur.
fn bind_all(statement: &mut Statement<'_>, args: &[Param], limits: &Limits) -> Result<(), ConfinedError> {
    for index in 1..=statement.parameter_count() {
        let number = statement.parameter_name(index).and_then(|name| name.get(1..)?.parse::<usize>().ok());
        let arg = args.get(number.unwrap_or(index).wrapping_sub(1));
        let arg = arg.ok_or_else(|| ConfinedError::Statement(format!("no value for parameter {index}")))?;
        let bound = match arg {
            Param::Null(_) => statement.raw_bind_parameter(index, rusqlite::types::Null),
            Param::Boolean(value) => statement.raw_bind_parameter(index, value),
            Param::Integer(value) => statement.raw_bind_parameter(index, value),
            Param::Real(value) => statement.raw_bind_parameter(index, value),
            Param::Text(value) => statement.raw_bind_parameter(index, value),
            Param::Blob(value) => statement.raw_bind_parameter(index, value),
            Param::Json(value) => statement.raw_bind_parameter(index, value.get()),
            Param::Integers(values) => statement.raw_bind_parameter(index, bind::list(values)?),
            Param::Texts(values) => statement.raw_bind_parameter(index, bind::list(values)?),
        };
        bound.map_err(|error| failed(&error, limits))?;
    }
    Ok(())
}

/// True for a failure that the strict limits may have caused, so that the statement is worth starting again under the
/// relaxed ones.
fn is_strict_failure(failed: &ConfinedError) -> bool {
    match failed {
        ConfinedError::Time(_) | ConfinedError::Unavailable(_) | ConfinedError::Bytes(authorizer::MAX_VALUE_BYTES) => {
            true
        }
        ConfinedError::Statement(message) => message.contains("pattern too complex"),
        _ => false,
    }
}

fn failed(error: &rusqlite::Error, limits: &Limits) -> ConfinedError {
    match error {
        rusqlite::Error::SqliteFailure(error, message) => {
            let message = message.clone().unwrap_or_else(|| error.to_string());
            sqlite::refused(Some(error.extended_code), &message, limits)
        }
        rusqlite::Error::SqlInputError { error, msg, .. } => sqlite::refused(Some(error.extended_code), msg, limits),
        other => ConfinedError::Statement(other.to_string()),
    }
}
