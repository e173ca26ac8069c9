//! The server's read connections: a pool from which a statement takes one for as long as it runs.
//!
//! A statement runs on the calling (async) thread: handing it to another thread, and its rows back, takes several
//! times as long as reading a page by index. A statement that does not end within [`SLICE`] is interrupted and
//! restarted on a blocking thread.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use model::sqlite::Parameter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::blocking;
use super::connection::{Connection, Wanted};
use crate::sink::Sink;
use crate::{Error, PoolStats, Result};

/// How long a statement may block the calling thread.
const SLICE: Duration = Duration::from_millis(4);

/// Read connections, opened when first needed.
#[derive(Debug)]
pub(crate) struct Readers {
    file: PathBuf,
    size: u32,
    timeout: Duration,
    places: Arc<Semaphore>,
    idle: Mutex<Vec<Connection>>,
}

/// A connection from the pool; dropping it returns it.
pub(crate) struct Reader {
    pool: Arc<Readers>,
    connection: Option<Connection>,
    _place: OwnedSemaphorePermit,
}

impl Readers {
    /// At most `size` connections to `file`, with a wait of at most `timeout`; opens none yet.
    pub(super) fn new(file: &Path, size: u32, timeout: Duration) -> Self {
        let places = Arc::new(Semaphore::new(size as usize));
        Self { file: file.to_owned(), size, timeout, places, idle: Mutex::default() }
    }

    /// Runs a statement on this thread and adds its rows to `rows`. `None`: no connection was idle, or the time slice
    /// ended, after which `rows` has some of them.
    pub(crate) fn try_fetch(
        self: &Arc<Self>,
        text: &'static str,
        args: &[Parameter],
        wanted: Wanted,
        rows: &mut dyn Sink,
    ) -> Option<Result<()>> {
        let reader = self.try_take()?;
        let done = reader.connection()?.within(SLICE, |connection| connection.fetch(text, args, wanted, rows));
        (!matches!(&done, Err(error) if error.is_interrupted())).then_some(done.map(drop))
    }

    /// As [`Readers::try_fetch`], on a blocking thread and without the time slice, once a connection is free.
    pub(crate) fn fetch(
        self: Arc<Self>,
        text: &'static str,
        args: Vec<Parameter>,
        wanted: Wanted,
        mut rows: Box<dyn Sink>,
    ) -> BoxFuture<'static, Result<Box<dyn Sink>>> {
        Box::pin(async move {
            let reader = self.take().await?;
            blocking(move || {
                let open = reader.open()?;
                open.connection()?.fetch(text, &args, wanted, &mut *rows)?;
                Ok(rows)
            })
            .await
        })
    }

    fn try_take(self: &Arc<Self>) -> Option<Reader> {
        let place = Arc::clone(&self.places).try_acquire_owned().ok()?;
        let connection = self.idle().pop()?;
        Some(Reader { pool: Arc::clone(self), connection: Some(connection), _place: place })
    }

    /// Takes a connection; [`Reader::open`] opens it if none was idle.
    pub(crate) async fn take(self: &Arc<Self>) -> Result<Reader> {
        let place = tokio::time::timeout(self.timeout, Arc::clone(&self.places).acquire_owned()).await;
        let place = place.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        Ok(Reader { pool: Arc::clone(self), connection: self.idle().pop(), _place: place })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stats(&self) -> PoolStats {
        let idle = self.idle().len();
        let taken = (self.size as usize).saturating_sub(self.places.available_permits());
        PoolStats { open: u32::try_from(idle + taken).unwrap_or(u32::MAX), idle }
    }

    /// Waits for running statements, and closes the connections.
    pub(super) async fn close(&self) {
        let all = tokio::time::timeout(self.timeout, self.places.acquire_many(self.size)).await;
        self.places.close();
        drop(all);
        self.idle().clear();
    }
}

impl Reader {
    fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Returns the connection; opens it first if none was idle, which takes a millisecond.
    pub(super) fn open(mut self) -> Result<OpenReader> {
        if self.connection.is_none() {
            self.connection = Some(Connection::reader(&self.pool.file)?);
        }
        Ok(OpenReader(self))
    }
}

/// A [`Reader`] whose connection is open.
pub(super) struct OpenReader(Reader);

impl OpenReader {
    pub(super) fn connection(&self) -> Result<&Connection> {
        self.0.connection().ok_or(Error::Sql(sqlx::Error::PoolClosed))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && !self.pool.places.is_closed()
        {
            self.pool.idle().push(connection);
        }
    }
}
