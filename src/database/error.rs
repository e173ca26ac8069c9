//! Errors of statements.
//!
//! Both engines' errors in one type, with predicates for callers: whether retrying may help, and which constraint
//! rejected a row.

use libsqlite3_sys as ffi;

use crate::Fault;

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error of PostgreSQL, of a pool, or of decoding a row.
    #[error("database: {0}")]
    Sql(#[from] sqlx::Error),
    /// An error of SQLite.
    #[error("database: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// An earlier failed statement ended the transaction.
    #[error("database: the transaction was rolled back")]
    RolledBack,
    /// The log of changes could not be written to the disk; further writes are rejected.
    #[error("database: changes cannot be made durable, restart the server")]
    NotDurable,
    /// A fault of the machine ended the transaction, or prevents new connections.
    #[error("database: {}", .0.sentence())]
    Machine(Fault),
    /// PostgreSQL cannot be reached, or refuses to be used: where, and why.
    #[error("{0}")]
    Unreachable(String),
    /// Running the migrations failed.
    #[error("migration: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    /// The database was created by a development version of 0.1, from which there is no migration.
    #[error(
        "this database was created by an unreleased development version and cannot be migrated: create an empty \
         database, and move your data by export and import"
    )]
    Unreleased,
    /// The configured URL is neither SQLite nor PostgreSQL, or the folder of the file cannot be created.
    #[error("database url: {0}")]
    Url(String),
    /// The tables of a plugin do not match the database's records.
    #[error("{0}")]
    Plugin(String),
}

impl Error {
    /// True when no connection became free in time.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self, Self::Sql(sqlx::Error::PoolTimedOut))
    }

    /// True when a time limit cut the statement off: SQLite's transaction was interrupted, or PostgreSQL's statement or lock
    /// timed out.
    #[must_use]
    pub fn is_cut_off(&self) -> bool {
        self.is_interrupted() || self.has_sql_state(&["57014", "55P03"])
    }

    /// True when other transactions interfered, so that retrying may help: no connection became free, another process
    /// writes, or PostgreSQL chose this transaction to resolve a deadlock or a serialisation failure.
    #[must_use]
    pub fn is_contended(&self) -> bool {
        self.is_timeout()
            || self.sqlite_code().is_some_and(|code| code & 0xff == ffi::SQLITE_BUSY)
            || self.has_sql_state(&["40001", "40P01", "53300"])
    }

    /// True for an error of PostgreSQL with one of these codes
    /// (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    fn has_sql_state(&self, codes: &[&str]) -> bool {
        matches!(self, Self::Sql(sqlx::Error::Database(error)) if error.code().is_some_and(|code| codes.contains(&&*code)))
    }

    /// True when a unique index or a primary key rejected the row.
    #[must_use]
    pub fn is_unique_violation(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Database(error)) => error.is_unique_violation(),
            Self::Sqlite(_) => matches!(
                self.sqlite_code(),
                Some(ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID)
            ),
            _ => false,
        }
    }

    /// True when this server's PostgreSQL role lacks a privilege (SQLSTATE 42501).
    #[must_use]
    pub fn is_denied(&self) -> bool {
        self.has_sql_state(&["42501"])
    }

    /// True when a foreign key rejected the statement: a referenced row does not exist (any more).
    #[must_use]
    pub fn is_foreign_key_violation(&self) -> bool {
        match self {
            Self::Sql(sqlx::Error::Database(error)) => error.is_foreign_key_violation(),
            Self::Sqlite(_) => self.sqlite_code() == Some(ffi::SQLITE_CONSTRAINT_FOREIGNKEY),
            _ => false,
        }
    }

    /// True when a time limit interrupted the statement (SQLite).
    pub(crate) fn is_interrupted(&self) -> bool {
        self.sqlite_code() == Some(ffi::SQLITE_INTERRUPT)
    }

    /// The extended result code of SQLite (<https://www.sqlite.org/rescode.html>).
    pub(crate) fn sqlite_code(&self) -> Option<i32> {
        match self {
            Self::Sqlite(error) => error.sqlite_error().map(|error| error.extended_code),
            _ => None,
        }
    }
}

/// The result of a statement.
pub type Result<T> = std::result::Result<T, Error>;
