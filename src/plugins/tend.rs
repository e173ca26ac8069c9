//! Looks after plugins that serve: a new generation that fails is taken back, one that goes on failing is put aside.
//!
//! Follows `PLUGINS.md` sections 2.2 (observe) and 2.6 (breaker).

use std::sync::Arc;
use std::time::Duration;

use rookery_plugin_host::{Fault, Stage};
use tokio::time::Instant;

use super::manifest::{Moment, Policy};
use super::observed::{Event, State};
use super::{Active, desired, life, pipeline};
use crate::app::App;
use crate::error::Result;
use store::plugin::Plugin;

/// How long a new generation is on probation.
const PROBATION: Duration = Duration::from_secs(30);
/// How often one looks.
const EVERY: Duration = Duration::from_millis(500);
/// Of so many calls at least …
const CALLS: u64 = 20;
/// … more than one in so many must not trap or run out of time.
const ONE_IN: u64 = 5;

/// Watches `active`, which took the place of the package with the digest `before`, until its probation is over.
pub(super) fn watch(app: &App, active: &Arc<Active>, before: String) {
    let (app, active) = (app.clone(), Arc::downgrade(active));
    tokio::spawn(async move {
        let until = Instant::now() + PROBATION;
        while Instant::now() < until {
            tokio::time::sleep(EVERY).await;
            let Some(active) = active.upgrade().filter(|active| serves(&app, active)) else { return };
            let (calls, failed) = (active.component.stats().calls, broken(&app, &active));
            if calls >= CALLS && failed * ONE_IN > calls {
                take_back(&app, &active, &before, failed, calls).await;
                return;
            }
        }
    });
}

fn serves(app: &App, active: &Active) -> bool {
    app.plugins.newest().find(active.name()).is_some_and(|now| now.generation == active.generation)
}

/// Calls of this generation that trapped or ran out of time or of a limit.
fn broken(app: &App, active: &Active) -> u64 {
    match app.plugins.observed.of(active.name()).broken {
        (generation, broken) if generation == active.generation => broken,
        _ => 0,
    }
}

/// Lets the package before serve again, if it can: otherwise what serves serves on.
async fn take_back(app: &App, active: &Active, before: &str, failed: u64, calls: u64) {
    let name = active.name();
    let why = format!("{name} {}: {failed} of its first {calls} calls failed", active.manifest.plugin.version);
    let (what, sentence) = match want_back(app, active, before).await {
        Ok(()) => ("rolled back", format!("{why}, so the package before it serves again")),
        Err(error) => ("failed", format!("{why}, and the package before it cannot take its place: {error}")),
    };
    tracing::error!(plugin = name, "{sentence}");
    app.plugins.observed.record(name, event(app, active, what, &Fault::new(Stage::Probation, sentence)));
    life::follow(app).await;
}

async fn want_back(app: &App, active: &Active, before: &str) -> Result<()> {
    let back = |plugin: &mut Plugin| {
        plugin.sha256 = Some(before.to_owned());
        plugin.refused = Some(active.digest.clone());
    };
    let mut target = desired::find(app, active.name()).await?;
    back(&mut target);
    pipeline::try_out(app, target).await?;
    let back = |plugin: &mut Plugin| {
        back(plugin);
        Ok(())
    };
    desired::change(app, active.name(), back).await.map(drop)
}

fn event(app: &App, active: &Active, what: &'static str, fault: &Fault) -> Event {
    Event {
        at: app.clock.now(),
        what,
        version: active.manifest.plugin.version.clone(),
        digest: active.digest.clone(),
        generation: active.generation,
        took_ms: 0,
        stage: Some(fault.stage.to_string()),
        sentence: Some(fault.sentence.clone()),
    }
}

/// Puts those aside whose breaker opened again and again. A plugin that may refuse what people post is left where it is:
/// without it, what it would have refused went through.
pub async fn quarantine(app: &App) {
    for active in &app.plugins.newest().plugins {
        let Some(tripped) = active.component.breakers().into_iter().find(|breaker| breaker.quarantined) else {
            continue;
        };
        let name = active.name();
        let sentence = format!(
            "{name}: its {} {} failed again and again: `rookery plugin inspect {name}` says why, `enable` tries it again",
            tripped.kind, tripped.name
        );
        if refuses(active) {
            report_once(app, active, &sentence);
            continue;
        }
        tracing::error!(plugin = name, "{sentence}");
        let fault = Fault::new(Stage::Probation, sentence);
        app.plugins.observed.record(name, event(app, active, "quarantined", &fault));
        let now = app.clock.now();
        let aside = desired::change(app, name, |plugin| {
            plugin.quarantined_at = Some(now);
            Ok(())
        });
        match aside.await {
            Ok(_) => drop(life::follow(app).await),
            Err(error) => tracing::error!(%error, "{name} could not be put aside"),
        }
    }
}

fn refuses(active: &Active) -> bool {
    let filters = active.manifest.hooks.iter().filter(|hook| hook.on == Moment::StatusFilter);
    filters.into_iter().any(|hook| hook.policy.unwrap_or(Policy::Refuse) == Policy::Refuse)
}

/// It serves on, and the admin reads why it should not.
fn report_once(app: &App, active: &Active, sentence: &str) {
    let fault = Fault::new(Stage::Probation, sentence);
    let name = active.name();
    if app.plugins.observed.of(name).state != Some(State::Failed(fault.clone())) {
        tracing::error!(plugin = name, "{sentence}; it goes on refusing what it should check");
        app.plugins.observed.enter(name, State::Failed(fault), app.clock.now());
    }
}
