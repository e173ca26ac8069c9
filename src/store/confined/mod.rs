//! Texts of plugins, run under the engine's own confinement: the second of three layers (PLUGINS.md section 1.7).
//!
//! [`Db::confined`] reads on a connection of its own, [`Tx::confined`] reads and changes inside a transaction that the
//! server's own statements may share. What a text may reach is a [`Scope`]: tables of the plugin's own name-space, and views
//! that were granted. On SQLite the authorizer refuses the rest while a statement is compiled; on PostgreSQL the
//! statement runs as a role that owns one schema and nothing else. Whether a text is acceptable at all is decided
//! before, in `plugins::sql`; nothing here trusts that.

mod authorizer;
mod bind;
pub mod functions;
mod namespace;
mod postgres;
mod readers;
mod sqlite;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::db::{Db, Inner, Pools, Tx};

pub use namespace::VIEWS;
pub(super) use readers::Readers;
pub(super) use sqlite::Writer;

/// What a text may reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The plugin's name: `[a-z][a-z0-9_]*`.
    pub name: String,
    /// What its tables' names begin with (SQLite).
    pub prefix: String,
    /// Its schema (PostgreSQL).
    pub schema: String,
    /// Its role (PostgreSQL): of the cluster, so it names the database as well.
    pub role: String,
    /// The views of `core_v1` that it may read.
    pub views: BTreeSet<String>,
    /// May change the schema of its own name-space: a migration.
    pub migrating: bool,
}

/// What stops a text.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For one statement.
    pub time: Duration,
    /// Rows that are read; more are left out.
    pub rows: usize,
    /// Bytes of all values.
    pub bytes: usize,
}

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "what the names say")]
pub enum Kind {
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
pub enum Arg {
    Null(Kind),
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
    Json(Box<serde_json::value::RawValue>),
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

/// A value of a row. Booleans are 0 and 1, so that both engines answer alike.
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
    fn size(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) | Self::Real(_) => 8,
            Self::Text(text) => text.len() + 8,
            Self::Blob(bytes) => bytes.len() + 8,
        }
    }
}

/// What a statement gave: row after row in one list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Names; empty when no row came.
    pub columns: Vec<String>,
    /// Row-major.
    pub values: Vec<Value>,
    /// How many rows were changed.
    pub affected: u64,
    /// There were more rows than the limit.
    pub truncated: bool,
    rows: usize,
    bytes: usize,
}

impl Rows {
    /// Takes one value more.
    fn push(&mut self, value: Value, limits: &Limits) -> Result<(), Failed> {
        self.bytes += value.size();
        if self.bytes > limits.bytes {
            return Err(Failed::Bytes(limits.bytes));
        }
        self.values.push(value);
        Ok(())
    }

    /// True when this row is one too many; counts it otherwise.
    fn full(&mut self, limits: &Limits) -> bool {
        self.truncated = self.rows >= limits.rows;
        if !self.truncated {
            self.rows += 1;
        }
        self.truncated
    }
}

/// Why a text was not run, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failed {
    /// The time was used up, or the wait for a lock.
    #[error("it took longer than {0:?}")]
    Time(Duration),
    /// The result is too large.
    #[error("the result is larger than {0} bytes")]
    Bytes(usize),
    /// The engine refuses: the text reaches outside the scope.
    #[error("not allowed: {0}")]
    Denied(String),
    /// A row like this is there already; in this table, as the engine calls it.
    #[error("a row like this is there already in {0}")]
    Unique(String),
    /// A row that is referred to is missing, or is still referred to.
    #[error("a referred row is missing")]
    ForeignKey,
    /// A value that its column does not take.
    #[error("{0}")]
    Constraint(String),
    /// The statement undid the transaction that it ran in, the server's own changes too.
    #[error("it undid its transaction")]
    Undone,
    /// The engine's own words.
    #[error("{0}")]
    Statement(String),
    /// The database did not answer.
    #[error("the database did not answer: {0}")]
    Unavailable(String),
}

/// How long beyond its limit a statement is waited for, in case the engine's own limit does not end it.
const GRACE: Duration = Duration::from_millis(250);

/// The second watch over time: the first is the engine's.
async fn within<T>(limits: &Limits, work: impl Future<Output = Result<T, Failed>>) -> Result<T, Failed> {
    match tokio::time::timeout(limits.time + GRACE, work).await {
        Ok(done) => done,
        Err(_) => Err(Failed::Time(limits.time)),
    }
}

impl Db {
    /// True when [`Db::confined`] would run at once, where it is asked for.
    pub(super) fn reads_here(&self) -> bool {
        match &self.pools {
            Pools::Sqlite { readers, .. } => readers.is_free(),
            Pools::Postgres(_) => false,
        }
    }

    /// Runs a text that only reads, on a connection of its own.
    ///
    /// # Errors
    /// What the engine refuses, and what goes beyond `limits`.
    pub async fn confined(
        &self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Arg>,
        limits: &Limits,
    ) -> Result<Rows, Failed> {
        self.count();
        match &self.pools {
            Pools::Sqlite { readers, .. } => readers.run(scope, text, args, limits).await,
            Pools::Postgres(pool) => postgres::read(pool, scope, text, args, limits).await,
        }
    }
}

impl Tx {
    /// From now on this transaction has `left` at the most. On SQLite, where everyone else who writes waits for it, whatever
    /// runs then is ended, the server's own statements too; elsewhere whoever holds it drops it.
    pub fn bound(&mut self, left: Duration) {
        if let Inner::Sqlite(_, writer) = &self.inner {
            writer.bound(Some(left));
        }
    }

    /// Runs a text inside this transaction; the server's own statements go on unconfined. What fails leaves the
    /// transaction as it was before. Dropping the future makes the transaction unusable: all it can do is roll back.
    ///
    /// # Errors
    /// What the engine refuses, and what goes beyond `limits`.
    pub async fn confined(
        &mut self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        args: Vec<Arg>,
        limits: &Limits,
    ) -> Result<Rows, Failed> {
        self.count();
        match &mut self.inner {
            Inner::Sqlite(tx, writer) => writer.run(tx, scope, text, args, limits).await,
            Inner::Postgres(tx) => postgres::run(tx, scope, text, args, limits).await,
        }
    }

    /// Asks the engine, inside this transaction, whether it understands and allows a text; gives its columns' names.
    ///
    /// # Errors
    /// What the engine refuses, and a column of a type that no [`Value`] holds.
    pub async fn prepare_confined(
        &mut self,
        scope: &Arc<Scope>,
        text: &Arc<str>,
        kinds: &[Kind],
    ) -> Result<Vec<String>, Failed> {
        match &mut self.inner {
            Inner::Sqlite(tx, writer) => writer.prepare(tx, scope, text).await,
            Inner::Postgres(tx) => postgres::prepare(tx, scope, text, kinds).await,
        }
    }
}

/// `text` as another text each time: one that was prepared before would be taken from the connection's cache, as the tables
/// were then.
fn anew(text: &str) -> String {
    static PREPARED: AtomicU64 = AtomicU64::new(0);
    format!("{text} /* {} */", PREPARED.fetch_add(1, Ordering::Relaxed))
}
