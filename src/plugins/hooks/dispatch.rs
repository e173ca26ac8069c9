//! Delivering the outbox: one worker for each lane that has something due, many lanes beside each other.
//!
//! A lane is what must stay in order: one plugin's events of one sixteenth of the accounts. Woken by commits of this
//! process, and looking now and then for those of others.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::lane::{self, AGAIN, Batch};
use super::outbox::{EVENTS, FANOUT, SHARDS};
use super::subscription::Subscription;
use crate::app::App;
use crate::error::Result;
use crate::plugins::Registry;
use crate::plugins::manifest::Moment;
use store::plugin_event::{self, Lane};

/// The shortest pause between two looks.
const SHORTEST: Duration = Duration::from_millis(10);

/// Delivers until `stop` says true, then ends what it began.
pub async fn run(app: App, mut stop: watch::Receiver<bool>) {
    if app.config.jobs.workers == 0 {
        return;
    }
    let mut running = JoinSet::new();
    let mut busy: HashMap<tokio::task::Id, Lane> = HashMap::new();
    while !*stop.borrow() {
        // Registered before looking, so that an event recorded meanwhile is not overslept.
        let recorded = app.db.events_recorded();
        tokio::pin!(recorded);
        recorded.as_mut().enable();
        let free = |lane: &Lane| !busy.values().any(|other| other == lane);
        let (due, pause) = match look(&app, free).await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(%error, "could not look for events of plugins");
                (Vec::new(), poll(&app))
            }
        };
        for lane in due.into_iter().take(app.config.jobs.workers.saturating_sub(running.len())) {
            let task = running.spawn(deliver(app.clone(), lane, stop.clone()));
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

/// Delivers what is due, and what follows from it, until nothing is due: for tests and the command line.
///
/// # Errors
/// When the database does; an event that a plugin does not take is put off and is no error here.
pub async fn drain(app: &App) -> Result<usize> {
    let mut count = 0;
    loop {
        let mut moved = false;
        for lane in look(app, |_| true).await?.0 {
            let Some(hook) = hook(&app.plugins.current(), lane) else { continue };
            match lane::handle(app, &hook, lane).await? {
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

fn poll(app: &App) -> Duration {
    Duration::from_millis(app.config.jobs.poll_interval_ms)
}

/// The lanes with something due among those that are free, and when to look again. No statement where no plugin
/// hears of anything.
async fn look(app: &App, free: impl Fn(&Lane) -> bool) -> Result<(Vec<Lane>, Duration)> {
    let lanes: Vec<Lane> = lanes(app, &app.plugins.current()).into_iter().filter(free).collect();
    if lanes.is_empty() {
        return Ok((Vec::new(), poll(app)));
    }
    let now = app.clock.now();
    let (mut due, mut pause) = (Vec::new(), poll(app));
    for (number, run_at) in plugin_event::due(&app.db, &lanes).await? {
        let Some(lane) = usize::try_from(number).ok().and_then(|number| lanes.get(number)) else { continue };
        match (run_at - now).to_std() {
            Ok(wait) if !wait.is_zero() => pause = pause.min(wait.max(SHORTEST)),
            Ok(_) | Err(_) => due.push(*lane),
        }
    }
    Ok((due, pause))
}

/// Every lane that a plugin of `registry` hears from; of one that pauses, none: another server may deliver it.
fn lanes(app: &App, registry: &Registry) -> Vec<Lane> {
    let mut lanes = Vec::new();
    let calling = registry.plugins.iter().filter(|active| !app.plugins.pauses.stops(active));
    for plugin in calling.map(|active| active.id) {
        if registry.hooks.of(Moment::Events, plugin).next().is_some() {
            lanes.extend((0..SHARDS).map(|shard| Lane { plugin, stream: EVENTS, shard }));
        }
        if registry.hooks.of(Moment::Fanout, plugin).next().is_some() {
            lanes.extend([0, AGAIN].map(|shard| Lane { plugin, stream: FANOUT, shard }));
        }
    }
    lanes
}

/// Whose a lane is now: after a reload, the next batch goes to the next generation.
fn hook(registry: &Registry, lane: Lane) -> Option<Arc<Subscription>> {
    let moment = if lane.stream == FANOUT { Moment::Fanout } else { Moment::Events };
    registry.hooks.of(moment, lane.plugin).next().cloned()
}

/// Delivers a lane until nothing of it is due.
async fn deliver(app: App, lane: Lane, stop: watch::Receiver<bool>) {
    if let Some(hook) = hook(&app.plugins.current(), lane) {
        // More of them may come: they are placed together.
        tokio::time::sleep(hook.gather).await;
    }
    while !*stop.borrow() {
        let Some(hook) = hook(&app.plugins.current(), lane) else { return };
        if app.plugins.pauses.stops(&hook.active) {
            return;
        }
        match lane::handle(&app, &hook, lane).await {
            Ok(Batch::Done(_)) => {}
            Ok(Batch::Nothing | Batch::Failed) => return,
            Err(error) => {
                tracing::error!(%error, plugin.name = hook.active.name(), "could not deliver events to a plugin");
                return;
            }
        }
    }
}
