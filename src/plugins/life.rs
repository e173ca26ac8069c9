//! The life of plugins in this process: what is wanted is loaded, what is not is unloaded, and what fails changes nothing.
//!
//! Reached when the server starts, when what is wanted changes (in this process or another: the settings' generation), when
//! files change, and from the admin. One at a time, off the request path; requests meet only the swap.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rookery_plugin_host::{Fault, Stage};
use tokio::time::Instant;

use super::observed::{Event, State, milliseconds};
use super::pause::Paused;
use super::pipeline::{self, Candidate, Prepared};
use super::source::{self, Packages};
use super::{Absent, Active, Package, PluginId, Registry, desired, package, pause, tend};
use crate::app::App;
use crate::error::Result as Done;
use store::plugin::Plugin;

/// How long calls of a generation that was replaced may go on.
pub(super) const DRAIN: Duration = Duration::from_secs(10);

/// What became of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It serves as before.
    Unchanged,
    /// It serves since this generation of the registry.
    Loaded(u64),
    /// It serves no longer.
    Unloaded,
    /// It is not wanted, and did not serve.
    Disabled,
    /// It was not accepted; what served before serves on, unless another server changed its tables.
    Failed(Fault),
}

/// A plugin and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// Loads every plugin that is wanted. One that fails does not keep the server from starting.
pub async fn start(app: &App) -> Vec<Report> {
    let reports = follow(app).await;
    for report in &reports {
        if let Outcome::Loaded(_) = report.outcome {
            tracing::info!(plugin = %report.name, "the plugin {} serves", report.name);
        }
    }
    reports
}

/// For a command beside the server: what it does is told to the plugins by whoever serves them.
///
/// # Errors
/// When the database does not answer.
pub async fn leave_to_server(app: &App) -> Done<()> {
    let some = store::plugin::list(&app.db).await?.iter().any(|plugin| plugin.enabled);
    app.plugins.elsewhere.store(some, Ordering::Relaxed);
    Ok(())
}

/// Makes this process serve what is wanted. What failed is tried again when it changed, and from time to time.
pub async fn follow(app: &App) -> Vec<Report> {
    let wanted = app.generation();
    match converge(app, None).await {
        Ok(reports) => {
            app.plugins.followed.store(wanted, Ordering::Relaxed);
            reports
        }
        Err(fault) => {
            tracing::error!("plugins stay as they are: {fault}");
            let _one_at_a_time = app.plugins.works.lock().await;
            keep_for_absent(app).await;
            Vec::new()
        }
    }
}

/// As [`follow`], if anything an admin decides changed since the last look that succeeded, or something is to be tried again.
///
/// # Errors
/// When the database does not answer.
pub async fn follow_changes(app: &App) -> Done<()> {
    app.reload().await?;
    pause::look(app).await?;
    if app.plugins.followed.load(Ordering::Relaxed) != app.generation() || app.plugins.observed.is_any_due() {
        follow(app).await;
    }
    Ok(())
}

/// As [`follow`], and tries the plugin called `name` again even if nothing changed since it failed.
///
/// # Errors
/// Why it is not loaded, verbatim.
pub async fn reload(app: &App, name: &str) -> Result<Outcome, Fault> {
    let reports = converge(app, Some(name)).await?;
    match reports.into_iter().find(|report| report.name == name).map(|report| report.outcome) {
        Some(Outcome::Failed(fault)) => Err(fault),
        Some(outcome) => Ok(outcome),
        None => Err(Fault::new(Stage::Read, format!("there is no plugin {name:?}"))),
    }
}

/// Tries what is wanted of the plugin called `name` as a server would, and changes nothing.
///
/// # Errors
/// Why it would not be loaded.
pub async fn check(app: &App, name: &str) -> Result<(), Fault> {
    let (plugins, packages) = wanted(app).await?;
    let Some(plugin) = plugins.into_iter().find(|plugin| plugin.name == name && plugin.enabled) else { return Ok(()) };
    let Some(package) = source::choose(app, &plugin, &packages).await? else { return Ok(()) };
    let prepared = pipeline::prepare(app, Candidate { plugin, package, generation: 1 }, None).await?;
    Registry::build(1, vec![prepared.active], Vec::new()).map(drop)
}

/// Does for every plugin what is wanted of it.
///
/// # Errors
/// When what is wanted cannot be read; nothing changed.
async fn converge(app: &App, again: Option<&str>) -> Result<Vec<Report>, Fault> {
    let _one_at_a_time = app.plugins.works.lock().await;
    let (plugins, packages) = wanted(app).await?;
    let mut reports = Vec::with_capacity(plugins.len());
    for plugin in plugins {
        let name = plugin.name.clone();
        if again == Some(name.as_str()) {
            app.plugins.observed.tried(&name, None);
        }
        let outcome = Box::pin(one(app, plugin, &packages)).await;
        reports.push(Report { name, outcome });
    }
    unload_forgotten(app, &reports);
    keep_for_absent(app).await;
    Ok(reports)
}

/// Has what happens kept for plugins that are on and do not serve here: another server tells them, or this one once they can
/// be loaded.
async fn keep_for_absent(app: &App) {
    let registry = app.plugins.newest();
    let manifests = match store::plugin::manifests(&app.db).await {
        Ok(manifests) => manifests,
        Err(error) => {
            tracing::error!(%error, "what plugins that do not serve here are to be told may be lost");
            return;
        }
    };
    let mut absent = Vec::new();
    for (id, manifest) in manifests {
        if registry.plugins.iter().any(|active| active.id == id) {
            continue;
        }
        match Absent::new(id, manifest) {
            Ok(one) => absent.push(one),
            Err(fault) => tracing::error!("what happens is not kept for a plugin: {fault}"),
        }
    }
    if absent != registry.absent {
        match Registry::build(registry.generation, registry.plugins.clone(), absent) {
            Ok(next) => app.plugins.swap(next),
            Err(fault) => tracing::error!("what happens is not kept for plugins that do not serve here: {fault}"),
        }
    }
}

/// What is wanted, and the packages for it; packages that were never seen are noted first.
async fn wanted(app: &App) -> Result<(Vec<Plugin>, Packages), Fault> {
    let failed = |error: &dyn std::fmt::Display| Fault::new(Stage::Read, error.to_string());
    let packages = source::packages(app).await?;
    let mut plugins = store::plugin::list(&app.db).await.map_err(|error| failed(&error))?;
    let known = |name: &str, plugins: &[Plugin]| plugins.iter().any(|plugin| plugin.name == name);
    if packages.found.keys().any(|name| !known(name, &plugins)) {
        for package in packages.found.values().filter(|package| !known(package.name(), &plugins)) {
            desired::install(app, package, true).await.map_err(|error| failed(&error))?;
        }
        plugins = store::plugin::list(&app.db).await.map_err(|error| failed(&error))?;
    }
    Ok((plugins, packages))
}

/// Does for one plugin what is wanted of it.
async fn one(app: &App, plugin: Plugin, packages: &Packages) -> Outcome {
    let serving = app.plugins.newest().find(&plugin.name).cloned();
    let state = match (plugin.enabled, plugin.quarantined_at) {
        (true, None) => return load(app, plugin, packages, serving).await,
        (true, Some(_)) => State::Quarantined,
        (false, _) => State::Disabled,
    };
    app.plugins.observed.tried(&plugin.name, None);
    app.plugins.observed.enter(&plugin.name, state, app.clock.now());
    match serving {
        Some(serving) => unload(app, &serving, plugin.enabled),
        None => Outcome::Disabled,
    }
}

async fn load(app: &App, plugin: Plugin, packages: &Packages, serving: Option<Arc<Active>>) -> Outcome {
    let name = plugin.name.clone();
    let observed = &app.plugins.observed;
    let package = match source::choose(app, &plugin, packages).await {
        Ok(Some(package)) => package,
        Ok(None) => {
            if let Some(active) = &serving {
                return unchanged(app, active);
            }
            observed.enter(&name, State::Missing, app.clock.now());
            let sentence =
                format!("{name} is wanted, and there is no package of it: put it into plugins.dir or disable it");
            return Outcome::Failed(Fault::new(Stage::Read, sentence));
        }
        Err(fault) => match (&serving, source::accepted(app, &plugin).await) {
            (None, Ok(Some(kept))) => {
                tracing::error!(plugin = %name, "the copy of {name} that was accepted serves in its place: {fault}");
                kept
            }
            (Some(_), _) | (None, Ok(None) | Err(_)) => return fail(app, &name, serving.as_deref(), None, fault),
        },
    };
    let key = (package.digest.clone(), plugin.config_version);
    if let Some(active) = serving.as_ref().filter(|active| is_same(active, &plugin, &package)) {
        observed.tried(&name, None);
        if app.plugins.pauses.outlived(&name).is_none() {
            observed.enter(&name, State::Active, app.clock.now());
        }
        return unchanged(app, active);
    }
    if let (Some(State::Failed(fault)), Some(tried)) = (observed.of(&name).state, observed.of(&name).tried)
        && tried.key == key
        && !tried.is_due()
    {
        return Outcome::Failed(fault);
    }
    observed.tried(&name, Some(key));
    let begun = Instant::now();
    match swap_in(app, plugin, package.clone(), serving.as_ref()).await {
        Ok(active) => {
            let event = event(app, "loaded", &active.manifest.plugin.version, &active.digest, begun);
            observed.record(&name, event);
            observed.enter(&name, State::Active, app.clock.now());
            if let Some(old) = serving {
                drain(&old);
            }
            Outcome::Loaded(active.generation)
        }
        Err(fault) => fail(app, &name, serving.as_deref(), Some((&package, begun)), fault),
    }
}

fn is_same(active: &Active, plugin: &Plugin, package: &Package) -> bool {
    active.id == plugin.id
        && active.digest == package.digest
        && active.config.1 == u64::try_from(plugin.config_version).unwrap_or_default()
}

/// Prepares the candidate, and makes it serve.
async fn swap_in(
    app: &App,
    plugin: Plugin,
    package: Package,
    serving: Option<&Arc<Active>>,
) -> Result<Arc<Active>, Fault> {
    let registry = app.plugins.newest();
    let generation = registry.generation + 1;
    let kept = package.clone();
    let Prepared { active, contract } =
        pipeline::prepare(app, Candidate { plugin, package, generation }, serving).await?;
    let others = registry.plugins.iter().filter(|other| other.name() != active.name()).cloned();
    let absent = registry.absent.iter().filter(|absent| absent.id != active.id).cloned().collect();
    let next = Registry::build(generation, others.chain([Arc::clone(&active)]).collect(), absent)?;
    let paused = if contract { Some(stand_still(app, &active, serving).await?) } else { None };
    let told = paused.as_ref().and_then(|paused| paused.told);
    if let Err(fault) = pipeline::migrate(app, &active, told).await {
        if let Some(by) = told {
            go_on(app, active.id, by).await;
        }
        return Err(fault);
    }
    if let Some(serving) = serving.filter(|_| contract) {
        serving.end();
    }
    keep(app, kept).await;
    pause::swap(app, next).await;
    drop(paused);
    if let Some(serving) = serving.filter(|serving| !contract && serving.digest != active.digest) {
        tend::watch(app, &active, serving.digest.clone());
    }
    if let Err(error) = desired::served(app, &active).await {
        tracing::warn!(%error, "that {} served could not be noted", active.name());
    }
    Ok(active)
}

/// Has the plugin whose tables `candidate` changes pause on every server, for as long as its migrations may take: others may
/// serve it also where it does not serve here, as after a restart.
async fn stand_still<'a>(app: &'a App, candidate: &Active, serving: Option<&Arc<Active>>) -> Result<Paused<'a>, Fault> {
    let (of, most) = ((candidate.id, candidate.name()), pipeline::migration_time(app));
    let paused = pause::begin(app, of, serving.map(Arc::as_ref), most).await;
    paused.map_err(|error| Fault::new(Stage::Migrate, format!("{}: {error}", candidate.name())))
}

/// Has it go on as it was.
async fn go_on(app: &App, plugin: PluginId, by: i64) {
    if let Err(error) = pause::resume(app, plugin, by).await {
        tracing::error!(%error, "other servers wait for the end of a migration that failed, a while longer");
    }
}

/// Keeps a copy to go back to. That this fails keeps no plugin from serving.
async fn keep(app: &App, package: Package) {
    let folder = app.config.plugins.cache_dir.join("packages");
    let write = move || package::keep(&folder, &package);
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "no copy of the plugin's package could be kept in plugins.cache_dir"),
        Err(error) => tracing::error!(%error, "the thread that keeps packages failed"),
    }
}

/// What serves goes on, unless another server changed its tables: that is noted and told.
fn unchanged(app: &App, serving: &Active) -> Outcome {
    let name = serving.name();
    let Some(why) = app.plugins.pauses.outlived(name) else { return Outcome::Unchanged };
    let fault = Fault::new(Stage::Migrate, why);
    let state = State::Failed(fault.clone());
    if app.plugins.observed.of(name).state.as_ref() != Some(&state) {
        tracing::error!(plugin = %name, "{name} answers nothing on this server: {fault}");
    }
    app.plugins.observed.enter(name, state, app.clock.now());
    Outcome::Failed(fault)
}

/// Notes and tells why a plugin was not accepted.
fn fail(app: &App, name: &str, serving: Option<&Active>, tried: Option<(&Package, Instant)>, fault: Fault) -> Outcome {
    let observed = &app.plugins.observed;
    let already = observed.of(name).state == Some(State::Failed(fault.clone()));
    if !already {
        let goes_on = if serving.is_some() { "; the generation before serves on" } else { "" };
        tracing::error!(plugin = %name, stage = %fault.stage, "the plugin {name} is not loaded: {fault}{goes_on}");
        metrics::counter!("plugin_reload_failed_total", "plugin" => name.to_owned()).increment(1);
    }
    let known = observed.of(name).history.back().map(|event| event.digest.clone());
    if let Some((package, begun)) = tried.filter(|(package, _)| !already || known.as_ref() != Some(&package.digest)) {
        let mut event = event(app, "failed", &package.manifest.plugin.version, &package.digest, begun);
        event.stage = Some(fault.stage.to_string());
        event.sentence = Some(fault.sentence.clone());
        observed.record(name, event);
    }
    observed.enter(name, State::Failed(fault.clone()), app.clock.now());
    Outcome::Failed(fault)
}

/// `hears`: it is told later what happens from now on.
fn unload(app: &App, serving: &Arc<Active>, hears: bool) -> Outcome {
    let begun = Instant::now();
    let registry = app.plugins.newest();
    let others = registry.plugins.iter().filter(|other| other.name() != serving.name()).cloned().collect();
    let mut absent = registry.absent.clone();
    absent.extend(hears.then(|| Absent::of(serving)));
    match Registry::build(registry.generation + 1, others, absent) {
        Ok(next) => app.plugins.swap(next),
        Err(fault) => return Outcome::Failed(fault),
    }
    let event = event(app, "unloaded", &serving.manifest.plugin.version, &serving.digest, begun);
    app.plugins.observed.record(serving.name(), event);
    drain(serving);
    Outcome::Unloaded
}

/// Those that serve and are not in the database any more.
fn unload_forgotten(app: &App, reports: &[Report]) {
    for active in &app.plugins.newest().plugins {
        if !reports.iter().any(|report| report.name == active.name()) {
            unload(app, active, false);
            app.plugins.observed.forget(active.name());
        }
    }
}

fn event(app: &App, what: &'static str, version: &str, digest: &str, begun: Instant) -> Event {
    Event {
        at: app.clock.now(),
        what,
        version: version.to_owned(),
        digest: digest.to_owned(),
        generation: app.plugins.newest().generation,
        took_ms: milliseconds(begun.elapsed()),
        stage: None,
        sentence: None,
    }
}

/// Lets the last calls end, in the background.
fn drain(old: &Arc<Active>) {
    let component = old.component.clone();
    tokio::spawn(async move { component.drain(DRAIN).await });
}
