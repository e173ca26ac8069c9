//! Connection options of the database, and the pools of connections.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Connection as _;
use sqlx::postgres::PgPoolOptions;

use crate::fault::Faults;

/// Connection options of the database.
#[derive(Clone, Debug)]
pub struct Options {
    /// `sqlite://path/to/file.db` or `postgres://…`.
    pub url: String,
    /// Size limit of the pool, at least 1: of the read connections on SQLite, of all connections on PostgreSQL (which
    /// gets at least 2).
    pub max_connections: u32,
    /// How long a request waits for a connection before it fails.
    pub acquire_timeout: Duration,
    /// Additional connections for the reads of each plugin, at least 1.
    pub plugin_connections: u32,
}

/// Connection counts of a pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolStats {
    /// Open connections.
    pub open: u32,
    /// Open connections that are idle.
    pub idle: usize,
}

/// How long an idle connection is used without a test: PostgreSQL may have been restarted since.
const TRUSTED_IDLE: Duration = Duration::from_secs(5);

/// A pool that tests a connection before use if it was idle for long, or while PostgreSQL was away: a lost connection
/// is replaced, and no request fails because of it.
pub(crate) fn tested(pool: PgPoolOptions, faults: &Arc<Faults>) -> PgPoolOptions {
    let faults = Arc::clone(faults);
    pool.test_before_acquire(false).before_acquire(move |connection, idle| {
        let faults = Arc::clone(&faults);
        Box::pin(async move {
            if idle.idle_for < TRUSTED_IDLE && !faults.was_away_within(idle.idle_for) {
                return Ok(true);
            }
            let alive = connection.ping().await;
            Ok(faults.noted(alive.map_err(Into::into)).is_ok())
        })
    })
}
