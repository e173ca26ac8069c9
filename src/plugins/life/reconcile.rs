//! The reconciler of plugins in this process: loads desired plugins and unloads others; after a failure the active
//! plugin stays.
//!
//! Reached at server start ([`startup`](super::startup)), when the desired state changes (in this process or another: the settings' generation), when
//! files change, and from the admin. Plugins are loaded one at a time, off the request path; requests see only the swap
//! of the registry. `machine` decides the transitions and `source` the package; the steps before the swap are in
//! `pipeline`.

use model::boxed;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use rookery_plugin_host::{LoadError, Stage};
use tokio::time::Instant;

use super::machine::{self, Action, Input, State};
use super::observed::{Event, milliseconds};
use super::pauses::Paused;
use super::pipeline::{self, Candidate, Prepared};
use super::source::{self, Packages};
use super::{desired, pause};
use crate::active::DRAIN;
use crate::{Absent, Active, Cx, PluginId, Registry};
use context::error::Result as Done;
use plugin_package::{Package, package};
use store::plugin::Plugin;

/// The time that running calls of a plugin have when it is disabled.
const LEAVE: Duration = Duration::from_secs(1);

/// The result of reconciling a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is active as before.
    Unchanged,
    /// It is active since this generation of the registry.
    Loaded(u64),
    /// It is no longer active.
    Unloaded,
    /// It is disabled, and was not active.
    Disabled,
    /// It could not be loaded; the previous generation stays active, unless another server changed its tables.
    Failed(LoadError),
}

/// A plugin and the result of reconciling it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Reconciles this process with the desired state. A plugin that failed is retried when its package or configuration
/// changed, and with back-off.
#[boxed]
pub async fn follow(cx: &Cx) -> Vec<Report> {
    let wanted = cx.generation();
    match reconcile(cx, None).await {
        Ok(reports) => {
            cx.plugins.followed.store(wanted, Ordering::Relaxed);
            reports
        }
        // The database is being closed: nothing is wrong, and nothing is left to do.
        Err(fault) if cx.stopping.load(Ordering::Relaxed) => {
            tracing::info!("the server stops before all plugins were loaded: {fault}");
            Vec::new()
        }
        Err(fault) => {
            tracing::error!("plugins stay as they are: {fault}");
            let _one_at_a_time = cx.plugins.load_lock.lock().await;
            keep_events_for_absent(cx).await;
            Vec::new()
        }
    }
}

/// As [`follow`], if the desired state changed since the last successful reconciliation, or a retry is due.
#[boxed]
pub async fn follow_changes(cx: &Cx) -> Done<()> {
    cx.reload().await?;
    pause::refresh_if_due(cx).await?;
    if cx.starting.progress().is_some() {
        return Ok(());
    }
    if cx.plugins.followed.load(Ordering::Relaxed) != cx.generation() || cx.plugins.observed.is_any_due() {
        follow(cx).await;
    }
    Ok(())
}

/// As [`follow`], and retries the plugin called `name` even if nothing changed since it failed.
///
/// # Errors
/// Why it is not loaded, to be shown verbatim.
#[boxed]
pub async fn reload(cx: &Cx, name: &str) -> Result<Outcome, LoadError> {
    let reports = reconcile(cx, Some(name)).await?;
    match reports.into_iter().find(|report| report.name == name).map(|report| report.outcome) {
        Some(Outcome::Failed(fault)) => Err(fault),
        Some(outcome) => Ok(outcome),
        None => Err(LoadError::new(Stage::Read, format!("there is no plugin {name:?}"))),
    }
}

/// A dry run of loading the plugin called `name` as desired; changes nothing.
///
/// # Errors
/// Why it would not be loaded.
#[boxed]
pub async fn check(cx: &Cx, name: &str) -> Result<(), LoadError> {
    let (plugins, packages) = desired_state(cx).await?;
    let Some(plugin) = plugins.into_iter().find(|plugin| plugin.name == name && plugin.enabled) else { return Ok(()) };
    let Some(package) = source::choose(cx, &plugin, &packages).await? else { return Ok(()) };
    let prepared = pipeline::prepare(cx, Candidate { plugin, package, generation: 1 }, None, |_| ()).await?;
    Registry::build(1, vec![prepared.active], Vec::new()).map(drop)
}

/// Reconciles every plugin.
///
/// # Errors
/// When the desired state cannot be read; nothing changed.
async fn reconcile(cx: &Cx, again: Option<&str>) -> Result<Vec<Report>, LoadError> {
    let _one_at_a_time = cx.plugins.load_lock.lock().await;
    let (plugins, packages) = desired_state(cx).await?;
    let mut reports = Vec::with_capacity(plugins.len());
    let (mut done, all) = (0, plugins.iter().filter(|plugin| plugin.enabled).count());
    for plugin in plugins {
        let (name, enabled) = (plugin.name.clone(), plugin.enabled);
        cx.starting.advance(done, all);
        if again == Some(name.as_str()) {
            note(cx, &name, Input::Retry);
        }
        let outcome = Box::pin(reconcile_one(cx, plugin, &packages)).await;
        reports.push(Report { name, outcome });
        done += usize::from(enabled);
    }
    unload_deleted(cx, &reports);
    keep_events_for_absent(cx).await;
    Ok(reports)
}

/// Makes the outbox keep events for plugins that are enabled but not active here: another server delivers them, or this
/// one once they can be loaded.
pub(super) async fn keep_events_for_absent(cx: &Cx) {
    let registry = cx.plugins.latest();
    let manifests = match store::plugin::list_manifests(&cx.db).await {
        Ok(manifests) => manifests,
        Err(error) => {
            tracing::error!(%error, "events for plugins that are not active on this node may be lost");
            return;
        }
    };
    let mut absent = Vec::new();
    for (id, manifest, limits) in manifests {
        if registry.plugins.iter().any(|active| active.id == id) {
            continue;
        }
        match Absent::new(&cx.db, id, manifest, limits.0) {
            Ok(one) => absent.push(one),
            Err(fault) => tracing::error!("what happens is not kept for a plugin: {fault}"),
        }
    }
    if absent != registry.absent {
        match Registry::build(registry.generation, registry.plugins.clone(), absent) {
            Ok(next) => cx.plugins.swap(next),
            Err(fault) => tracing::error!("what happens is not kept for plugins that do not serve here: {fault}"),
        }
    }
}

/// The desired state, and the available packages; packages seen for the first time are registered before.
async fn desired_state(cx: &Cx) -> Result<(Vec<Plugin>, Packages), LoadError> {
    let failed = |error: &dyn std::fmt::Display| LoadError::new(Stage::Read, error.to_string());
    let packages = source::packages(cx).await?;
    let mut plugins = store::plugin::list(&cx.db).await.map_err(|error| failed(&error))?;
    let known = |name: &str, plugins: &[Plugin]| plugins.iter().any(|plugin| plugin.name == name);
    if packages.found.keys().any(|name| !known(name, &plugins)) {
        for package in packages.found.values().filter(|package| !known(package.name(), &plugins)) {
            desired::install(cx, package, true).await.map_err(|error| failed(&error))?;
        }
        plugins = store::plugin::list(&cx.db).await.map_err(|error| failed(&error))?;
    }
    Ok((plugins, packages))
}

/// The plugin's next state, and what has to be done.
fn step(cx: &Cx, name: &str, input: Input) -> Action {
    cx.plugins.observed.step(name, input, cx.clock.now())
}

/// As [`step`], for what asks for nothing to be done.
fn note(cx: &Cx, name: &str, input: Input) {
    drop(step(cx, name, input));
}

/// Reconciles one plugin.
async fn reconcile_one(cx: &Cx, plugin: Plugin, packages: &Packages) -> Outcome {
    let serving = cx.plugins.latest().find(&plugin.name).cloned();
    let left = match (plugin.enabled, plugin.quarantined_at) {
        (true, None) => return Box::pin(follow_desired(cx, plugin, packages, serving)).await,
        (true, Some(_)) => Input::Quarantined,
        (false, _) => Input::Disabled,
    };
    match (step(cx, &plugin.name, left), serving) {
        (Action::Unload, Some(serving)) => unload(cx, &serving, plugin.enabled),
        _ => Outcome::Disabled,
    }
}

/// Makes the desired package of an enabled plugin the active one, unless it is.
async fn follow_desired(cx: &Cx, plugin: Plugin, packages: &Packages, serving: Option<Arc<Active>>) -> Outcome {
    let name = plugin.name.clone();
    let package = match choose(cx, &plugin, packages, serving.is_some()).await {
        Ok(Some(package)) => package,
        Ok(None) => return without_package(cx, &name, serving.as_deref()),
        Err(fault) => return fail(cx, &name, serving.as_deref(), None, fault),
    };
    if let Some(active) = serving.as_ref().filter(|active| is_same(active, &plugin, &package)) {
        return unchanged(cx, active);
    }
    let candidate = machine::Candidate { digest: package.digest.clone(), config_version: plugin.config_version };
    match step(cx, &name, Input::Desired(candidate)) {
        Action::Wait(fault) => Outcome::Failed(fault),
        _ => {
            let revoked = serving.clone().filter(|serving| is_revoked(&plugin, serving));
            // Boxed, since it is large, and without its type, which has the sandbox's within it.
            let outcome = load(cx, plugin, package, serving).boxed().await;
            match (&outcome, revoked) {
                (Outcome::Failed(fault), Some(serving)) if fault.stage == Stage::Grants => {
                    unload(cx, &serving, true);
                    outcome
                }
                _ => outcome,
            }
        }
    }
}

/// True when an admin revoked a permission that `serving` has.
fn is_revoked(plugin: &Plugin, serving: &Active) -> bool {
    serving.manifest.requested().iter().any(|wanted| !plugin.granted.0.contains(wanted))
}

/// The package to load. Where nothing is active and the chosen one cannot be read, the copy of the accepted one.
async fn choose(cx: &Cx, plugin: &Plugin, packages: &Packages, serves: bool) -> Result<Option<Package>, LoadError> {
    let fault = match source::choose(cx, plugin, packages).await {
        Err(fault) if !serves => fault,
        chosen => return chosen,
    };
    let Ok(Some(kept)) = source::accepted(cx, plugin).await else { return Err(fault) };
    let name = &plugin.name;
    let sentence = format!("the copy of {name} that was accepted serves in its place: {fault}");
    report(name, &fault, &sentence);
    Ok(Some(kept))
}

fn without_package(cx: &Cx, name: &str, serving: Option<&Active>) -> Outcome {
    note(cx, name, Input::NoPackage { serves: serving.is_some() });
    if let Some(active) = serving {
        return unchanged(cx, active);
    }
    let sentence = format!("{name} is wanted, and there is no package of it: put it into plugins.dir or disable it");
    Outcome::Failed(LoadError::new(Stage::Read, sentence))
}

/// Loads a candidate to replace the active plugin.
async fn load(cx: &Cx, plugin: Plugin, package: Package, serving: Option<Arc<Active>>) -> Outcome {
    let (name, begun) = (plugin.name.clone(), Instant::now());
    match swap_in(cx, plugin, package.clone(), serving.as_ref()).await {
        Ok(active) => {
            let event = event(cx, "loaded", &active.manifest.plugin.version, &active.digest, begun);
            cx.plugins.observed.record(&name, event);
            if let Some(old) = serving {
                drain(&old);
            }
            Outcome::Loaded(active.generation)
        }
        Err(fault) => {
            if fault.lasting {
                refuse(cx, &name, &package).await;
            }
            fail(cx, &name, serving.as_deref(), Some((&package, begun)), fault)
        }
    }
}

/// Keeps every server, this one after a restart too, from trying this package again until the admin wants it.
async fn refuse(cx: &Cx, name: &str, package: &Package) {
    let digest = package.digest.clone();
    let refused = desired::change(cx, name, |plugin| {
        plugin.refused = Some(digest);
        Ok(())
    });
    if let Err(error) = refused.await {
        tracing::error!(%error, "that the package of {name} is not to be tried again could not be noted");
    }
}

fn is_same(active: &Active, plugin: &Plugin, package: &Package) -> bool {
    active.id == plugin.id
        && active.digest == package.digest
        && active.config.1 == u64::try_from(plugin.config_version).unwrap_or_default()
}

/// Prepares the candidate and activates it.
async fn swap_in(
    cx: &Cx,
    plugin: Plugin,
    package: Package,
    serving: Option<&Arc<Active>>,
) -> Result<Arc<Active>, LoadError> {
    let registry = cx.plugins.latest();
    let generation = registry.generation + 1;
    let kept = package.clone();
    let name = plugin.name.clone();
    // While a generation is active, that is the plugin's state.
    let passed = |state: State| {
        if serving.is_none() {
            note(cx, &name, Input::Passed(state));
        }
    };
    let Prepared { active, contract } =
        pipeline::prepare(cx, Candidate { plugin, package, generation }, serving, passed).await?;
    let others = registry.plugins.iter().filter(|other| other.name() != active.name()).cloned();
    let absent = registry.absent.iter().filter(|absent| absent.id != active.id).cloned().collect();
    let next = Registry::build(generation, others.chain([Arc::clone(&active)]).collect(), absent)?;
    let paused = if contract { Some(pause_everywhere(cx, &active, serving).await?) } else { None };
    let announced = paused.as_ref().and_then(|paused| paused.announced);
    if let Err(fault) = pipeline::migrate(cx, &active, announced).await {
        if let Some(by) = announced {
            resume_everywhere(cx, active.id, by).await;
        }
        return Err(fault);
    }
    if let Some(serving) = serving.filter(|_| contract) {
        serving.end();
    }
    store_copy(cx, kept).await;
    pause::swap(cx, next).await;
    drop(paused);
    let before = serving.filter(|serving| !contract && serving.digest != active.digest);
    let before = before.map(|serving| serving.digest.clone());
    note(cx, &name, Input::Loaded { generation, before });
    if let Err(error) = desired::served(cx, &active).await {
        tracing::warn!(%error, "that {} served could not be noted", active.name());
    }
    Ok(active)
}

/// Pauses the plugin whose tables `candidate` changes, on every server, for as long as its migrations may take. Others
/// may run it even where it is not active here, as after a restart.
async fn pause_everywhere<'a>(
    cx: &'a Cx,
    candidate: &Active,
    serving: Option<&Arc<Active>>,
) -> Result<Paused<'a>, LoadError> {
    let (of, most) = ((candidate.id, candidate.name()), pipeline::migration_time(cx));
    let paused = pause::begin(cx, of, serving.map(Arc::as_ref), most).await;
    paused.map_err(|error| LoadError::new(Stage::Migrate, format!("{}: {error}", candidate.name())))
}

/// Resumes the plugin, unchanged, on the other servers.
async fn resume_everywhere(cx: &Cx, plugin: PluginId, by: i64) {
    if let Err(error) = pause::resume(cx, plugin, by).await {
        tracing::error!(%error, "other servers wait for the end of a migration that failed, a while longer");
    }
}

/// Stores a copy to roll back to. A failure of that is logged and nothing else.
async fn store_copy(cx: &Cx, package: Package) {
    let folder = cx.config.plugins.cache_dir.join("packages");
    let write = move || package::store_rollback_copy(&folder, &package);
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "no copy of the plugin's package could be kept in plugins.cache_dir"),
        Err(error) => tracing::error!(%error, "the thread that keeps packages failed"),
    }
}

/// The active generation stays, unless another server changed its tables: then that is recorded and reported.
fn unchanged(cx: &Cx, serving: &Active) -> Outcome {
    let name = serving.name();
    let outdated = cx.plugins.pauses.incompatible(name).map(|why| LoadError::new(Stage::Migrate, why));
    match step(cx, name, Input::Serves { outdated }) {
        Action::Report(fault) => {
            tracing::error!(plugin = %name, "{name} answers nothing on this server: {fault}");
            Outcome::Failed(fault)
        }
        Action::Wait(fault) => Outcome::Failed(fault),
        _ => Outcome::Unchanged,
    }
}

/// Logs the sentence about a fault: as a warning where a plugin waits for an admin, which is no fault of it.
fn report(name: &str, fault: &LoadError, sentence: &str) {
    if fault.stage == Stage::Grants {
        tracing::warn!(plugin = %name, stage = %fault.stage, "{sentence}");
    } else {
        tracing::error!(plugin = %name, stage = %fault.stage, "{sentence}");
    }
}

/// Records why a plugin could not be loaded, and logs a reason that was not logged before.
fn fail(
    cx: &Cx,
    name: &str,
    serving: Option<&Active>,
    tried: Option<(&Package, Instant)>,
    fault: LoadError,
) -> Outcome {
    let observed = &cx.plugins.observed;
    let is_new = matches!(step(cx, name, Input::NotLoaded(fault.clone())), Action::Report(_));
    if is_new {
        let goes_on = if serving.is_some() { "; the generation before serves on" } else { "" };
        report(name, &fault, &format!("the plugin {name} is not loaded: {fault}{goes_on}"));
        metrics::counter!("plugin_reload_failed_total", "plugin" => name.to_owned()).increment(1);
    }
    let known = observed.of(name).history.back().map(|event| event.digest.clone());
    if let Some((package, begun)) = tried.filter(|(package, _)| is_new || known.as_ref() != Some(&package.digest)) {
        let mut event = event(cx, "failed", &package.manifest.plugin.version, &package.digest, begun);
        event.stage = Some(fault.stage.to_string());
        event.sentence = Some(fault.message.clone());
        observed.record(name, event);
    }
    Outcome::Failed(fault)
}

/// `keeps_events`: events from now on are kept for it.
fn unload(cx: &Cx, serving: &Arc<Active>, keeps_events: bool) -> Outcome {
    let begun = Instant::now();
    let registry = cx.plugins.latest();
    let others = registry.plugins.iter().filter(|other| other.name() != serving.name()).cloned().collect();
    let mut absent = registry.absent.clone();
    absent.extend(keeps_events.then(|| Absent::of(serving)));
    match Registry::build(registry.generation + 1, others, absent) {
        Ok(next) => cx.plugins.swap(next),
        Err(fault) => return Outcome::Failed(fault),
    }
    let event = event(cx, "unloaded", &serving.manifest.plugin.version, &serving.digest, begun);
    cx.plugins.observed.record(serving.name(), event);
    end(cx, serving);
    Outcome::Unloaded
}

/// Unloads active plugins that are no longer in the database.
fn unload_deleted(cx: &Cx, reports: &[Report]) {
    for active in &cx.plugins.latest().plugins {
        if !reports.iter().any(|report| report.name == active.name()) {
            unload(cx, active, false);
            cx.plugins.observed.forget(active.name());
        }
    }
}

fn event(cx: &Cx, what: &'static str, version: &str, digest: &str, begun: Instant) -> Event {
    Event {
        at: cx.clock.now(),
        what,
        version: version.to_owned(),
        digest: digest.to_owned(),
        generation: cx.plugins.latest().generation,
        took_ms: milliseconds(begun.elapsed()),
        stage: None,
        sentence: None,
    }
}

/// Ends the running calls and statements of an unloaded plugin, in the background.
fn end(cx: &Cx, serving: &Arc<Active>) {
    let (db, name, component) = (cx.db.clone(), serving.name().to_owned(), serving.component.clone());
    tokio::spawn(async move {
        component.drain(LEAVE).await;
        db.end_reads(&name).await;
    });
}

/// Drains the old generation in the background.
fn drain(old: &Arc<Active>) {
    let component = old.component.clone();
    tokio::spawn(async move { component.drain(DRAIN).await });
}
