//! Read-only SQLite connections of one plugin.
//!
//! A statement runs on the calling (async) thread first, under strict limits: handing it to another thread, and its
//! rows back, takes several times as long as reading a page by index. If it does not end within [`STRICT_TIME`], or
//! handles large values, it is interrupted and restarted on a [thread of low priority](super::low_priority), where it
//! has its full time limit and does not block the async runtime. Each connection has a prepared statement cache and
//! little memory: sorts spill to files early.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::sqlite::Parameter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authorizer::{self, Confinement, Stay};
use super::functions::MAX_VALUE_BYTES;
use super::shares::ACQUIRE_TIMEOUT;
use super::sqlite::{self, InterruptOnDrop};
use super::types::{ConfinedError, GRACE, Limits, Param, Rows, Scope};
use super::{bind, low_priority};
use crate::sqlite::{Connection, READING};

/// How long a statement may block the calling thread: half of the time that a plugin may compute before it must
/// yield.
const STRICT_TIME: Duration = Duration::from_millis(2);

/// The page cache of a connection and the memory of a sort, in KiB (negative, as SQLite requires).
const CACHE_KIB: i32 = -2000;

/// Read-only connections, opened when first needed.
#[derive(Debug)]
pub(crate) struct Readers {
    file: PathBuf,
    size: u32,
    /// Statements on blocking threads, which [`Readers::close`] interrupts.
    running: Mutex<Vec<(Arc<Confinement>, Stay)>>,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

/// A statement to run, with its parameters and limits.
struct ReadRequest {
    scope: Arc<Scope>,
    text: Arc<str>,
    args: Vec<Parameter>,
    limits: Limits,
}

impl Readers {
    /// At most `size` readers of the database in `file`; opens no connection yet.
    pub(super) fn new(file: &Path, size: u32) -> Self {
        let places = Arc::new(Semaphore::new(size as usize));
        Self { file: file.to_owned(), size, running: Mutex::default(), places, idle: Mutex::default() }
    }

    /// True when a connection is free.
    pub(crate) fn is_free(&self) -> bool {
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

    /// Runs a statement on a blocking thread, with the relaxed limits and its full time. When this future is dropped
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
        self.note_running(&reader.cell, stay);
        let reading = low_priority::spawn(move || {
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

    /// Records a statement on a blocking thread, and removes statements that have ended.
    fn note_running(&self, cell: &Arc<Confinement>, stay: Stay) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.retain(|(cell, stay)| cell.is_in(*stay));
        running.push((Arc::clone(cell), stay));
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

    /// Interrupts running statements, and closes the connections.
    pub(super) async fn close(&self) {
        let running = std::mem::take(&mut *self.running.lock().unwrap_or_else(PoisonError::into_inner));
        running.into_iter().for_each(|(cell, stay)| cell.end(stay));
        let all = self.places.acquire_many(self.size);
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
    raw.pragma_update(None, "temp_store", "file")?;
    raw.pragma_update(None, "cache_size", CACHE_KIB)?;
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

/// True for a failure that the strict limits may have caused, so that the statement should be retried under the
/// relaxed limits.
fn is_strict_failure(failed: &ConfinedError) -> bool {
    match failed {
        ConfinedError::Time(_) | ConfinedError::Unavailable(_) | ConfinedError::Bytes(MAX_VALUE_BYTES) => true,
        ConfinedError::Statement(message) => message.contains("pattern too complex"),
        _ => false,
    }
}
