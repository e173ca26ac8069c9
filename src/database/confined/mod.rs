//! Runs the SQL of plugins in a sandbox that the database engine itself enforces: the second of three layers
//! (docs/plugins.md#17-sql).
//!
//! [`Db::confined`] reads on a connection of its own; [`Tx::confined`] reads and writes inside a transaction that the
//! server's own statements may share. What a statement may reach is a [`Scope`]: the tables of the plugin's own
//! namespace, and the views of `core_v1` that it was granted. On SQLite an authorizer callback refuses everything else
//! while the statement is compiled; on PostgreSQL the statement runs as a role that owns one schema and nothing else.
//! Time, rows and bytes are bounded by [`Limits`]. Whether a text is acceptable at all is decided before, by parsing it
//! in `plugins::sql`; nothing here relies on that.

pub(crate) mod authorizer;
mod bind;
mod bounded;
pub mod functions;
mod low_priority;
mod namespace;
mod postgres;
mod readers;
mod shares;
mod sqlite;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::db::{Db, Inner, Tx};

pub use namespace::VIEWS;
use readers::Readers;
pub use shares::Lane;
use shares::Share;
pub(crate) use shares::Shares;

/// What a statement may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The plugin's name: `[a-z][a-z0-9_]*`.
    pub name: String,
    /// What its tables' names begin with (SQLite).
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
    /// The longest that it may run.
    pub time: Duration,
    /// Most rows that are read; further ones are left out ([`Rows::truncated`]).
    pub rows: usize,
    /// Most bytes of all values together; more is [`ConfinedError::Bytes`].
    pub bytes: usize,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "what the names say")]
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

/// A parameter.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "as in Kind")]
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

/// A value of a row. Booleans are 0 and 1, as SQLite has them, on both engines.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "what the names say")]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl Value {
    /// The memory that it takes, itself included: a result of many small values is large too.
    fn size(&self) -> usize {
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
    /// How many rows were changed.
    pub affected: u64,
    /// There were more rows than the limit.
    pub truncated: bool,
    rows: usize,
    bytes: usize,
}

impl Rows {
    /// Appends a value, within the limit of bytes.
    fn push(&mut self, value: Value, limits: &Limits) -> Result<(), ConfinedError> {
        self.bytes += value.size();
        if self.bytes > limits.bytes {
            return Err(ConfinedError::Bytes(limits.bytes));
        }
        self.values.push(value);
        Ok(())
    }

    /// True when the next row exceeds the limit; counts it otherwise.
    fn full(&mut self, limits: &Limits) -> bool {
        self.truncated = self.rows >= limits.rows;
        if !self.truncated {
            self.rows += 1;
        }
        self.truncated
    }
}

/// Why a statement was refused or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfinedError {
    /// It ran, or waited for a lock, for longer than its time limit.
    #[error("it took longer than {0:?}")]
    Time(Duration),
    /// The time limit of its transaction ([`Tx::bound`]) cut it off (SQLite).
    #[error("its transaction reached its time limit")]
    TransactionTime,
    /// The result, or on SQLite a single value, is larger than the limit.
    #[error("the result is larger than {0} bytes")]
    Bytes(usize),
    /// The engine refused it: it reaches outside the scope.
    #[error("not allowed: {0}")]
    Denied(String),
    /// A unique index or primary key rejected a row of this table, which is named as the engine names it.
    #[error("a row like this is there already in {0}")]
    Unique(String),
    /// A foreign key rejected it: a referenced row is missing, or a row is still referenced.
    #[error("a referred row is missing")]
    ForeignKey,
    /// A constraint of a column rejected a value.
    #[error("{0}")]
    Constraint(String),
    /// The statement rolled back the transaction that it ran in, the server's own changes included.
    #[error("it undid its transaction")]
    RolledBack,
    /// Any other error, in the engine's words.
    #[error("{0}")]
    Statement(String),
    /// No connection, a busy database, or a serialisation failure: it may work later.
    #[error("the database did not answer: {0}")]
    Unavailable(String),
}

/// How much longer than its limit a statement is waited for, in case the engine's own limit does not end it.
const GRACE: Duration = Duration::from_millis(250);

/// A timeout around `work`, in addition to the engine's own.
async fn within<T>(limits: &Limits, work: impl Future<Output = Result<T, ConfinedError>>) -> Result<T, ConfinedError> {
    match tokio::time::timeout(limits.time + GRACE, work).await {
        Ok(done) => done,
        Err(_) => Err(ConfinedError::Time(limits.time)),
    }
}

impl Db {
    /// True when [`Db::confined`] would run at once on the calling thread, for this scope.
    pub fn reads_inline(&self, scope: &Scope) -> bool {
        match self.shares.of(&scope.name, Lane::Usual) {
            Share::Sqlite(readers) => readers.is_free(),
            Share::Postgres(_) => false,
        }
    }

    /// Ends what the plugin called `name` reads, and closes the connections that it read on. It may read again.
    pub async fn end_reads(&self, name: &str) {
        self.shares.end(name).await;
    }

    /// Runs a statement that only reads, on a connection of its plugin's own.
    ///
    /// # Errors
    /// [`ConfinedError`], when the engine refuses the statement or it exceeds `limits`.
    pub async fn confined(
        &self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Param>,
        limits: &Limits,
    ) -> Result<Rows, ConfinedError> {
        self.confined_in(Lane::Usual, scope, text, args, limits).await
    }

    /// As [`Db::confined`], on a connection of `lane`.
    ///
    /// # Errors
    /// As [`Db::confined`].
    pub async fn confined_in(
        &self,
        lane: Lane,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Param>,
        limits: &Limits,
    ) -> Result<Rows, ConfinedError> {
        self.count();
        match self.shares.of(&scope.name, lane) {
            Share::Sqlite(readers) => readers.run(scope, text, args, limits).await,
            Share::Postgres(pool) => postgres::read(&pool, scope, text, args, limits).await,
        }
    }
}

impl Tx {
    /// Limits how long this transaction may still last, and with `contended` how long it lasts at most, from its beginning,
    /// while others wait for it. On SQLite, where every other writer waits for it, a statement that runs when the time is
    /// up is interrupted, even one of the server's own. On PostgreSQL this does nothing: whoever holds the transaction has
    /// to drop it.
    pub fn bound(&mut self, left: Duration, contended: Option<Duration>) {
        if let Inner::Sqlite(tx) = &self.inner {
            tx.bound(left, contended);
        }
    }

    /// True when a statement was cut off since others waited for this transaction: it may have the time that it needs when
    /// they do not. Never on PostgreSQL, where they do not wait.
    pub fn has_yielded(&self) -> bool {
        match &self.inner {
            Inner::Sqlite(tx) => tx.has_yielded(),
            Inner::Postgres(_) => false,
        }
    }

    /// Runs a statement of a plugin inside this transaction; the server's own statements stay unconfined.
    ///
    /// A statement that fails leaves the transaction as it was before. The exceptions can only roll back afterwards: on
    /// SQLite a transaction in which a statement was cut off ([`ConfinedError::Time`], [`ConfinedError::TransactionTime`],
    /// [`ConfinedError::Bytes`]) or ended it ([`ConfinedError::RolledBack`]), and on both engines one in which this future was dropped.
    ///
    /// # Errors
    /// [`ConfinedError`], when the engine refuses the statement or it exceeds `limits`.
    pub async fn confined(
        &mut self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Param>,
        limits: &Limits,
    ) -> Result<Rows, ConfinedError> {
        self.count();
        match &mut self.inner {
            Inner::Sqlite(tx) => sqlite::run(tx, scope, text, args, limits).await,
            Inner::Postgres(tx) => postgres::run(tx, scope, text, args, limits).await,
        }
    }

    /// Prepares a statement of a plugin inside this transaction, to check that the engine accepts it; returns the names
    /// of its columns.
    ///
    /// # Errors
    /// [`ConfinedError`], when the engine refuses the statement, or on PostgreSQL a column has a type that no [`Value`] can
    /// hold.
    pub async fn prepare_confined(
        &mut self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        kinds: &[ParamType],
    ) -> Result<Vec<String>, ConfinedError> {
        match &mut self.inner {
            Inner::Sqlite(tx) => sqlite::prepare(tx, scope, text).await,
            Inner::Postgres(tx) => postgres::prepare(tx, scope, text, kinds).await,
        }
    }
}

/// `text` with a comment that is different each time, to bypass the prepared statement cache of the connection: a
/// cached statement would answer for the tables as they were when it was prepared.
fn uncached(text: &str) -> String {
    static PREPARED: AtomicU64 = AtomicU64::new(0);
    format!("{text} /* {} */", PREPARED.fetch_add(1, Ordering::Relaxed))
}

/// True for what names statements, parameters, tables and columns.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.len() <= 60
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
