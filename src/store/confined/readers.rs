//! Read-only SQLite connections that only plugins use.
//!
//! A statement is run on the calling (async) thread first, under strict limits: to hand it to another thread, and its
//! rows back, takes several times as long as reading a page by index. If it does not end within [`STRICT_TIME`], or handles
//! large values, it is interrupted and started again on a blocking thread, where it has all of its time limit and
//! blocks nobody. There are at most [`MAX_READERS`] connections, each with a prepared statement cache.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::sqlite::Parameter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer::{self, Confinement};
use super::sqlite::{self, InterruptOnDrop};
use super::{ConfinedError, GRACE, Limits, Param, Rows, Scope, bind};
use crate::sqlite::{Connection, READING};

/// Most connections.
const MAX_READERS: usize = 4;

/// How long a call waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a statement may block the calling thread: half of what a plugin may compute before it must yield.
const STRICT_TIME: Duration = Duration::from_millis(2);

/// Read-only connections, opened when first needed.
#[derive(Debug)]
pub(crate) struct Readers {
    file: PathBuf,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

/// A statement to be run, with its parameters and limits.
struct ReadRequest {
    scope: Arc<Scope>,
    text: Arc<str>,
    args: Vec<Parameter>,
    limits: Limits,
}

impl Readers {
    /// Readers of the database in `file`; no connection is opened yet.
    pub(crate) fn new(file: &Path) -> Self {
        Self { file: file.to_owned(), places: Arc::new(Semaphore::new(MAX_READERS)), idle: Mutex::default() }
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
        let args = bind::sqlite(args)?;
        let request = ReadRequest { scope: Arc::clone(scope), text: Arc::clone(text), args, limits: *limits };
        match request.read(&reader, STRICT_TIME.min(limits.time)) {
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
        reader: Connection,
        place: OwnedSemaphorePermit,
        request: ReadRequest,
    ) -> Result<Rows, ConfinedError> {
        let time = request.limits.time;
        let stay = reader.cell.enter(&request.scope, time);
        let ended = InterruptOnDrop(Arc::clone(&reader.cell), stay);
        let reading = tokio::task::spawn_blocking(move || {
            authorizer::set_strict(&reader.raw, false);
            let done = reader.raw.busy_timeout(time).map_err(|error| sqlite::failed(&error, &request.limits));
            let done = done.and_then(|()| request.rows(&reader));
            let _ = reader.raw.busy_timeout(Duration::ZERO);
            authorizer::set_strict(&reader.raw, true);
            reader.cell.leave();
            (reader, place, done)
        });
        let Ok(read) = tokio::time::timeout(time + GRACE, reading).await else { return Err(ConfinedError::Time(time)) };
        drop(ended);
        let (reader, _place, done) = read.map_err(|error| ConfinedError::Unavailable(error.to_string()))?;
        self.keep(reader);
        done
    }

    fn take(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn keep(&self, reader: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.places.is_closed() {
            idle.push(reader);
        }
    }

    async fn open(&self) -> Result<Connection, ConfinedError> {
        let file = self.file.clone();
        let opened = tokio::task::spawn_blocking(move || open(&file)).await;
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

/// Opens a connection, confined and with the strict limits.
fn open(file: &Path) -> rusqlite::Result<Connection> {
    let raw = Connection::open(file, READING)?;
    raw.pragma_update(None, "query_only", "true")?;
    raw.busy_timeout(Duration::ZERO)?;
    let cell = Arc::new(Confinement::default());
    authorizer::confine(&raw, &cell)?;
    authorizer::set_strict(&raw, true);
    Ok(Connection::new(raw, cell))
}

impl ReadRequest {
    /// Runs the statement on this thread, for at most `time`.
    fn read(&self, reader: &Connection, time: Duration) -> Result<Rows, ConfinedError> {
        reader.cell.enter(&self.scope, time);
        let read = self.rows(reader);
        reader.cell.leave();
        read
    }

    fn rows(&self, reader: &Connection) -> Result<Rows, ConfinedError> {
        sqlite::rows(&reader.raw, &self.text, &self.args, &self.limits)
    }
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
