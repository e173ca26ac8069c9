//! Supervises active plugins: rolls back a new generation that fails on probation, quarantines a plugin whose circuit
//! breaker keeps opening.
//!
//! Started by the swap (`life`) and by the server's housekeeping. Follows `PLUGINS.md` sections 2.2 (observe) and 2.6
//! (breaker).

use std::sync::Arc;
use std::time::Duration;

use rookery_plugin_host::{LoadError, Stage};
use tokio::time::Instant;

use super::manifest::{Moment, Policy};
use super::observed::{Event, State};
use super::{Active, desired, life, pipeline};
use crate::Cx;
use crate::error::of_fault;
use rookery_core::error::Result;
use store::plugin::Plugin;

/// How long a new generation is on probation.
const PROBATION: Duration = Duration::from_secs(30);
/// How often a generation on probation is checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Calls before the failure rate is judged.
const MIN_CALLS: u64 = 20;
/// A generation is rolled back when more than one in this many of its calls trapped or exceeded a time or resource
/// limit.
const MAX_FAILED_ONE_IN: u64 = 5;

/// Watches `active`, which replaced the package with the digest `before`, until its probation is over.
pub(super) fn watch(cx: &Cx, active: &Arc<Active>, before: String) {
    let (cx, active) = (cx.clone(), Arc::downgrade(active));
    tokio::spawn(async move {
        let until = Instant::now() + PROBATION;
        while Instant::now() < until {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let Some(active) = active.upgrade().filter(|active| serves(&cx, active)) else { return };
            let (calls, failed) = (active.component.stats().calls, broken(&cx, &active));
            if calls >= MIN_CALLS && failed * MAX_FAILED_ONE_IN > calls {
                roll_back(&cx, &active, &before, failed, calls).await;
                return;
            }
        }
    });
}

fn serves(cx: &Cx, active: &Active) -> bool {
    cx.plugins.latest().find(active.name()).is_some_and(|now| now.generation == active.generation)
}

/// Calls of this generation that trapped or exceeded a time or resource limit.
fn broken(cx: &Cx, active: &Active) -> u64 {
    match cx.plugins.observed.of(active.name()).broken {
        (generation, broken) if generation == active.generation => broken,
        _ => 0,
    }
}

/// Rolls back to the previous package if that can be loaded; otherwise `active` stays.
async fn roll_back(cx: &Cx, active: &Active, before: &str, failed: u64, calls: u64) {
    let name = active.name();
    let why = format!("{name} {}: {failed} of its first {calls} calls failed", active.manifest.plugin.version);
    let (what, sentence) = match desire_previous(cx, active, before).await {
        Ok(()) => ("rolled back", format!("{why}, so the package before it serves again")),
        Err(error) => ("failed", format!("{why}, and the package before it cannot take its place: {error}")),
    };
    tracing::error!(plugin = name, "{sentence}");
    cx.plugins.observed.record(name, event(cx, active, what, &LoadError::new(Stage::Probation, sentence)));
    life::follow(cx).await;
}

async fn desire_previous(cx: &Cx, active: &Active, before: &str) -> Result<()> {
    let back = |plugin: &mut Plugin| {
        plugin.sha256 = Some(before.to_owned());
        plugin.refused = Some(active.digest.clone());
    };
    let mut target = desired::find(cx, active.name()).await?;
    back(&mut target);
    pipeline::dry_run(cx, target).await.map_err(|fault| of_fault(&fault))?;
    let back = |plugin: &mut Plugin| {
        back(plugin);
        Ok(())
    };
    desired::change(cx, active.name(), back).await.map(drop)
}

fn event(cx: &Cx, active: &Active, what: &'static str, fault: &LoadError) -> Event {
    Event {
        at: cx.clock.now(),
        what,
        version: active.manifest.plugin.version.clone(),
        digest: active.digest.clone(),
        generation: active.generation,
        took_ms: 0,
        stage: Some(fault.stage.to_string()),
        sentence: Some(fault.message.clone()),
    }
}

/// Quarantines plugins whose circuit breaker opened repeatedly. A plugin whose status filter may refuse posts stays
/// active: without it, what it would have refused would be published.
pub async fn quarantine(cx: &Cx) {
    for active in &cx.plugins.latest().plugins {
        let Some(tripped) = active.component.breakers().into_iter().find(|breaker| breaker.needs_quarantine) else {
            continue;
        };
        let name = active.name();
        let sentence = format!(
            "{name}: its {} {} failed again and again: `rookery plugin inspect {name}` says why, `enable` tries it again",
            tripped.kind, tripped.name
        );
        if refuses(active) {
            report_once(cx, active, &sentence);
            continue;
        }
        tracing::error!(plugin = name, "{sentence}");
        let fault = LoadError::new(Stage::Probation, sentence);
        cx.plugins.observed.record(name, event(cx, active, "quarantined", &fault));
        let now = cx.clock.now();
        let aside = desired::change(cx, name, |plugin| {
            plugin.quarantined_at = Some(now);
            Ok(())
        });
        match aside.await {
            Ok(_) => drop(life::follow(cx).await),
            Err(error) => tracing::error!(%error, "{name} could not be put aside"),
        }
    }
}

fn refuses(active: &Active) -> bool {
    let filters = active.manifest.hooks.iter().filter(|hook| hook.on == Moment::StatusFilter);
    filters.into_iter().any(|hook| hook.policy.unwrap_or(Policy::Refuse) == Policy::Refuse)
}

/// Reports once that a failing plugin is kept active instead of quarantined.
fn report_once(cx: &Cx, active: &Active, sentence: &str) {
    let fault = LoadError::new(Stage::Probation, sentence);
    let name = active.name();
    if cx.plugins.observed.of(name).state != Some(State::Failed(fault.clone())) {
        tracing::error!(plugin = name, "{sentence}; it goes on refusing what it should check");
        cx.plugins.observed.enter(name, State::Failed(fault), cx.clock.now());
    }
}
