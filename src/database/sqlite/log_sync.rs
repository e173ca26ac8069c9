//! Group commit: many commits share one sync of the write-ahead log.
//!
//! The writer commits with `synchronous=NORMAL`: its pages are in the log and visible to readers, but a power cut
//! could lose them. No change is acknowledged before [`LogSync::wait`] returns: a thread syncs the file for all
//! callers since the start of its last sync. Syncing a commit makes all earlier ones durable, because the log is read
//! up to its last whole commit. When a sync fails, the system may have dropped unwritten pages, so all writes fail
//! until a restart reads the file again.
//!
//! A second thread copies the log into the database (checkpoint), so that no commit has to, and no sync waits for it.
//! SQLite itself syncs the log before and the database after that (<https://www.sqlite.org/wal.html>).

use std::cell::Cell;
use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, PoisonError, mpsc};
use std::thread::{Builder, JoinHandle};

use rusqlite::OpenFlags;
use rusqlite::hooks::Wal;
use tokio::sync::{Mutex, oneshot};
use tokio::time::Instant;

use super::connection::Connection;
use crate::fault::LOG_EVERY;
use crate::{Error, Result};

/// Number of pages in the log that triggers a checkpoint concurrent with the writer: frequently changed pages are
/// then copied once for many changes.
const CHECKPOINT_PAGES: c_int = 3000;

/// Number of pages in the log at which a checkpoint blocks the writer, so that the log restarts: 36 MiB.
const RESTART_PAGES: c_int = 9000;

thread_local! {
    /// Number of pages in the log after the last commit on this thread.
    static PAGES: Cell<c_int> = const { Cell::new(0) };
}

/// The hook that SQLite calls on the committing thread.
#[expect(clippy::unnecessary_wraps, reason = "the signature of the hook")]
pub(super) fn pages_of_log(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    PAGES.set(pages);
    Ok(())
}

/// The file to sync: the log, or its replacement in tests.
pub(super) trait Log: Send + 'static {
    /// Returns once all data written to the log before would survive a power cut.
    fn sync(&self) -> io::Result<()>;
}

impl Log for File {
    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// The threads that sync and checkpoint the log.
#[derive(Debug)]
pub(super) struct LogSync {
    /// `None` after the stop.
    waiting: StdMutex<Option<mpsc::Sender<oneshot::Sender<()>>>>,
    checkpoints: StdMutex<Option<mpsc::SyncSender<c_int>>>,
    failed: Arc<AtomicBool>,
    requests: AtomicU64,
    threads: StdMutex<Vec<JoinHandle<()>>>,
}

type Writer = Arc<Mutex<Option<Connection>>>;

impl LogSync {
    /// Starts the threads for the `log` of the database in `file`, which `writer` has opened.
    pub(super) fn start(file: &Path, writer: Writer, log: impl Log) -> Result<Self> {
        let failed = Arc::new(AtomicBool::new(false));
        let (waiting, commits) = mpsc::channel();
        let (checkpoints, due) = mpsc::sync_channel(1);
        let (failing, path) = (Arc::clone(&failed), file.to_owned());
        let threads = vec![
            spawn("log-sync", move || sync_commits(&log, &commits, &failing))?,
            spawn("checkpoint", move || checkpoint_when_due(&path, &writer, &due))?,
        ];
        Ok(Self {
            waiting: StdMutex::new(Some(waiting)),
            checkpoints: StdMutex::new(Some(checkpoints)),
            failed,
            requests: AtomicU64::new(0),
            threads: StdMutex::new(threads),
        })
    }

    /// True once a sync failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Called on the committing thread: returns a receiver for the sync that makes the commit durable.
    pub(super) fn request(&self) -> Option<oneshot::Receiver<()>> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let (done, durable) = oneshot::channel();
        let sent = lock(&self.waiting).as_ref().is_some_and(|waiting| waiting.send(done).is_ok());
        let pages = PAGES.get();
        if pages >= CHECKPOINT_PAGES
            && let Some(checkpoints) = &*lock(&self.checkpoints)
        {
            // If the channel is full, a checkpoint is already due.
            let _ = checkpoints.try_send(pages);
        }
        sent.then_some(durable)
    }

    /// How often a sync was requested.
    pub(super) fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Waits for a sync that started after [`LogSync::request`].
    pub(super) async fn wait(durable: Option<oneshot::Receiver<()>>) -> Result<()> {
        match durable {
            Some(durable) => durable.await.map_err(|_| Error::NotDurable),
            None => Err(Error::NotDurable),
        }
    }

    /// Ends both threads; blocks until they have.
    pub(super) fn stop(&self) {
        *lock(&self.waiting) = None;
        *lock(&self.checkpoints) = None;
        for thread in std::mem::take(&mut *lock(&self.threads)) {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &StdMutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).spawn(work).map_err(|error| Error::Sql(sqlx::Error::Io(error)))
}

/// The path of the log of the database in `file`.
pub(super) fn log_path(file: &Path) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// Opens the log, and makes its name durable: SQLite would do so with its own first sync.
pub(super) fn open_log(file: &Path) -> Result<File> {
    let io = |error| Error::Sql(sqlx::Error::Io(error));
    let log = File::options().read(true).write(true).open(log_path(file)).map_err(io)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io)?;
    Ok(log)
}

/// Syncs the log for all waiting callers, in a loop.
fn sync_commits(log: &impl Log, commits: &mpsc::Receiver<oneshot::Sender<()>>, failed: &AtomicBool) {
    while let Ok(first) = commits.recv() {
        // All requests in the channel at this point have committed before the sync starts.
        let waiting: Vec<_> = std::iter::once(first).chain(commits.try_iter()).collect();
        if failed.load(Ordering::Acquire) {
            continue;
        }
        match log.sync() {
            // A cancelled request has no receiver.
            Ok(()) => {
                for done in waiting {
                    let _ = done.send(());
                }
            }
            Err(error) => {
                tracing::error!(%error, "the log of the database could not be synced: nothing is written until a restart");
                failed.store(true, Ordering::Release);
            }
        }
    }
}

fn checkpoint_when_due(file: &Path, writer: &Writer, due: &mpsc::Receiver<c_int>) {
    let mut own = None;
    let mut logged: Option<Instant> = None;
    while let Ok(pages) = due.recv() {
        if let Err(error) = checkpoint(&mut own, file, writer, pages)
            && logged.is_none_or(|at| at.elapsed() >= LOG_EVERY)
        {
            logged = Some(Instant::now());
            tracing::error!(%error, "the log could not be copied into the database");
        }
    }
}

/// Copies the log into the database, first concurrently with the writer; from [`RESTART_PAGES`] on the remaining
/// pages while the writer waits, so that the log can restart.
fn checkpoint(own: &mut Option<rusqlite::Connection>, file: &Path, writer: &Writer, pages: c_int) -> Result<()> {
    let connection = match own {
        Some(connection) => connection,
        None => own.insert(open(file)?),
    };
    copy(connection)?;
    if pages >= RESTART_PAGES {
        let held = writer.blocking_lock();
        copy(connection)?;
        drop(held);
    }
    Ok(())
}

fn open(file: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let connection = Connection::open(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

fn copy(connection: &rusqlite::Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
