//! Faults of the machine below the database: a full disk, read-only storage, an unreachable server.
//!
//! Statements and commits report faults to [`Faults`], which logs them once a minute; `/readyz` reports the current
//! one. A fault stays current until a write that needs space succeeds
//! ([`Db::check_writing`](crate::Db::check_writing)).

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use libsqlite3_sys as ffi;
use tokio::time::Instant;

use super::{Error, Result};

/// How often a persistent fault is logged.
pub(crate) const LOG_EVERY: Duration = Duration::from_secs(60);
/// How often a write is tried during a fault.
const TRY_EVERY: Duration = Duration::from_secs(1);

/// A fault of the machine, not of the statement, that makes statements fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk, or a quota of it, is full. Reading works.
    Full,
    /// The storage is mounted read-only or belongs to another user, or PostgreSQL is a standby. Reading works.
    ReadOnly,
    /// The disk reported an error while writing. Reading may work.
    Failing,
    /// PostgreSQL cannot be reached, or is starting or stopping.
    Away,
}

impl Fault {
    /// A description in one sentence for clients, `/readyz` and the log.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Full => {
                "The disk of this server is full: nothing can be saved until there is room, reading still works"
            }
            Self::ReadOnly => "The database is read-only: nothing can be saved, reading still works",
            Self::Failing => {
                "The disk of this server reports errors: nothing can be saved, and the server may have to be restarted"
            }
            Self::Away => "The database cannot be reached: try again later",
        }
    }

    /// The fault for an error of a file system.
    #[must_use]
    pub fn of_io(error: &io::Error) -> Option<Self> {
        use io::ErrorKind as Kind;
        match error.kind() {
            Kind::StorageFull | Kind::QuotaExceeded => Some(Self::Full),
            Kind::ReadOnlyFilesystem => Some(Self::ReadOnly),
            _ => None,
        }
    }

    /// The fault for an extended result code of SQLite.
    pub(crate) fn of_sqlite(code: i32) -> Option<Self> {
        match (code, code & 0xff) {
            // The shared memory beside the log could not grow.
            (ffi::SQLITE_IOERR_SHMSIZE, _) | (_, ffi::SQLITE_FULL) => Some(Self::Full),
            (_, ffi::SQLITE_READONLY) => Some(Self::ReadOnly),
            (ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_TRUNCATE, _) => Some(Self::Failing),
            _ => None,
        }
    }

    fn of_sqlx(error: &sqlx::Error) -> Option<Self> {
        match error {
            sqlx::Error::Database(error) => Self::of_state(error.code().as_deref()?),
            sqlx::Error::Io(error) => Self::of_io(error).or_else(|| lost_connection(error).then_some(Self::Away)),
            _ => None,
        }
    }

    /// The fault for an SQLSTATE: <https://www.postgresql.org/docs/current/errcodes-appendix.html>
    pub(crate) fn of_state(state: &str) -> Option<Self> {
        match state {
            "53100" => Some(Self::Full),
            "25006" => Some(Self::ReadOnly),
            "58030" => Some(Self::Failing),
            // Stopped, crashed, starting, no connection left.
            "57P01" | "57P02" | "57P03" | "53300" => Some(Self::Away),
            other => other.starts_with("08").then_some(Self::Away),
        }
    }
}

fn lost_connection(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::ConnectionRefused
            | Kind::ConnectionReset
            | Kind::ConnectionAborted
            | Kind::NotConnected
            | Kind::BrokenPipe
            | Kind::UnexpectedEof
            | Kind::TimedOut
            | Kind::HostUnreachable
            | Kind::NetworkUnreachable
            | Kind::NetworkDown
            // The socket is missing because PostgreSQL is not running.
            | Kind::NotFound
    )
}

impl Error {
    /// The fault of the machine that caused this error, if any.
    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Sqlite(_) => Fault::of_sqlite(self.sqlite_code()?),
            Self::Sql(error) => Fault::of_sqlx(error),
            Self::Machine(fault) => Some(*fault),
            Self::NotDurable => Some(Fault::Failing),
            Self::RolledBack
            | Self::Unreachable(_)
            | Self::Migrate(_)
            | Self::Unreleased
            | Self::Url(_)
            | Self::Plugin(_) => None,
        }
    }
}

/// The current fault of a database, as reported by its statements.
#[derive(Debug, Default)]
pub struct Faults {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    current: Option<Fault>,
    /// The fault that was last logged, and when.
    logged: Option<(Instant, Fault)>,
    /// When a write was last tried.
    tried: Option<Instant>,
    /// When lost connections were last detected.
    away: Option<Instant>,
}

impl Faults {
    /// Records the fault of the machine that caused `error`, if any.
    fn note(&self, error: &Error) {
        if let Some(fault) = error.fault() {
            self.set(fault, Instant::now());
        }
    }

    /// Returns `done` after recording its fault. A failure to get a connection while PostgreSQL is away counts as
    /// that fault.
    pub(crate) fn noted<T>(&self, done: Result<T>) -> Result<T> {
        let error = match done {
            Ok(done) => return Ok(done),
            Err(error) if error.is_timeout() && self.current() == Some(Fault::Away) => Error::Machine(Fault::Away),
            Err(error) => error,
        };
        self.note(&error);
        Err(error)
    }

    /// Sets the current fault; logs it unless it was logged within the last minute.
    pub(crate) fn set(&self, fault: Fault, now: Instant) -> bool {
        let mut state = self.state();
        state.current = Some(fault);
        if fault == Fault::Away {
            state.away = Some(now);
        }
        if state.logged.is_some_and(|(at, logged)| logged == fault && now.duration_since(at) < LOG_EVERY) {
            return false;
        }
        state.logged = Some((now, fault));
        drop(state);
        tracing::error!("{}", fault.sentence());
        true
    }

    pub(crate) fn current(&self) -> Option<Fault> {
        self.state().current
    }

    /// True when connections were lost within the last `time`: a connection that was idle for so long may be one of
    /// them.
    pub(crate) fn was_away_within(&self, time: Duration) -> bool {
        self.state().away.is_some_and(|at| at.elapsed() <= time)
    }

    pub(crate) fn clear(&self) {
        let mut state = self.state();
        if state.current.take().is_some() {
            state.logged = None;
            drop(state);
            tracing::info!("the database can be written again");
        }
    }

    /// True when a write may be tried: at most once in [`TRY_EVERY`].
    pub(crate) fn may_try(&self) -> bool {
        let now = Instant::now();
        let mut state = self.state();
        let may = state.tried.is_none_or(|at| now.duration_since(at) >= TRY_EVERY);
        if may {
            state.tried = Some(now);
        }
        may
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn fault_that_lasts_is_logged_once_a_minute() {
        let faults = Faults::default();
        let mut logged = 0;
        for _ in 0..180 {
            logged += u32::from(faults.set(Fault::Full, Instant::now()));
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        assert_eq!((logged, faults.current()), (3, Some(Fault::Full)));
        assert!(faults.set(Fault::ReadOnly, Instant::now()), "another fault is logged immediately");
        faults.clear();
        assert_eq!(faults.current(), None);
        assert!(faults.set(Fault::ReadOnly, Instant::now()), "a recurring fault is logged immediately");
    }

    #[test]
    fn faults_are_recognised_by_the_codes_of_both_engines() {
        assert_eq!(Fault::of_sqlite(ffi::SQLITE_FULL), Some(Fault::Full));
        assert_eq!(Fault::of_sqlite(ffi::SQLITE_IOERR_SHMSIZE), Some(Fault::Full));
        assert_eq!(Fault::of_sqlite(ffi::SQLITE_READONLY_DIRECTORY), Some(Fault::ReadOnly));
        assert_eq!(Fault::of_sqlite(ffi::SQLITE_IOERR_FSYNC), Some(Fault::Failing));
        assert_eq!(Fault::of_sqlite(ffi::SQLITE_CONSTRAINT_UNIQUE), None);
        let states = ["53100", "25006", "58030", "57P01", "57P03", "08006", "23505"];
        let faults = states.map(Fault::of_state);
        let away = Some(Fault::Away);
        assert_eq!(faults, [Some(Fault::Full), Some(Fault::ReadOnly), Some(Fault::Failing), away, away, away, None]);
        assert_eq!(Fault::of_io(&io::ErrorKind::StorageFull.into()), Some(Fault::Full));
        let refused = sqlx::Error::Io(io::ErrorKind::ConnectionRefused.into());
        assert_eq!(Error::from(refused).fault(), away);
    }
}
