//! Supervises active plugins: rolls back a new generation that fails on probation, quarantines a plugin whose circuit
//! breaker keeps opening, as `machine` decides.
//!
//! [`check`] is called twice a second by the server's housekeeping. Follows docs/plugins.md#22-loading (observe) and
//! docs/plugins.md#26-limits (breaker).

use model::boxed;
use rookery_plugin_host::{LoadError, Stage};

use super::machine::{Action, Health, Input};
use super::observed::Event;
use super::{desired, pipeline, reconcile, source};
use crate::error::of_fault;
use crate::{Active, Cx};
use context::error::{Error, Result};
use plugin_package::manifest::{Moment, Policy};
use store::plugin::Plugin;

/// Looks at every active plugin: rolls back what fails on probation, quarantines what keeps failing.
#[boxed]
pub async fn check(cx: &Cx) {
    for active in &cx.plugins.latest().plugins {
        match cx.plugins.observed.step(active.name(), Input::Checked(health(active)), cx.clock.now()) {
            Action::RollBack { to, broken, calls } => roll_back(cx, active, &to, broken, calls).await,
            Action::Quarantine(why) => quarantine(cx, active, &why).await,
            Action::Report(why) => {
                tracing::error!(plugin = active.name(), "{why}; posts that it should check are still refused");
            }
            Action::Stay | Action::Load | Action::Wait(_) | Action::Unload => {}
        }
    }
}

fn health(active: &Active) -> Health {
    let tripped = active.component.breakers().into_iter().find(|breaker| breaker.needs_quarantine);
    let name = active.name();
    let why = tripped.map(|breaker| {
        let sentence = format!(
            "{name}: its {} {} failed again and again: `rookery plugin inspect {name}` says why, `enable` tries it again",
            breaker.kind, breaker.name
        );
        LoadError::new(Stage::Serve, sentence)
    });
    let filters = active.manifest.hooks.iter().filter(|hook| hook.on == Moment::StatusFilter);
    Health {
        generation: active.generation,
        calls: active.component.stats().calls,
        tripped: why,
        refuses_posts: filters.into_iter().any(|hook| hook.policy.unwrap_or(Policy::Refuse) == Policy::Refuse),
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
    cx.plugins.observed.record(name, event(cx, active, what, &LoadError::new(Stage::Serve, sentence)));
    reconcile::follow(cx).await;
}

async fn desire_previous(cx: &Cx, active: &Active, before: &str) -> Result<()> {
    let kept = source::rollback_copy(cx, active.name(), before).await.map_err(|fault| of_fault(&fault))?;
    let none = || Error::invalid(format!("there is no copy of the package {}", &before[..12]));
    let package = kept.ok_or_else(none)?;
    let back = |plugin: &mut Plugin| desired::go_back(plugin, &package, Some(active.digest.clone()));
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

async fn quarantine(cx: &Cx, active: &Active, why: &LoadError) {
    let (name, now) = (active.name(), cx.clock.now());
    tracing::error!(plugin = name, "{why}");
    cx.plugins.observed.record(name, event(cx, active, "quarantined", why));
    let quarantined = desired::change(cx, name, |plugin| {
        plugin.quarantined_at = Some(now);
        Ok(())
    });
    match quarantined.await {
        Ok(_) => drop(reconcile::follow(cx).await),
        Err(error) => tracing::error!(%error, "{name} could not be quarantined"),
    }
}
