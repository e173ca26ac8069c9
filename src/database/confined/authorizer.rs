//! SQLite's authorizer, progress handler and limits: the only place of the server that calls SQLite's C interface
//! directly.
//!
//! Each confined connection has a [`Confinement`] that identifies its current user: the server, for which everything
//! is allowed, or a plugin's [`Scope`]. SQLite calls the authorizer while it compiles a statement, for every table,
//! column and function that the statement uses; it calls the progress handler every [`STEPS`] steps while a statement
//! runs, which interrupts the statement after its deadline.
//!
//! Spec: <https://www.sqlite.org/c3ref/set_authorizer.html>, <https://www.sqlite.org/c3ref/progress_handler.html>,
//! <https://www.sqlite.org/security.html>.
#![expect(unsafe_code, reason = "rusqlite has no authorizer that outlives its closure's borrows, and no client data")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use libsqlite3_sys as ffi;
use tokio::time::Instant;

use super::bounded;
use super::functions::{self, MAX_ARGUMENTS, MAX_PATTERN_BYTES, MAX_VALUE_BYTES};
use super::types::Scope;
use crate::sqlite::HeldSince;

/// Instructions of SQLite's virtual machine between two calls of the progress handler, for statements of the server:
/// about ten microseconds.
const STEPS: c_int = 200;

/// As [`STEPS`], for statements of plugins. Few, because a single instruction on a large value can take a hundred
/// microseconds, and a pattern comparison some milliseconds.
const CONFINED_STEPS: c_int = 20;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The scope and deadlines of a connection. Times are milliseconds as in [`now`]; 0: no limit.
#[derive(Debug, Default)]
pub(crate) struct Confinement {
    confined: Mutex<Confined>,
    /// The deadline of the plugin's statement.
    deadline: AtomicU64,
    /// The deadline of any statement of this transaction, including statements of the server.
    until: AtomicU64,
    /// The longest that this transaction may run while others wait.
    contended: AtomicU64,
    /// A statement was interrupted because others waited for too long.
    yielded: AtomicBool,
    /// A statement was interrupted by a limit of the transaction.
    cut_off: AtomicBool,
    /// For the writer connection: whether others wait for it.
    held: OnceLock<Arc<HeldSince>>,
    /// Running statements are interrupted, and only a rollback is allowed, see [`Confinement::end`].
    ending: AtomicBool,
}

/// The plugin that a connection is confined to, if any, and how often it was confined.
#[derive(Debug, Default)]
struct Confined {
    scope: Option<Arc<Scope>>,
    number: u64,
}

/// The number of a confinement, so that a late [`Confinement::end`] does not affect a later one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay(u64);

impl Confinement {
    /// Confines the connection to `scope`, with a deadline after `time`.
    pub(super) fn enter(&self, scope: &Arc<Scope>, time: Duration) -> Stay {
        let mut confined = self.lock();
        confined.scope = Some(Arc::clone(scope));
        confined.number += 1;
        self.ending.store(false, Ordering::Release);
        self.deadline.store(now() + milliseconds(time), Ordering::Release);
        Stay(confined.number)
    }

    /// Limits the remaining time of running statements; `None` removes the limit.
    pub(crate) fn bound(&self, left: Option<Duration>) {
        self.until.store(left.map_or(0, |left| now() + milliseconds(left).max(1)), Ordering::Release);
        self.yield_after(None);
    }

    /// Limits the duration of this transaction, measured from its beginning, while others wait for its connection;
    /// `None` removes the limit.
    pub(crate) fn yield_after(&self, time: Option<Duration>) {
        self.contended.store(time.map_or(0, |time| milliseconds(time).max(1)), Ordering::Release);
    }

    /// Sets the clock of the confined writer connection.
    pub(crate) fn watch(&self, held: Arc<HeldSince>) {
        let _ = self.held.set(held);
    }

    /// True when others wait, and this transaction has reached its limit for that case.
    fn must_yield(&self) -> bool {
        let most = self.contended.load(Ordering::Acquire);
        let held = || self.held.get().and_then(|held| held.elapsed_while_others_wait());
        most > 0 && held().is_some_and(|held| milliseconds(held) >= most)
    }

    /// Ends the confinement: the connection belongs to the server again.
    pub(super) fn leave(&self) {
        let mut confined = self.lock();
        confined.scope = None;
        self.deadline.store(0, Ordering::Release);
        self.ending.store(false, Ordering::Release);
    }

    /// Resets the connection for its next user: not confined and without limits.
    pub(crate) fn renew(&self) {
        self.leave();
        self.bound(None);
        self.yielded.store(false, Ordering::Release);
        self.cut_off.store(false, Ordering::Release);
    }

    /// Interrupts the running statement of this stay, also on another thread; no effect after the stay. The
    /// connection stays confined, and only a rollback is allowed.
    pub(super) fn end(&self, Stay(number): Stay) {
        let confined = self.lock();
        if confined.scope.is_some() && confined.number == number {
            self.ending.store(true, Ordering::Release);
            self.deadline.store(1, Ordering::Release);
        }
    }

    /// True while this stay lasts.
    pub(super) fn is_in(&self, Stay(number): Stay) -> bool {
        let confined = self.lock();
        confined.scope.is_some() && confined.number == number
    }

    /// The name of the plugin that the connection is confined to.
    pub(crate) fn plugin(&self) -> Option<String> {
        self.lock().scope.as_ref().map(|scope| scope.name.clone())
    }

    /// True while the connection is confined to a plugin.
    pub(super) fn is_confined(&self) -> bool {
        self.lock().scope.is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Confined> {
        self.confined.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allows(&self, action: c_int, names: [&str; 4]) -> bool {
        match &self.lock().scope {
            None => true,
            Some(scope) => {
                let ending = self.ending.load(Ordering::Acquire);
                allows(scope, action, names) || (ending && action == ffi::SQLITE_TRANSACTION && names[0] == "ROLLBACK")
            }
        }
    }

    /// Whether the running statement must be interrupted; called by the progress handler.
    pub(crate) fn ends(&self) -> bool {
        let now = now();
        let late = |time: &AtomicU64| (1..now).contains(&time.load(Ordering::Acquire));
        let (over, yields) = (late(&self.until), self.must_yield());
        if yields {
            self.yielded.store(true, Ordering::Release);
        }
        if over || yields {
            self.cut_off.store(true, Ordering::Release);
        }
        over || yields || late(&self.deadline)
    }

    /// True when a limit of the transaction interrupted a statement since the connection was [renewed](Self::renew).
    pub(super) fn was_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Acquire)
    }

    /// True when a statement was interrupted for waiting transactions since the connection was
    /// [renewed](Self::renew).
    pub(crate) fn has_yielded(&self) -> bool {
        self.yielded.load(Ordering::Acquire)
    }
}

/// Milliseconds since [`START`], plus 1, because 0 means no limit.
fn now() -> u64 {
    let elapsed = START.elapsed();
    1 + elapsed.as_secs() * 1000 + u64::from(elapsed.subsec_millis())
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX >> 1)
}

/// True for SQLite's own schema table, under any of its names.
fn is_schema(table: &str) -> bool {
    matches!(table, "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema")
}

/// Whether a plugin may perform an action: `action` and `names` are the second to sixth arguments of the authorizer
/// callback, whose meaning depends on the action (<https://www.sqlite.org/c3ref/c_alter_table.html>).
fn allows(scope: &Scope, action: c_int, names: [&str; 4]) -> bool {
    let [first, second, database, through] = names;
    let own = |table: &str| table.starts_with(&scope.prefix);
    let view = |name: &str| name.strip_prefix("core_v1__").is_some_and(|name| scope.views.contains(name));
    // When a column is added, SQLite checks the rows of the table.
    let schema = |table: &str| scope.migrating && (is_schema(table) || table == "pragma_quick_check");
    match action {
        ffi::SQLITE_SELECT => true,
        ffi::SQLITE_FUNCTION => {
            functions::is_allowed_in_sqlite(second) || (scope.migrating && functions::is_internal(second))
        }
        _ if database == "temp" && !is_schema(first) => false,
        // Renaming or dropping a table makes SQLite update `sqlite_sequence`.
        ffi::SQLITE_READ | ffi::SQLITE_DELETE if first == "sqlite_sequence" => scope.migrating,
        ffi::SQLITE_UPDATE if first == "sqlite_sequence" => scope.migrating && second == "name",
        // Without a column: a table is read without using any of its values, and SQLite does not pass the name of the
        // view.
        ffi::SQLITE_READ
            if second.is_empty()
                && scope.views.iter().any(|view| crate::confined::views::bases(view).contains(&first)) =>
        {
            true
        }
        ffi::SQLITE_READ => own(first) || view(first) || view(through) || schema(first) || functions::is_table(first),
        ffi::SQLITE_INSERT | ffi::SQLITE_UPDATE | ffi::SQLITE_DELETE => own(first) || schema(first),
        ffi::SQLITE_CREATE_TABLE | ffi::SQLITE_DROP_TABLE => scope.migrating && own(first),
        ffi::SQLITE_CREATE_INDEX | ffi::SQLITE_DROP_INDEX | ffi::SQLITE_ALTER_TABLE => scope.migrating && own(second),
        ffi::SQLITE_REINDEX => scope.migrating && (own(first) || first.starts_with("sqlite_autoindex_")),
        ffi::SQLITE_PRAGMA => scope.migrating && first == "quick_check" && own(second),
        // Everything else is rejected: other PRAGMAs, ATTACH, DETACH, ANALYZE, VACUUM, views, triggers, virtual and
        // temporary tables, transactions and savepoints, recursive CTEs.
        _ => false,
    }
}

unsafe extern "C" fn authorize(
    cell: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    database: *const c_char,
    through: *const c_char,
) -> c_int {
    // SAFETY: `register` registered this pointer, and the connection owns it until it is closed.
    let cell = unsafe { &*cell.cast::<Confinement>() };
    let names = [first, second, database, through].map(|name| {
        // SAFETY: SQLite passes null or a string that ends with a zero byte and lives as long as this call.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
        // A plugin may only use names in UTF-8: `?` matches no allowed name.
        name.map_or("", |name| name.to_str().unwrap_or("?"))
    });
    if cell.allows(action, names) { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}

unsafe extern "C" fn progress(cell: *mut c_void) -> c_int {
    // SAFETY: as in `authorize`.
    let cell = unsafe { &*cell.cast::<Confinement>() };
    c_int::from(cell.ends())
}

unsafe extern "C" fn forget(cell: *mut c_void) {
    // SAFETY: `register` created this pointer with `Arc::into_raw`, and SQLite calls this once, when it releases it.
    drop(unsafe { Arc::from_raw(cell.cast_const().cast::<Confinement>()) });
}

/// Prepares the connection that the server shares with plugins: hardened, with the authorizer of `cell`.
pub(crate) fn adopt(connection: &rusqlite::Connection, cell: &Arc<Confinement>) -> Result<(), rusqlite::Error> {
    // SAFETY: the connection is open, and not in use elsewhere.
    let failed = unsafe {
        let database = connection.handle();
        switch_off(database);
        register(database, cell, STEPS)
    };
    done(failed)?;
    bounded::register(connection)
}

fn done(failed: c_int) -> Result<(), rusqlite::Error> {
    if failed == ffi::SQLITE_OK { Ok(()) } else { Err(rusqlite::Error::SqliteFailure(ffi::Error::new(failed), None)) }
}

/// Prepares a connection for plugins only: hardened, with the limits of plugins, and with the authorizer of `cell`.
pub(super) fn confine(connection: &rusqlite::Connection, cell: &Arc<Confinement>) -> Result<(), rusqlite::Error> {
    // SAFETY: the connection is open, and not in use elsewhere.
    let failed = unsafe {
        let database = connection.handle();
        switch_off(database);
        set_limits(database, RELAXED_LIMITS.map(|(_, value)| value));
        register(database, cell, CONFINED_STEPS)
    };
    done(failed)?;
    bounded::register(connection)
}

/// Switches a connection for plugins between the strict limits ([`STRICT_LIMITS`], with `strict`) and the relaxed
/// limits ([`RELAXED_LIMITS`]).
pub(super) fn set_strict(connection: &rusqlite::Connection, strict: bool) {
    for (limit, small) in STRICT_LIMITS {
        let usual = RELAXED_LIMITS.iter().find(|(usual, _)| *usual == limit).map_or(small, |(_, usual)| *usual);
        // SAFETY: as in `confine`; both arguments are plain integers.
        unsafe {
            ffi::sqlite3_limit(connection.handle(), limit, if strict { small } else { usual });
        }
    }
}

/// Registers the authorizer and the progress handler with `cell`; the connection keeps a reference to it until it is
/// closed. Returns a result code.
///
/// # Safety
/// `database` is an open connection on which SQLite is not running.
unsafe fn register(database: *mut ffi::sqlite3, cell: &Arc<Confinement>, steps: c_int) -> c_int {
    let pointer = Arc::into_raw(Arc::clone(cell)).cast_mut().cast::<c_void>();
    // SAFETY: as for this function. The pointer is valid until `forget`, which SQLite calls when the connection is
    // closed; no statement is compiled or run after that.
    unsafe {
        let kept = ffi::sqlite3_set_clientdata(database, c"rookery".as_ptr(), pointer, Some(forget));
        if kept != ffi::SQLITE_OK {
            return kept;
        }
        ffi::sqlite3_progress_handler(database, steps, Some(progress), pointer);
        ffi::sqlite3_set_authorizer(database, Some(authorize), pointer)
    }
}

/// SQLite's run-time limits for the statements of plugins (<https://www.sqlite.org/c3ref/limit.html>).
#[expect(clippy::cast_possible_truncation, reason = "small constants")]
const RELAXED_LIMITS: [(c_int, c_int); 8] = [
    (ffi::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES as c_int),
    (ffi::SQLITE_LIMIT_SQL_LENGTH, 256 << 10),
    (ffi::SQLITE_LIMIT_FUNCTION_ARG, MAX_ARGUMENTS as c_int),
    (ffi::SQLITE_LIMIT_COLUMN, 200),
    (ffi::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (ffi::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (ffi::SQLITE_LIMIT_ATTACHED, 0),
    // The progress handler is not called within a comparison, whose time grows with the product of the lengths of
    // text and pattern.
    (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, MAX_PATTERN_BYTES as c_int),
];

/// The strict limits, for a statement that blocks an async thread: no value is so large that a single instruction
/// takes long.
const STRICT_LIMITS: [(c_int, c_int); 2] =
    [(ffi::SQLITE_LIMIT_LENGTH, 16 << 10), (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 20)];

/// Runs `work` with the limits of plugins on a connection of the server.
pub(super) fn with_relaxed_limits<T>(
    connection: &rusqlite::Connection,
    cell: &Arc<Confinement>,
    work: impl FnOnce() -> T,
) -> T {
    // SAFETY: as in `confine`. The connection keeps a reference to `cell`, so the pointer is valid until it is closed.
    let before = unsafe {
        look_every(connection.handle(), CONFINED_STEPS, cell);
        set_limits(connection.handle(), RELAXED_LIMITS.map(|(_, value)| value))
    };
    let done = work();
    // SAFETY: as above.
    unsafe {
        set_limits(connection.handle(), before);
        look_every(connection.handle(), STEPS, cell);
    }
    done
}

/// Registers the progress handler again, with another number of steps.
///
/// # Safety
/// As [`register`], and the connection was registered with `cell`.
unsafe fn look_every(database: *mut ffi::sqlite3, steps: c_int, cell: &Arc<Confinement>) {
    let pointer = Arc::as_ptr(cell).cast_mut().cast::<c_void>();
    // SAFETY: as for this function.
    unsafe { ffi::sqlite3_progress_handler(database, steps, Some(progress), pointer) };
}

/// Sets the limits listed in [`RELAXED_LIMITS`]; returns the previous values.
///
/// # Safety
/// As [`register`].
unsafe fn set_limits(
    database: *mut ffi::sqlite3,
    values: [c_int; RELAXED_LIMITS.len()],
) -> [c_int; RELAXED_LIMITS.len()] {
    let mut before = values;
    for ((limit, _), value) in RELAXED_LIMITS.into_iter().zip(&mut before) {
        // SAFETY: as for this function; both arguments are plain integers.
        *value = unsafe { ffi::sqlite3_limit(database, limit, *value) };
    }
    before
}

/// Hardens a connection permanently: defensive mode, and neither a trusted schema nor extensions
/// (<https://www.sqlite.org/c3ref/c_dbconfig_defensive.html>).
///
/// # Safety
/// As [`register`].
unsafe fn switch_off(database: *mut ffi::sqlite3) {
    let switches = [
        (ffi::SQLITE_DBCONFIG_DEFENSIVE, 1),
        (ffi::SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
        (ffi::SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    ];
    for (switch, value) in switches {
        // SAFETY: as for this function; these switches take an int and a pointer that may be null.
        unsafe {
            ffi::sqlite3_db_config(database, switch, value as c_int, std::ptr::null_mut::<c_int>());
        }
    }
}
