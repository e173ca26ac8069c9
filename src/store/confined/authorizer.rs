//! SQLite's authorizer and progress handler: the only place of the server that calls SQLite's C interface itself.
//!
//! Each confined connection has a [`Cell`] that says on whose behalf it works just now: nobody's (the server itself:
//! everything is allowed) or a plugin's [`Scope`]. SQLite asks while it compiles a statement, for every table, column and
//! function that the statement touches, and every few thousand steps while it runs one.
#![expect(unsafe_code, reason = "sqlx has no authorizer, no limits and no switches of a connection")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use libsqlite3_sys as ffi;

use super::{Scope, functions, namespace};

/// Steps of SQLite's machine between two looks at the clock: some ten microseconds, and no more of those that work on a
/// large value than can be waited for.
const STEPS: c_int = 200;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// On whose behalf a connection works, and until when. Times are milliseconds since [`START`]; 0: never.
#[derive(Debug, Default)]
pub(super) struct Cell {
    scope: Mutex<Option<Arc<Scope>>>,
    /// When a plugin's statement is ended.
    deadline: AtomicU64,
    /// When whatever runs in this transaction is ended, the server's own statements too.
    until: AtomicU64,
    /// Something was ended.
    ended: AtomicBool,
    /// Rolling back is allowed, and whatever still runs ends.
    ending: AtomicBool,
}

impl Cell {
    /// From now on for `scope`, for as long as `time`.
    pub(super) fn enter(&self, scope: &Arc<Scope>, time: Duration) {
        *self.lock() = Some(Arc::clone(scope));
        self.ending.store(false, Ordering::Release);
        self.deadline.store(now() + milliseconds(time), Ordering::Release);
    }

    /// The transaction that is open ends after `left` at the latest; of none there is no end.
    pub(super) fn bound(&self, left: Option<Duration>) {
        self.until.store(left.map_or(0, |left| now() + milliseconds(left)), Ordering::Release);
    }

    /// True while nothing of a plugin is left, and no statement was ended: who takes the connection next may have it.
    pub(super) fn is_clean(&self) -> bool {
        !self.is_confined() && !self.ended.load(Ordering::Acquire)
    }

    /// From now on for the server itself.
    pub(super) fn leave(&self) {
        self.deadline.store(0, Ordering::Release);
        self.ending.store(false, Ordering::Release);
        *self.lock() = None;
    }

    /// What runs is to end, and nothing but rolling back may follow.
    pub(super) fn end(&self) {
        self.ending.store(true, Ordering::Release);
        self.deadline.store(1, Ordering::Release);
    }

    /// True while it works for a plugin.
    pub(super) fn is_confined(&self) -> bool {
        self.lock().is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Arc<Scope>>> {
        self.scope.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn allows(&self, action: c_int, names: [&str; 4]) -> bool {
        match &*self.lock() {
            None => true,
            Some(scope) => {
                let ending = self.ending.load(Ordering::Acquire);
                allows(scope, action, names) || (ending && action == ffi::SQLITE_TRANSACTION && names[0] == "ROLLBACK")
            }
        }
    }

    /// Whether what runs is to end.
    fn ends(&self) -> bool {
        let (now, late) = (now(), |time: &AtomicU64, now| (1..now).contains(&time.load(Ordering::Acquire)));
        let ends = late(&self.deadline, now) || late(&self.until, now);
        if ends {
            self.ended.store(true, Ordering::Release);
        }
        ends
    }
}

/// Since [`START`], which is 1: 0 is no time.
fn now() -> u64 {
    1 + milliseconds(START.elapsed())
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX >> 1)
}

/// The schema's own table, under its names of all times.
fn is_schema(table: &str) -> bool {
    matches!(table, "sqlite_master" | "sqlite_schema" | "sqlite_temp_master" | "sqlite_temp_schema")
}

/// What a plugin may do: `names` are the authorizer's third to sixth argument.
fn allows(scope: &Scope, action: c_int, names: [&str; 4]) -> bool {
    let [first, second, database, through] = names;
    let own = |table: &str| table.starts_with(&scope.prefix);
    let view = |name: &str| name.strip_prefix("core_v1__").is_some_and(|name| scope.views.contains(name));
    // SQLite itself looks at the rows of a table to which a column is added.
    let schema = |table: &str| scope.migrating && (is_schema(table) || table == "pragma_quick_check");
    match action {
        ffi::SQLITE_SELECT => true,
        ffi::SQLITE_FUNCTION => functions::is_allowed(second) || (scope.migrating && functions::is_internal(second)),
        _ if database == "temp" && !is_schema(first) => false,
        // Renaming and dropping a table, which SQLite follows up there.
        ffi::SQLITE_READ | ffi::SQLITE_DELETE if first == "sqlite_sequence" => scope.migrating,
        ffi::SQLITE_UPDATE if first == "sqlite_sequence" => scope.migrating && second == "name",
        // No column: a table of which no value is used, named without the view through which it is read.
        ffi::SQLITE_READ
            if second.is_empty() && scope.views.iter().any(|view| namespace::bases(view).contains(&first)) =>
        {
            true
        }
        ffi::SQLITE_READ => own(first) || view(first) || view(through) || schema(first) || functions::is_table(first),
        ffi::SQLITE_INSERT | ffi::SQLITE_UPDATE | ffi::SQLITE_DELETE => own(first) || schema(first),
        ffi::SQLITE_CREATE_TABLE | ffi::SQLITE_DROP_TABLE => scope.migrating && own(first),
        ffi::SQLITE_CREATE_INDEX | ffi::SQLITE_DROP_INDEX | ffi::SQLITE_ALTER_TABLE => scope.migrating && own(second),
        ffi::SQLITE_REINDEX => scope.migrating && (own(first) || first.starts_with("sqlite_autoindex_")),
        ffi::SQLITE_PRAGMA => scope.migrating && first == "quick_check" && own(second),
        // No other PRAGMA, no ATTACH, DETACH, ANALYZE, VACUUM; no views, triggers, virtual or temporary tables; no transactions;
        // no recursion.
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
    // SAFETY: `install` gave this pointer, and the connection owns it until it is closed.
    let cell = unsafe { &*cell.cast::<Cell>() };
    let names = [first, second, database, through].map(|name| {
        // SAFETY: SQLite passes null or a text that ends with a zero and lives as long as this call.
        let name = (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) });
        // What is not UTF-8 is nothing that a plugin may name.
        name.map_or("", |name| name.to_str().unwrap_or("?"))
    });
    if cell.allows(action, names) { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}

unsafe extern "C" fn progress(cell: *mut c_void) -> c_int {
    // SAFETY: as in `authorize`.
    let cell = unsafe { &*cell.cast::<Cell>() };
    c_int::from(cell.ends())
}

unsafe extern "C" fn forget(cell: *mut c_void) {
    // SAFETY: `install` made this pointer with `Arc::into_raw`, and SQLite calls this once, when it lets go of it.
    drop(unsafe { Arc::from_raw(cell.cast_const().cast::<Cell>()) });
}

/// Puts `cell` in charge of `connection`.
pub(super) async fn install(connection: &mut sqlx::SqliteConnection, cell: &Arc<Cell>) -> Result<(), sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    // SAFETY: the handle is locked, so SQLite is not at work on this connection.
    let failed = unsafe { put_in_charge(handle.as_raw_handle().as_ptr(), cell) };
    if failed == ffi::SQLITE_OK { Ok(()) } else { Err(sqlx::Error::Protocol(format!("SQLite's authorizer: {failed}"))) }
}

/// Makes a plugins' own connection what the writer is while it works for one: hardened, narrow, with `cell` in charge.
pub(super) fn confine(connection: &rusqlite::Connection, cell: &Arc<Cell>) -> Result<(), rusqlite::Error> {
    // SAFETY: the connection is open, and nobody else has it: it is no shared one.
    let failed = unsafe {
        let database = connection.handle();
        switch_off(database);
        set_limits(database, LIMITS.map(|(_, value)| value));
        put_in_charge(database, cell)
    };
    if failed == ffi::SQLITE_OK { Ok(()) } else { Err(rusqlite::Error::SqliteFailure(ffi::Error::new(failed), None)) }
}

/// Sets how large values may be on a plugins' own connection: as usual, or as in [`HURRIED`].
pub(super) fn hurry(connection: &rusqlite::Connection, hurried: bool) {
    for (limit, small) in HURRIED {
        let usual = LIMITS.iter().find(|(usual, _)| *usual == limit).map_or(small, |(_, usual)| *usual);
        // SAFETY: as in `confine`; both numbers are plain.
        unsafe {
            ffi::sqlite3_limit(connection.handle(), limit, if hurried { small } else { usual });
        }
    }
}

/// # Safety
/// `database` is an open connection on which SQLite is not at work.
unsafe fn put_in_charge(database: *mut ffi::sqlite3, cell: &Arc<Cell>) -> c_int {
    let pointer = Arc::into_raw(Arc::clone(cell)).cast_mut().cast::<c_void>();
    // SAFETY: as for this function. The pointer is valid until `forget`, which SQLite calls when the connection is closed;
    // no statement is compiled or run after that.
    unsafe {
        let kept = ffi::sqlite3_set_clientdata(database, c"rookery".as_ptr(), pointer, Some(forget));
        if kept != ffi::SQLITE_OK {
            return kept;
        }
        ffi::sqlite3_progress_handler(database, STEPS, Some(progress), pointer);
        ffi::sqlite3_set_authorizer(database, Some(authorize), pointer)
    }
}

/// The largest value that a plugin's statement may make, bytes.
pub(super) const VALUE: usize = 8 << 20;

/// What a plugin's statement may be, and be in need of.
const LIMITS: [(c_int, c_int); 7] = [
    (ffi::SQLITE_LIMIT_LENGTH, 8 << 20),
    (ffi::SQLITE_LIMIT_SQL_LENGTH, 256 << 10),
    (ffi::SQLITE_LIMIT_COLUMN, 200),
    (ffi::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (ffi::SQLITE_LIMIT_COMPOUND_SELECT, 20),
    (ffi::SQLITE_LIMIT_ATTACHED, 0),
    // No look at the clock ends a comparison, which takes as long as text and pattern are long, multiplied.
    (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100),
];

/// What the values of a statement may be that keeps a thread on which others wait: none that a single step is long at work on.
const HURRIED: [(c_int, c_int); 2] =
    [(ffi::SQLITE_LIMIT_LENGTH, 16 << 10), (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 20)];

/// The limits of a connection before a plugin's took their place.
pub(super) struct Wide([c_int; LIMITS.len()]);

/// Puts the limits of plugins in the place of the connection's own.
pub(super) async fn narrow(connection: &mut sqlx::SqliteConnection) -> Result<Wide, sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    // SAFETY: the handle is locked.
    Ok(Wide(unsafe { set_limits(handle.as_raw_handle().as_ptr(), LIMITS.map(|(_, value)| value)) }))
}

/// Gives the connection its own limits back; says whether its transaction is still open.
pub(super) async fn widen(connection: &mut sqlx::SqliteConnection, wide: Wide) -> Result<bool, sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    let database = handle.as_raw_handle().as_ptr();
    // SAFETY: the handle is locked.
    unsafe {
        set_limits(database, wide.0);
        Ok(ffi::sqlite3_get_autocommit(database) == 0)
    }
}

/// Sets what [`LIMITS`] names; gives what it was.
///
/// # Safety
/// As [`put_in_charge`].
unsafe fn set_limits(database: *mut ffi::sqlite3, values: [c_int; LIMITS.len()]) -> [c_int; LIMITS.len()] {
    let mut before = values;
    for ((limit, _), value) in LIMITS.into_iter().zip(&mut before) {
        // SAFETY: as for this function; both numbers are plain.
        *value = unsafe { ffi::sqlite3_limit(database, limit, *value) };
    }
    before
}

/// Switches off what the engine does on its own, for good.
pub(super) async fn harden(connection: &mut sqlx::SqliteConnection) -> Result<(), sqlx::Error> {
    let mut handle = connection.lock_handle().await?;
    // SAFETY: the handle is locked.
    unsafe { switch_off(handle.as_raw_handle().as_ptr()) };
    Ok(())
}

/// # Safety
/// As [`put_in_charge`].
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
