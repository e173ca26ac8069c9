//! A connection to the SQLite file: its settings, and statements that run on the calling thread.
//!
//! Access is controlled by [`readers`](super::readers) and [`writer`](super::writer).

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model::sqlite::Parameter;
use rusqlite::{CachedStatement, OpenFlags, Statement};

use super::READING;
use super::columns::{BorrowedRow, Layout};
use crate::Result;
use crate::confined::authorizer::{self, Confinement};
use crate::sink::Sink;

/// PRAGMAs of every connection: a page cache of 8,000 KiB, and 256 MiB of the file memory-mapped.
const PRAGMAS: [(&str, &str); 3] = [("temp_store", "memory"), ("cache_size", "-8000"), ("mmap_size", "268435456")];

/// How long to wait for another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Capacity of the prepared statement cache of each connection: larger than the number of statements.
const STATEMENT_CACHE: usize = 1024;

/// Instructions of SQLite's virtual machine between two checks of the clock: about 50 microseconds.
const STEPS: i32 = 1000;

/// Size to which the write-ahead log is truncated when it restarts, in bytes.
const LOG_BYTES: i64 = 64 << 20;

/// An open connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) raw: rusqlite::Connection,
    /// Its scope and deadlines.
    pub(crate) cell: Arc<Confinement>,
    /// Layouts by the address and length of the statement's text.
    layouts: RefCell<HashMap<(usize, usize), Layout>>,
}

/// How many of a statement's rows to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    All,
    First,
}

impl Connection {
    /// Opens a connection with the settings of every connection.
    pub(crate) fn open(file: &Path, flags: OpenFlags) -> rusqlite::Result<rusqlite::Connection> {
        let raw = rusqlite::Connection::open_with_flags(file, flags)?;
        for (name, value) in PRAGMAS {
            raw.pragma_update(None, name, value)?;
        }
        raw.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
        Ok(raw)
    }

    /// The connection of `raw`, confined by `cell`.
    pub(crate) fn new(raw: rusqlite::Connection, cell: Arc<Confinement>) -> Self {
        Self { raw, cell, layouts: RefCell::default() }
    }

    /// Opens a read-only connection, with a time limit that [`Connection::within`] sets.
    pub(super) fn reader(file: &Path) -> Result<Self> {
        let raw = Self::open(file, READING)?;
        raw.pragma_update(None, "query_only", "true")?;
        let cell = Arc::new(Confinement::default());
        let asked = Arc::clone(&cell);
        raw.progress_handler(STEPS, Some(move || asked.ends()))?;
        Ok(Self::new(raw, cell))
    }

    /// Opens the writer connection, creating the file. Commits are not synced: see [`log_sync`](super::log_sync).
    pub(super) fn writer(file: &Path) -> Result<Self> {
        let create =
            OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let raw = Self::open(file, create)?;
        raw.busy_timeout(BUSY_TIMEOUT)?;
        // A plugin's large sort goes to a file; a sort smaller than the cache still stays in memory.
        raw.pragma_update(None, "temp_store", "file")?;
        // Has an effect only before the first table is created.
        raw.pragma_update(None, "auto_vacuum", "incremental")?;
        raw.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        raw.pragma_update(None, "synchronous", "normal")?;
        raw.pragma_update(None, "foreign_keys", "true")?;
        raw.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
        raw.pragma_update_and_check(None, "journal_size_limit", LOG_BYTES, |_| Ok(()))?;
        let cell = Arc::new(Confinement::default());
        authorizer::adopt(&raw, &cell)?;
        Ok(Self::new(raw, cell))
    }

    /// Runs `work`; statements in it are interrupted after `time`.
    pub(super) fn within<T>(&self, time: Duration, work: impl FnOnce(&Self) -> T) -> T {
        self.cell.bound(Some(time));
        let done = work(self);
        self.cell.bound(None);
        done
    }

    /// Runs a statement and adds its rows to `rows`; true when the statement may have changed something.
    pub(crate) fn fetch(
        &self,
        text: &'static str,
        args: &[Parameter],
        wanted: Wanted,
        rows: &mut dyn Sink,
    ) -> Result<bool> {
        let mut layouts = self.layouts.borrow_mut();
        let layout = layouts.entry((text.as_ptr().addr(), text.len())).or_default();
        self.fetch_laid_out(text, args, wanted, layout, rows)
    }

    /// As [`Connection::fetch`], for SQL that was built at run time.
    pub(super) fn fetch_made(
        &self,
        text: &str,
        args: &[Parameter],
        wanted: Wanted,
        rows: &mut dyn Sink,
    ) -> Result<bool> {
        self.fetch_laid_out(text, args, wanted, &Layout::default(), rows)
    }

    fn fetch_laid_out(
        &self,
        text: &str,
        args: &[Parameter],
        wanted: Wanted,
        layout: &Layout,
        into: &mut dyn Sink,
    ) -> Result<bool> {
        let mut statement = self.bound_statement(text, args)?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            into.push_sqlite(&BorrowedRow::new(row, layout))?;
            if wanted == Wanted::First {
                break;
            }
        }
        drop(rows);
        Ok(!statement.readonly())
    }

    /// Runs a statement; returns the number of changed rows.
    pub(crate) fn execute(&self, text: &str, args: &[Parameter]) -> Result<u64> {
        let mut statement = self.bound_statement(text, args)?;
        let mut rows = statement.raw_query();
        while rows.next()?.is_some() {}
        drop(rows);
        Ok(if statement.readonly() { 0 } else { self.raw.changes() })
    }

    fn bound_statement(&self, text: &str, args: &[Parameter]) -> Result<CachedStatement<'_>> {
        let mut statement = self.raw.prepare_cached(text)?;
        for (index, arg) in (1..).zip(args) {
            statement.raw_bind_parameter(index, arg)?;
        }
        Ok(statement)
    }
}

/// Binds `$1`, `$2` … by their number, in SQL that is not part of the server: SQLite treats `$n` as named parameters
/// and numbers them by first occurrence. Returns the number of a parameter without a value.
pub(crate) fn bind_by_number(
    statement: &mut Statement<'_>,
    args: &[Parameter],
) -> rusqlite::Result<std::result::Result<(), usize>> {
    for index in 1..=statement.parameter_count() {
        let number = statement.parameter_name(index).and_then(|name| name.get(1..)?.parse::<usize>().ok());
        let Some(arg) = args.get(number.unwrap_or(index).wrapping_sub(1)) else { return Ok(Err(index)) };
        statement.raw_bind_parameter(index, arg)?;
    }
    Ok(Ok(()))
}
