//! Schedules the writes of plugins, and limits the time for which a call uses the database.
//!
//! A plugin waits for its own queue first and then for the queue of all plugins, so that it occupies at most one place
//! there. The time of a statement or transaction beyond [`FREE`] counts towards the limit of the part that ran it, and
//! after a transaction that part's next one waits for as long: other writers, other processes too, find the database
//! free half of the time.

use std::sync::Arc;
use std::time::Duration;

use rookery_plugin_host::Part;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::Call;
use crate::{Active, Cx};
use context::error::{Error, Result};
use database::Engine;

/// The time of a statement or transaction that is not counted, since others do not notice it.
const FREE: Duration = Duration::from_millis(10);

/// Counts the time until it is dropped.
#[derive(Debug)]
pub(crate) struct Timed {
    active: Arc<Active>,
    part: Part,
    since: Instant,
    /// The plugin's own turn.
    turn: Option<OwnedSemaphorePermit>,
}

impl Drop for Timed {
    fn drop(&mut self) {
        let counted = self.since.elapsed().saturating_sub(FREE);
        if counted.is_zero() {
            return;
        }
        self.active.component.used_database(self.part, counted);
        if let (Some(turn), Ok(runtime)) = (self.turn.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                tokio::time::sleep(counted).await;
                drop(turn);
            });
        }
    }
}

impl Timed {
    /// Counts the time of a statement of `part` outside a transaction.
    pub(crate) fn begin(active: &Arc<Active>, part: Part) -> Self {
        Self { active: Arc::clone(active), part, since: Instant::now(), turn: None }
    }
}

/// The permission to keep a transaction open, which is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    _timed: Timed,
    _of_all: OwnedSemaphorePermit,
}

impl Call {
    /// Waits until this call may open a transaction.
    pub(super) async fn turn(&self) -> Result<Turn> {
        let wait = Duration::from_secs(self.cx.config.database.acquire_timeout_seconds);
        let calls = &self.cx.plugins.calls;
        let places = places(&self.cx);
        let (own, all) = (calls.changing_of(places, &self.state, self.part), calls.changing(places));
        let both = async { Some((own.acquire_owned().await.ok()?, all.acquire_owned().await.ok()?)) };
        let turns = tokio::time::timeout(wait, both).await.ok().flatten();
        let (own, _of_all) = turns.ok_or_else(|| Error::Unavailable("The database is busy, try again".into()))?;
        let mut timed = Timed::begin(&self.active, self.part);
        timed.turn = Some(own);
        Ok(Turn { _timed: timed, _of_all })
    }
}

/// The number of transactions that all plugins together may have open.
fn places(cx: &Cx) -> usize {
    match cx.db.engine() {
        Engine::Sqlite => 1,
        Engine::Postgres => usize::try_from(cx.config.database.max_connections / 2).unwrap_or(1).max(1),
    }
}
