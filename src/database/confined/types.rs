//! Statements of plugins as data: scope, parameters, limits, results and errors.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The tables and views that a statement may access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The plugin's name: `[a-z][a-z0-9_]*`.
    pub name: String,
    /// The prefix of its tables' names (SQLite).
    pub prefix: String,
    /// Its schema (PostgreSQL).
    pub schema: String,
    /// Its role (PostgreSQL). Roles belong to the whole cluster, so the name contains a hash of the database's name.
    pub role: String,
    /// The views of `core_v1` that it may read.
    pub views: BTreeSet<String>,
    /// It is a migration: the schema of the plugin's own namespace may be changed.
    pub migrating: bool,
}

/// Limits of a statement.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The longest run time.
    pub time: Duration,
    /// Most rows to read; further rows are left out ([`Rows::truncated`]).
    pub rows: usize,
    /// Most bytes of all values together; more is [`ConfinedError::Bytes`].
    pub bytes: usize,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    Boolean,
    Integer,
    Real,
    Text,
    Blob,
    /// A JSON document: `jsonb` on PostgreSQL.
    Json,
    /// A list of integers: an array on PostgreSQL, a JSON array on SQLite.
    Integers,
    /// A list of texts.
    Texts,
}

#[derive(Clone, Debug)]
pub enum Param {
    Null(ParamType),
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
    Json(Box<serde_json::value::RawValue>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

/// A value of a row. Booleans are 0 and 1 on both engines, as in SQLite.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    /// The size in memory, including the enum itself: a result of many small values is large too.
    pub(super) fn size(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Null | Self::Integer(_) | Self::Real(_) => 0,
                Self::Text(text) => text.len(),
                Self::Blob(bytes) => bytes.len(),
            }
    }
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// The names of the columns; empty when there is no row.
    pub columns: Vec<String>,
    /// The values of all rows in one list, row by row.
    pub values: Vec<Value>,
    /// Number of changed rows.
    pub affected: u64,
    /// There were more rows than the limit.
    pub truncated: bool,
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

impl Rows {
    /// Appends a value, within the limit of bytes.
    pub(super) fn push(&mut self, value: Value, limits: &Limits) -> Result<(), ConfinedError> {
        self.bytes += value.size();
        if self.bytes > limits.bytes {
            return Err(ConfinedError::Bytes(limits.bytes));
        }
        self.values.push(value);
        Ok(())
    }

    /// True when the next row exceeds the limit; counts it otherwise.
    pub(super) fn full(&mut self, limits: &Limits) -> bool {
        self.truncated = self.rows >= limits.rows;
        if !self.truncated {
            self.rows += 1;
        }
        self.truncated
    }
}

/// Why a statement was rejected or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfinedError {
    /// It ran, or waited for a lock, for longer than its time limit.
    #[error("it took longer than {0:?}")]
    Time(Duration),
    /// The time limit of its transaction ([`Tx::bound`](crate::Tx::bound)) cut it off (SQLite).
    #[error("its transaction reached its time limit")]
    TransactionTime,
    /// The result, or on SQLite a single value, is larger than the limit.
    #[error("the result is larger than {0} bytes")]
    Bytes(usize),
    /// The engine rejected it: it accesses something outside the scope.
    #[error("not allowed: {0}")]
    Denied(String),
    /// A unique index or primary key rejected a row of this table, which has the engine's name.
    #[error("a row like this is there already in {0}")]
    Unique(String),
    /// A foreign key rejected it: a referenced row is missing, or a row is still referenced.
    #[error("a referred row is missing")]
    ForeignKey,
    /// A constraint of a column rejected a value.
    #[error("{0}")]
    Constraint(String),
    /// The statement rolled back its transaction, including the server's own changes.
    #[error("it undid its transaction")]
    RolledBack,
    /// Any other error, with the engine's message.
    #[error("{0}")]
    Statement(String),
    /// No connection, a busy database, or a serialisation failure: retrying later may help.
    #[error("the database did not answer: {0}")]
    Unavailable(String),
}

/// Time beyond a statement's limit before it is abandoned, in case the engine's own limit does not end it.
pub(super) const GRACE: Duration = Duration::from_millis(250);

/// A timeout around `work`, in addition to the engine's own.
pub(super) async fn within<T>(
    limits: &Limits,
    work: impl Future<Output = Result<T, ConfinedError>>,
) -> Result<T, ConfinedError> {
    match tokio::time::timeout(limits.time + GRACE, work).await {
        Ok(done) => done,
        Err(_) => Err(ConfinedError::Time(limits.time)),
    }
}

/// `text` with a comment that is different each time, to bypass the prepared statement cache of the connection: a
/// cached statement would reflect the tables at the time of its preparation.
pub(super) fn uncached(text: &str) -> String {
    static PREPARED: AtomicU64 = AtomicU64::new(0);
    format!("{text} /* {} */", PREPARED.fetch_add(1, Ordering::Relaxed))
}
