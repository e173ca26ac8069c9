//! A server under measurement: its address, its processor time, and whether its work is done.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use database::Db;
use database::db::Engine;

use crate::load::{self, Amount, Run};
use crate::process::{cpu_of, postgres_cpu};
use crate::routes::Route;
use crate::scratch;

#[derive(Clone, Debug)]
pub struct Subject {
    pub address: SocketAddr,
    /// Without it, processor time is unknown.
    pub pid: Option<u32>,
    /// PostgreSQL works only for this server.
    pub postgres: bool,
    /// Database of our server, whose queue shows when all work is done. For other servers, waits until the process is
    /// idle.
    pub db: Option<Db>,
}

/// Cost of a route in one run.
#[derive(Clone, Debug)]
pub struct Cost {
    pub run: Run,
    /// Processor time of the server per request, in microseconds, including queued work.
    pub server: Option<f64>,
    pub database: f64,
}

impl Cost {
    pub fn total(&self) -> Option<f64> {
        Some(self.server? + self.database)
    }
}

impl Subject {
    pub fn new(address: SocketAddr, pid: u32, db: &Db) -> Self {
        Self { address, pid: Some(pid), postgres: db.engine() == Engine::Postgres, db: Some(db.clone()) }
    }

    /// Keeps `connections` busy with `amount` of requests, and waits until all work is done.
    pub async fn load(&self, route: &Route, amount: Amount, connections: usize, next: &Arc<AtomicUsize>) -> Cost {
        let (server, database) = self.spent();
        let run = load::run(self.address, connections, amount, &route.requests, next).await;
        self.settle(route.writes).await;
        let (server_after, database_after) = self.spent();
        let each = |spent: Duration| spent.as_secs_f64() * 1e6 / run.requests.max(1) as f64;
        let server = server_after.zip(server).map(|(after, before)| each(after.saturating_sub(before)));
        Cost { server, database: each(database_after.saturating_sub(database)), run }
    }

    /// A few requests that are not measured.
    pub async fn warm(&self, route: &Route, next: &Arc<AtomicUsize>) {
        let amount = Amount { requests: if route.writes { 20 } else { 600 }, time: Duration::from_secs(2) };
        load::run(self.address, 4, amount, &route.requests, next).await;
        self.settle(route.writes).await;
    }

    /// Processor time so far, of the server and of PostgreSQL.
    fn spent(&self) -> (Option<Duration>, Duration) {
        (self.pid.map(cpu_of), if self.postgres { postgres_cpu() } else { Duration::ZERO })
    }

    /// Waits until all work is done. Reads queue some as well: the last use of tokens and accounts is recorded.
    async fn settle(&self, wrote: bool) {
        match &self.db {
            Some(db) => scratch::settle(db).await,
            None if wrote => self.rest().await,
            None => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }

    /// Waits until a third of a second costs at most one clock tick, for a minute at most.
    async fn rest(&self) {
        let begun = Instant::now();
        let mut before = self.spent();
        while begun.elapsed() < Duration::from_secs(60) {
            tokio::time::sleep(Duration::from_millis(333)).await;
            let now = self.spent();
            let busy = (now.0.unwrap_or_default() + now.1).saturating_sub(before.0.unwrap_or_default() + before.1);
            if busy <= Duration::from_millis(10) {
                return;
            }
            before = now;
        }
    }
}
