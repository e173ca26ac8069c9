//! The node number in the ids of this process: leased from the database, so that no two processes generate the same
//! id.
//!
//! [`Cx::open`](crate::Cx::open) leases one, and reads the highest id so far as the lower bound of new ids, even when
//! the clock was set back; a server renews the lease ([`Node::keep`]), and [`Cx::close`](crate::Cx::close) releases
//! it. If a process ends without that, its lease expires. When all numbers are in use, the least recently renewed one
//! is taken from its holder, which then takes another.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chrono::TimeDelta;
use tokio::time::Instant;

use crate::error::Result;
use database::Db;
use model::Time;
use model::clock::{Clock, Ids, NODES};

/// How long a number is leased.
const LEASE: TimeDelta = TimeDelta::minutes(5);
/// How often the lease is renewed.
const INTERVAL: Duration = Duration::from_secs(75);

/// How far ids may be ahead of the clock: the clocks of nodes differ.
const TOLERATED: TimeDelta = TimeDelta::minutes(1);
/// How often a slow clock is logged.
const LOG_EVERY: Duration = Duration::from_secs(60 * 60);

/// How many processes use this database: servers, and commands that run. A killed one counts until its lease ends.
pub async fn count_processes(db: &Db, now: Time) -> Result<i64> {
    Ok(store::node::count_leased(db, now).await?)
}

/// This process as the holder of a number.
#[derive(Debug)]
pub struct Node {
    db: Db,
    clock: Clock,
    ids: Ids,
    holder: String,
    /// When a slow clock was last logged; `None` while the clock is correct.
    set_back: Mutex<Option<Instant>>,
}

/// Leases a number and creates the id generator with it.
pub(crate) async fn open(db: &Db, clock: &Clock) -> Result<(Node, Ids)> {
    let holder = crypto::random_text(12);
    let number = take(db, clock, &holder).await?;
    let floor = store::node::highest_id(db).await?;
    let ids = Ids::new(clock.clone(), number, floor);
    let node = Node { db: db.clone(), clock: clock.clone(), ids: ids.clone(), holder, set_back: Mutex::default() };
    Ok((node, ids))
}

async fn take(db: &Db, clock: &Clock, holder: &str) -> Result<i64> {
    let now = clock.now();
    let mut tx = db.begin().await?;
    let (number, free_since) = store::node::take(&mut tx, holder, now + LEASE).await?;
    tx.commit().await?;
    if free_since > now {
        tracing::warn!("more than {NODES} processes use this database: ids may collide until some of them end");
    }
    Ok(number)
}

/// The warning when the newest record of the database is `ahead` of the clock; `None` within the tolerance.
#[must_use]
pub fn set_back(ahead: TimeDelta) -> Option<String> {
    let minutes = ahead.num_minutes();
    (ahead > TOLERATED).then(|| {
        format!(
            "the clock of this machine is {} h {} min behind the newest record of the database: set it right (new records \
             keep their order meanwhile)",
            minutes / 60,
            minutes % 60
        )
    })
}

impl Node {
    /// Renews the lease until it is aborted, and takes another number when it was lost.
    pub async fn keep(&self) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Err(error) = self.renew().await {
                crate::log_failure!(error, "could not renew the lease of this process's number for ids");
            }
        }
    }

    /// Renews the lease once, or takes another number.
    pub async fn renew(&self) -> Result<()> {
        if !self.set_lease(self.clock.now() + LEASE).await? {
            self.ids.move_to(take(&self.db, &self.clock, &self.holder).await?);
        }
        Ok(())
    }

    /// Checks whether the clock was set back, and logs it. Jobs queued to run immediately are made due, so that they do not
    /// wait until the clock has caught up.
    pub async fn check_clock(&self) -> Result<()> {
        let Some(text) = set_back(self.ids.ahead()) else {
            *self.set_back() = None;
            return Ok(());
        };
        let logged = *self.set_back();
        if logged.is_some_and(|at| at.elapsed() < LOG_EVERY) {
            return Ok(());
        }
        if logged.is_none() {
            let now = self.clock.now();
            let mut tx = self.db.begin().await?;
            store::job::make_due_after_set_back(&mut tx, now, now + TOLERATED).await?;
            tx.commit().await?;
        }
        *self.set_back() = Some(Instant::now());
        tracing::error!("{text}");
        Ok(())
    }

    /// Releases the number.
    pub(crate) async fn release(&self) -> Result<()> {
        self.set_lease(Time::from_micros(0)).await.map(drop)
    }

    async fn set_lease(&self, lease_until: Time) -> Result<bool> {
        let mut tx = self.db.begin().await?;
        let held = store::node::renew(&mut tx, &self.holder, self.ids.last(), lease_until).await?;
        tx.commit().await?;
        Ok(held)
    }

    fn set_back(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.set_back.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
