//! The outbox dispatcher: one task for each lane that has events due, lanes in parallel.
//!
//! A lane is what must stay in order: the events of one plugin for one sixteenth of the accounts (a shard). Woken by
//! commits of this process; polls for commits of other processes.

use model::boxed;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::lane::{self, Batch, RETRY_SHARD};
use super::outbox::SHARDS;
use super::subscription::Subscription;
use super::table::{EVENTS, FANOUT};
use crate::{Cx, Registry};
use context::error::Result;
use plugin_package::manifest::Moment;
use store::plugin_event::{self, EventLane};

/// The shortest delay between two polls.
const SHORTEST: Duration = Duration::from_millis(10);

/// Delivers until `stop` is true, then waits for the batches it began.
#[boxed]
pub async fn run(cx: Cx, mut stop: watch::Receiver<bool>) {
    if cx.config.jobs.workers == 0 {
        return;
    }
    let mut running = JoinSet::new();
    let mut busy: HashMap<tokio::task::Id, EventLane> = HashMap::new();
    while !*stop.borrow() {
        // Registered before the poll, so that an event recorded meanwhile wakes the dispatcher.
        let recorded = cx.db.events_recorded();
        tokio::pin!(recorded);
        recorded.as_mut().enable();
        let free = |lane: &EventLane| !busy.values().any(|other| other == lane);
        let (due, pause) = match poll_lanes(&cx, free).await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "could not look for events of plugins");
                (Vec::new(), poll(&cx))
            }
        };
        for lane in due.into_iter().take(cx.config.jobs.workers.saturating_sub(running.len())) {
            let task = running.spawn(deliver(cx.clone(), lane, stop.clone()));
            busy.insert(task.id(), lane);
        }
        tokio::select! {
            () = &mut recorded => {}
            Some(ended) = running.join_next_with_id(), if !running.is_empty() => {
                busy.remove(&ended.map_or_else(|error| error.id(), |(id, ())| id));
            }
            () = tokio::time::sleep(pause) => {}
            _ = stop.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Delivers due events, and events that follow from them, until none is due: for tests and the command line.
///
/// # Errors
/// When the database fails; an event that a plugin does not accept is rescheduled and is not an error here.
#[boxed]
pub async fn drain(cx: &Cx) -> Result<usize> {
    let mut count = 0;
    loop {
        let mut moved = false;
        for lane in poll_lanes(cx, |_| true).await?.0 {
            let Some(hook) = hook(&cx.registry(), lane) else { continue };
            match lane::handle(cx, &hook, lane).await? {
                Batch::Done(events) => (moved, count) = (true, count + events),
                Batch::Failed => moved = true,
                Batch::Nothing => {}
            }
        }
        if !moved {
            return Ok(count);
        }
    }
}

fn poll(cx: &Cx) -> Duration {
    Duration::from_millis(cx.config.jobs.poll_interval_ms)
}

/// The lanes among the free ones that have events due, and the delay until the next poll. Runs no query where no plugin
/// subscribes to anything.
async fn poll_lanes(cx: &Cx, free: impl Fn(&EventLane) -> bool) -> Result<(Vec<EventLane>, Duration)> {
    let lanes: Vec<EventLane> = lanes(cx, &cx.registry()).into_iter().filter(free).collect();
    if lanes.is_empty() {
        return Ok((Vec::new(), poll(cx)));
    }
    let now = cx.clock.now();
    let (mut due, mut pause) = (Vec::new(), poll(cx));
    for (number, run_at) in plugin_event::list_due(&cx.db, &lanes).await? {
        let Some(lane) = usize::try_from(number).ok().and_then(|number| lanes.get(number)) else { continue };
        match (run_at - now).to_std() {
            Ok(wait) if !wait.is_zero() => pause = pause.min(wait.max(SHORTEST)),
            Ok(_) | Err(_) => due.push(*lane),
        }
    }
    Ok((due, pause))
}

/// Every lane that a plugin of `registry` consumes; none of a paused plugin: another server may deliver them.
fn lanes(cx: &Cx, registry: &Registry) -> Vec<EventLane> {
    let mut lanes = Vec::new();
    let calling = registry.plugins.iter().filter(|active| !cx.plugins.pauses.stops(active));
    for plugin in calling.map(|active| active.id) {
        if registry.hooks.of(Moment::Events, plugin).next().is_some() {
            lanes.extend((0..SHARDS).map(|shard| EventLane { plugin, stream: EVENTS, shard }));
        }
        if registry.hooks.of(Moment::Fanout, plugin).next().is_some() {
            lanes.extend([0, RETRY_SHARD].map(|shard| EventLane { plugin, stream: FANOUT, shard }));
        }
    }
    lanes
}

/// The current consumer of a lane: after a reload the next batch goes to the new generation.
fn hook(registry: &Registry, lane: EventLane) -> Option<Arc<Subscription>> {
    let moment = if lane.stream == FANOUT { Moment::Fanout } else { Moment::Events };
    registry.hooks.of(moment, lane.plugin).next().cloned()
}

/// Delivers a lane until nothing of it is due.
async fn deliver(cx: Cx, lane: EventLane, stop: watch::Receiver<bool>) {
    if let Some(hook) = hook(&cx.registry(), lane) {
        // More may follow, and are delivered in the same batch.
        tokio::time::sleep(hook.gather).await;
    }
    while !*stop.borrow() {
        let Some(hook) = hook(&cx.registry(), lane) else { return };
        if cx.plugins.pauses.stops(&hook.active) {
            return;
        }
        match lane::handle(&cx, &hook, lane).await {
            Ok(Batch::Done(_)) => {}
            Ok(Batch::Nothing | Batch::Failed) => return,
            Err(error) => {
                tracing::error!(%error, plugin.name = hook.active.name(), "could not deliver events to a plugin");
                return;
            }
        }
    }
}
