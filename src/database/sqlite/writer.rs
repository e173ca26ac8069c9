//! The one connection that writes, for which transactions queue, and the transaction that holds it.
//!
//! Statements of a transaction run on the calling thread, without a time slice: an interrupted change would roll back
//! its whole transaction. Waiting for the connection is asynchronous and first come, first served; for other
//! processes (the command line beside a server) the writer retries. A commit writes its pages to the write-ahead log
//! and frees the connection; only then its caller waits for the [sync](super::log_sync).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::row::Row;
use model::sqlite::Parameter;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

use super::blocking;
use super::connection::{BUSY_TIMEOUT, Connection, Wanted};
use super::log_sync::{Log, LogSync, open_log, pages_of_log};
use super::writer_lock::{HeldSince, Holding};
use crate::confined::authorizer::Confinement;
use crate::sink::Sink;
use crate::versions::{Touched, Versions};
use crate::{Error, Fault, Result};

/// The pause between two attempts to get the lock of the file.
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// The writer connection and its queue.
#[derive(Debug)]
pub(crate) struct Writer {
    /// `None` after the writer was closed.
    connection: Arc<Mutex<Option<Connection>>>,
    held: Arc<HeldSince>,
    /// The scope and deadlines of the connection.
    cell: Arc<Confinement>,
    timeout: Duration,
    sync: Arc<LogSync>,
    versions: Arc<Versions>,
    touched: Arc<Touched>,
}

/// An open transaction; dropping it rolls it back.
#[derive(Debug)]
pub(crate) struct Transaction {
    /// `None` while a blocking thread uses it.
    held: Option<Held>,
    sync: Arc<LogSync>,
    versions: Arc<Versions>,
    touched: Arc<Touched>,
    wrote: bool,
    /// The fault of the machine that a statement reported.
    fault: Option<Fault>,
}

/// The connection, inside of a transaction unless it was committed.
#[derive(Debug)]
pub(crate) struct Held {
    _holding: Holding,
    connection: OwnedMutexGuard<Option<Connection>>,
    open: bool,
}

impl Writer {
    /// Opens the file, and starts the threads that sync and checkpoint its log. Transactions wait for it for at most
    /// `timeout`.
    pub(super) fn open(file: &Path, timeout: Duration, versions: Arc<Versions>) -> Result<Self> {
        Self::open_with(file, timeout, versions, open_log)
    }

    /// As [`Writer::open`], with a log that `open` opens once SQLite has created it.
    pub(super) fn open_with<L: Log>(
        file: &Path,
        timeout: Duration,
        versions: Arc<Versions>,
        open: impl FnOnce(&Path) -> Result<L>,
    ) -> Result<Self> {
        let connection = Connection::writer(file)?;
        forget_statistics(&connection)?;
        let touched = Arc::new(Touched::default());
        let noting = Arc::clone(&touched);
        connection.raw.update_hook(Some(move |_, _: &str, table: &str, row| noting.note(table, row)))?;
        connection.raw.wal_hook(Some(pages_of_log));
        let (held, cell) = (Arc::new(HeldSince::new()), Arc::clone(&connection.cell));
        cell.watch(Arc::clone(&held));
        let connection = Arc::new(Mutex::new(Some(connection)));
        let sync = Arc::new(LogSync::start(file, Arc::clone(&connection), open(file)?)?);
        Ok(Self { connection, held, cell, timeout, sync, versions, touched })
    }

    /// Begins a transaction, after the transactions queued before.
    pub(crate) async fn begin(&self) -> Result<Transaction> {
        let mut held = self.hold().await?;
        let since = Instant::now();
        while !held.try_begin()? {
            if since.elapsed() > BUSY_TIMEOUT {
                return Err(sqlx::Error::PoolTimedOut.into());
            }
            tokio::time::sleep(BUSY_PAUSE).await;
        }
        held.open = true;
        Ok(self.transaction(held))
    }

    /// The connection outside of a transaction, for statements that cannot run inside one.
    pub(crate) async fn unguarded(&self) -> Result<Transaction> {
        Ok(self.transaction(self.hold().await?))
    }

    fn transaction(&self, held: Held) -> Transaction {
        Transaction {
            held: Some(held),
            sync: Arc::clone(&self.sync),
            versions: Arc::clone(&self.versions),
            touched: Arc::clone(&self.touched),
            wrote: false,
            fault: None,
        }
    }

    async fn hold(&self) -> Result<Held> {
        if self.sync.has_failed() {
            return Err(Error::NotDurable);
        }
        let connection = match Arc::clone(&self.connection).try_lock_owned() {
            Ok(free) => free,
            Err(_) => {
                let _waiting = self.held.wait();
                let freed = tokio::time::timeout(self.timeout, Arc::clone(&self.connection).lock_owned()).await;
                freed.map_err(|_| sqlx::Error::PoolTimedOut)?
            }
        };
        let held = Held { _holding: self.held.begin(), connection, open: false };
        held.connection()?.cell.renew();
        Ok(held)
    }

    /// Detects writes of another process to the file; after them no cached row counts as current.
    pub(crate) async fn notice_others(&self) -> Result<()> {
        let held = self.hold().await?;
        let mut version: Vec<(i64,)> = Vec::new();
        held.connection()?.fetch("PRAGMA data_version", &[], Wanted::First, &mut version)?;
        self.versions.note_file(version.first().map_or(0, |(version,)| *version));
        Ok(())
    }

    /// How long the current holder has had the connection, and the plugin whose statement runs on it, if any.
    pub(crate) fn held(&self) -> Option<(Duration, Option<String>)> {
        Some((self.held.elapsed()?, self.cell.plugin()))
    }

    /// How long the current holder has had the connection, if others wait for it.
    pub(crate) fn held_while_others_wait(&self) -> Option<Duration> {
        self.held.elapsed_while_others_wait()
    }

    /// Waits for a sync that starts after this call, and covers every commit that is visible to readers.
    pub(crate) async fn synced(&self) -> Result<()> {
        LogSync::wait(self.sync.request()).await
    }

    /// Number of requested syncs.
    pub(crate) fn syncs(&self) -> u64 {
        self.sync.requests()
    }

    #[cfg(test)]
    pub(super) fn versions(&self) -> &Versions {
        &self.versions
    }

    /// Waits for the open transaction, and closes the connection.
    pub(super) async fn close(&self) {
        // The lock is released: the checkpoint thread may be waiting for it, and is joined below.
        let closing = self.connection.lock().await.take();
        let sync = Arc::clone(&self.sync);
        let _ = blocking(move || {
            sync.stop();
            drop(closing);
            Ok(())
        })
        .await;
    }
}

impl Held {
    pub(crate) fn connection(&self) -> Result<&Connection> {
        self.connection.as_ref().ok_or(Error::Sql(sqlx::Error::PoolClosed))
    }

    /// Begins a transaction; false when another process has one open.
    fn try_begin(&self) -> Result<bool> {
        let connection = &self.connection()?.raw;
        connection.busy_timeout(Duration::ZERO)?;
        let begun = connection.prepare_cached("BEGIN IMMEDIATE")?.raw_execute();
        connection.busy_timeout(BUSY_TIMEOUT)?;
        match begun {
            Ok(_) => Ok(true),
            Err(error) if is_busy(&error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Some(connection) = self.connection.as_ref().filter(|_| self.open) else { return };
        connection.cell.renew();
        if !connection.raw.is_autocommit()
            && let Err(error) = connection.raw.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

impl Transaction {
    fn connection(&self) -> Result<&Connection> {
        let held = self.held.as_ref().ok_or(Error::Sql(sqlx::Error::WorkerCrashed))?;
        let connection = held.connection()?;
        // An interrupted statement, or a full disk, ended the transaction: further statements must not run outside of
        // it.
        match held.open && connection.raw.is_autocommit() {
            true => Err(self.fault.map_or(Error::RolledBack, Error::Machine)),
            false => Ok(connection),
        }
    }

    /// Runs a statement and adds its rows to `rows`.
    pub(crate) fn fetch(
        &mut self,
        text: &'static str,
        args: &[Parameter],
        wanted: Wanted,
        rows: &mut dyn Sink,
    ) -> Result<()> {
        let done = self.connection()?.fetch(text, args, wanted, rows);
        self.note(done)
    }

    /// The rows of SQL that was built at run time.
    pub(crate) fn fetch_made<T: Row>(&mut self, text: &str, args: &[Parameter], wanted: Wanted) -> Result<Vec<T>> {
        let mut rows = Vec::new();
        let done = self.connection()?.fetch_made(text, args, wanted, &mut rows);
        self.note(done)?;
        Ok(rows)
    }

    /// Records that something was written. A statement that failed while its rows were read may have changed some
    /// before.
    fn note(&mut self, done: Result<bool>) -> Result<()> {
        self.wrote |= done.as_ref().map_or(true, |wrote| *wrote);
        self.seen(done).map(drop)
    }

    /// Records the fault of a failed statement: SQLite may have ended the transaction because of it.
    fn seen<T>(&mut self, done: Result<T>) -> Result<T> {
        self.fault = done.as_ref().err().and_then(Error::fault).or(self.fault);
        done
    }

    pub(crate) fn execute(&mut self, text: &str, args: &[Parameter]) -> Result<u64> {
        let changed = self.connection()?.execute(text, args);
        let changed = self.seen(changed)?;
        self.wrote = true;
        Ok(changed)
    }

    /// Runs a text of several statements.
    pub(crate) fn batch(&mut self, text: &str) -> Result<()> {
        self.wrote = true;
        let done = self.connection()?.raw.execute_batch(text).map_err(Error::from);
        self.seen(done)
    }

    /// Checks that a text can be prepared.
    pub(crate) fn prepare(&self, text: &str) -> Result<()> {
        Ok(self.connection()?.raw.prepare(text).map(drop)?)
    }

    /// The scope and deadlines of the connection.
    pub(crate) fn cell(&self) -> Result<Arc<Confinement>> {
        Ok(Arc::clone(&self.connection()?.cell))
    }

    /// True when a statement was interrupted for waiting transactions, even if that ended the transaction.
    pub(crate) fn has_yielded(&self) -> bool {
        let connection = self.held.as_ref().and_then(|held| held.connection.as_ref());
        connection.is_some_and(|connection| connection.cell.has_yielded())
    }

    /// Limits the remaining time of the transaction, and with `contended` its total duration while others wait for
    /// it; at the limit the running statement is interrupted.
    pub(crate) fn bound(&self, left: Duration, contended: Option<Duration>) {
        if let Ok(connection) = self.connection() {
            connection.cell.bound(Some(left));
            connection.cell.yield_after(contended);
        }
    }

    /// Runs `work` on a blocking thread, where it may take long. When this future is dropped, the transaction is rolled
    /// back as soon as `work` returns.
    pub(crate) async fn on_blocking_thread<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&Connection) -> T + Send + 'static,
    ) -> Result<T> {
        self.connection()?;
        let held = self.held.take().ok_or(Error::Sql(sqlx::Error::WorkerCrashed))?;
        let (held, done) = blocking(move || {
            let done = work(held.connection()?);
            Ok((held, done))
        })
        .await?;
        self.held = Some(held);
        self.wrote = true;
        Ok(done)
    }

    /// Commits, frees the connection, and waits until the change is durable.
    pub(crate) async fn commit(mut self) -> Result<()> {
        self.connection()?.cell.bound(None);
        let Some(mut held) = self.held.take() else { return Err(Error::RolledBack) };
        if held.open {
            held.connection()?.raw.prepare_cached("COMMIT")?.raw_execute()?;
            held.open = false;
        }
        self.versions.touch(&self.touched);
        let durable = self.wrote.then(|| self.sync.request());
        drop(held);
        match durable {
            Some(durable) => LogSync::wait(durable).await,
            None => Ok(()),
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Before the connection is given to the next transaction: these rows were not changed.
        if self.held.is_some() {
            self.touched.forget();
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

/// Deletes the statistics of an earlier `ANALYZE`.
///
/// Without statistics SQLite assumes that every table is large and reads it by index, which is right for a small table
/// too. Stale statistics would keep a plan that was chosen for ten rows when the table has a million.
fn forget_statistics(connection: &Connection) -> Result<()> {
    // `ANALYZE sqlite_schema` analyses nothing: it makes the connection reload its statistics, which are now empty.
    for (table, forget) in [
        ("sqlite_stat1", "DELETE FROM sqlite_stat1; ANALYZE sqlite_schema;"),
        ("sqlite_stat4", "DELETE FROM sqlite_stat4; ANALYZE sqlite_schema;"),
    ] {
        let (mut found, name) = (Vec::<(i64,)>::new(), [Parameter::Text(table.to_owned())]);
        connection.fetch("SELECT 1 FROM sqlite_master WHERE name = ?1", &name, Wanted::First, &mut found)?;
        if !found.is_empty() {
            connection.raw.execute_batch(forget)?;
        }
    }
    Ok(())
}
