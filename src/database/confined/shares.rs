//! The read connections of each plugin: a few per plugin, so that plugins do not wait for each other and the server
//! does not wait for any of them.
//!
//! Reached from [`Db::confined`](crate::Db::confined). A share is created when a plugin first reads, its connections
//! when they are first needed; [`Db::end_reads`](crate::Db::end_reads) interrupts their statements.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::Readers;
use crate::fault::Faults;
use crate::options::tested;

/// How long a call waits for a free connection of its plugin.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long an idle connection to PostgreSQL stays open: other processes need connections too.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// The shares of all plugins.
#[derive(Debug)]
pub(crate) struct Shares {
    source: Source,
    /// Connections of each share in [`Lane::Usual`].
    size: u32,
    faults: Arc<Faults>,
    by_plugin: Mutex<HashMap<(String, Lane), Share>>,
}

/// The set of a plugin's connections that a statement uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The connections shared by routes, jobs and decorations.
    Usual,
    /// A connection for hooks that block a change, so that they do not wait for other reads.
    Filters,
}

#[derive(Debug)]
enum Source {
    Sqlite(PathBuf),
    Postgres(Box<PgConnectOptions>),
}

/// The connections of one plugin.
#[derive(Clone, Debug)]
pub(super) enum Share {
    Sqlite(Arc<Readers>),
    Postgres(PgPool),
}

impl Shares {
    /// Shares of `size` connections to an SQLite file.
    pub(crate) fn sqlite(file: &Path, size: u32, faults: Arc<Faults>) -> Self {
        Self { source: Source::Sqlite(file.to_owned()), size, faults, by_plugin: Mutex::default() }
    }

    /// Shares of `size` connections to PostgreSQL; sorts and hashes spill to files early, and statements use no
    /// parallel workers.
    pub(crate) fn postgres(connect: PgConnectOptions, size: u32, faults: Arc<Faults>) -> Self {
        let connect = connect.options([("work_mem", "4MB"), ("max_parallel_workers_per_gather", "0")]);
        Self { source: Source::Postgres(Box::new(connect)), size, faults, by_plugin: Mutex::default() }
    }

    /// The share of the plugin called `name`, created if there is none.
    pub(super) fn of(&self, name: &str, lane: Lane) -> Share {
        let (key, mut shares) = ((name.to_owned(), lane), self.lock());
        if let Some(share) = shares.get(&key) {
            return share.clone();
        }
        let size = match lane {
            Lane::Usual => self.size,
            Lane::Filters => 1,
        };
        let share = match &self.source {
            Source::Sqlite(file) => Share::Sqlite(Arc::new(Readers::new(file, size))),
            Source::Postgres(connect) => Share::Postgres(
                tested(PgPoolOptions::new(), &self.faults)
                    .max_connections(size)
                    .acquire_timeout(ACQUIRE_TIMEOUT)
                    .idle_timeout(IDLE_TIMEOUT)
                    .connect_lazy_with((**connect).clone()),
            ),
        };
        shares.insert(key, share.clone());
        share
    }

    /// Closes the connections of the plugin called `name` after their statements have ended; on SQLite the statements
    /// are interrupted.
    pub(super) async fn end(&self, name: &str) {
        let shares: Vec<Share> =
            self.lock().extract_if(|(plugin, _), _| plugin == name).map(|(_, share)| share).collect();
        futures_util::future::join_all(shares.iter().map(Share::close)).await;
    }

    /// Closes all shares.
    pub(crate) async fn close(&self) {
        let shares: Vec<Share> = self.lock().drain().map(|(_, share)| share).collect();
        futures_util::future::join_all(shares.iter().map(Share::close)).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(String, Lane), Share>> {
        self.by_plugin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    async fn close(&self) {
        match self {
            Self::Sqlite(readers) => readers.close().await,
            // A statement without a caller may run until its time limit.
            Self::Postgres(pool) => drop(tokio::time::timeout(ACQUIRE_TIMEOUT, pool.close()).await),
        }
    }
}
