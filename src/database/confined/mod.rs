//! Runs the SQL of plugins in a sandbox that the database engine enforces: the second of three layers
//! (docs/plugins.md#17-sql).
//!
//! [`Db::confined`] reads on a separate connection; [`Tx::confined`] reads and writes inside a transaction that the
//! server's own statements may share. A [`Scope`] defines the reach of a statement: the tables in the namespace of
//! the plugin, and the views of `core_v1` that it was granted. On SQLite an authorizer callback rejects everything
//! else while the statement is compiled; on PostgreSQL the statement runs as a role that owns one schema and nothing
//! else. Time, rows and bytes are bounded by [`Limits`]. Whether a statement is acceptable at all is decided before,
//! by parsing it in `plugin_package::sql`; nothing here relies on that.

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
mod types;
mod views;

use std::sync::Arc;
use std::time::Duration;

use super::db::{Db, Inner, Tx};

use readers::Readers;
pub use shares::Lane;
use shares::Share;
pub(crate) use shares::Shares;
pub use types::{ConfinedError, Limits, Param, ParamType, Rows, Scope, Value};
pub use views::VIEWS;

impl Db {
    /// True when [`Db::confined`] would run immediately on the calling thread, for this scope.
    pub fn reads_inline(&self, scope: &Scope) -> bool {
        match self.shares.of(&scope.name, Lane::Usual) {
            Share::Sqlite(readers) => readers.is_free(),
            Share::Postgres(_) => false,
        }
    }

    /// Interrupts the reads of the plugin called `name`, and closes its read connections. It may read again.
    pub async fn end_reads(&self, name: &str) {
        self.shares.end(name).await;
    }

    /// Runs a read-only statement on a connection of its plugin.
    ///
    /// # Errors
    /// [`ConfinedError`], when the engine rejects the statement or it exceeds `limits`.
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
    /// Limits the remaining time of this transaction, and with `contended` its total duration, from its beginning,
    /// while others wait for it. On SQLite, where every other writer waits for it, a statement that runs at the
    /// deadline is interrupted, even a statement of the server. On PostgreSQL this does nothing: the holder of the
    /// transaction has to drop it.
    pub fn bound(&mut self, left: Duration, contended: Option<Duration>) {
        if let Inner::Sqlite(tx) = &self.inner {
            tx.bound(left, contended);
        }
    }

    /// True when a statement was cut off because others waited for this transaction: it may succeed when they do not.
    /// Never on PostgreSQL, where they do not wait.
    pub fn has_yielded(&self) -> bool {
        match &self.inner {
            Inner::Sqlite(tx) => tx.has_yielded(),
            Inner::Postgres(_) => false,
        }
    }

    /// Runs a statement of a plugin inside this transaction; the server's own statements stay unconfined.
    ///
    /// A failed statement leaves the transaction as it was before. The following transactions can only be rolled
    /// back: on SQLite one in which a statement was cut off ([`ConfinedError::Time`],
    /// [`ConfinedError::TransactionTime`], [`ConfinedError::Bytes`]) or ended it ([`ConfinedError::RolledBack`]), and
    /// on both engines one in which this future was dropped.
    ///
    /// # Errors
    /// [`ConfinedError`], when the engine rejects the statement or it exceeds `limits`.
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
    /// [`ConfinedError`], when the engine rejects the statement, or on PostgreSQL a column has a type that no
    /// [`Value`] can represent.
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

/// True for a valid name of a statement, parameter, table or column.
#[must_use]
pub fn is_name(name: &str) -> bool {
    name.len() <= 60
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
