//! What an admin does with plugins: from the command line, over the socket of a running server, or by the admin API.
//!
//! Each changes what is wanted, in the database; whether the caller may do so was decided before. The process that serves
//! follows by itself, and [`super::reload`] says at once what became of it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rookery_plugin_host::Fault;
use rookery_plugin_host::imports::types::{CallContext, Caller as ToldCaller};
use serde_json::{Map, Value};

use super::call::{Call, Caller, Mode};
use super::manifest::{self, Moment};
use super::order::{self, Place};
use super::package::{self, Package};
use super::source::{self, Packages};
use super::{Active, PluginId, desired, life, pipeline, sql};
use crate::app::App;
use crate::error::{Error, Result};
use crate::jobs;
use config::nearest;
use model::Json;
use store::confined::Scope;
use store::plugin::Plugin;
use store::plugin_event::{self, Parked};

/// Events laid aside of which an admin is shown more than their number.
const PARKED: i64 = 50;

/// A plugin that is installed or could be, and what is known of it.
#[derive(Clone, Debug)]
pub struct Known {
    /// What is wanted.
    pub plugin: Plugin,
    /// The package that would be loaded, or why there is none.
    pub package: Result<Option<Package>, Fault>,
    /// What the newest package asks for and was not granted.
    pub missing: BTreeSet<String>,
}

impl From<Fault> for Error {
    /// An admin reads the sentence as it is.
    fn from(fault: Fault) -> Self {
        Self::invalid(fault.to_string())
    }
}

/// Every plugin, by name. Packages that were never seen are noted.
///
/// # Errors
/// When the database or the folder of plugins cannot be read.
pub async fn list(app: &App) -> Result<Vec<Known>> {
    let packages = discover(app).await?;
    let mut all = Vec::new();
    for plugin in store::plugin::list(&app.db).await? {
        all.push(know(app, plugin, &packages).await);
    }
    Ok(all)
}

/// The plugin called `name`.
///
/// # Errors
/// [`Error::Invalid`] when there is none; else as [`list`].
pub async fn find(app: &App, name: &str) -> Result<Known> {
    let packages = discover(app).await?;
    Ok(know(app, desired::find(app, name).await?, &packages).await)
}

async fn discover(app: &App) -> Result<Packages> {
    let packages = source::packages(app).await?;
    for package in packages.found.values() {
        if store::plugin::find(&app.db, package.name()).await?.is_none() {
            desired::install(app, package, true).await?;
        }
    }
    Ok(packages)
}

async fn know(app: &App, plugin: Plugin, packages: &Packages) -> Known {
    let newest = packages.found.get(&plugin.name);
    let missing = newest.map(|package| pipeline::missing(&plugin, package)).unwrap_or_default();
    let package = source::choose(app, &plugin, packages).await;
    Known { plugin, package, missing }
}

/// The newest package of `name`, whether it was accepted or not.
async fn newest(app: &App, name: &str) -> Result<Package> {
    let mut packages = discover(app).await?;
    desired::find(app, name).await?;
    if let Some(fault) = packages.broken.remove(name) {
        return Err(fault.into());
    }
    let none = || Error::invalid(format!("there is no package of {name}: put it into plugins.dir"));
    let package = packages.found.remove(name).ok_or_else(none)?;
    source::check_denied(app, &package)?;
    Ok(package)
}

/// Wants the plugin to serve. The first time the newest package is accepted, with all that it asks for; later on what asks
/// for more waits for [`grant`], and what was accepted before serves meanwhile.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or its package is broken or denied.
pub async fn enable(app: &App, name: &str) -> Result<Plugin> {
    let package = newest(app, name).await?;
    desired::change(app, name, |plugin| {
        if plugin.sha256.is_none() {
            grant_all(plugin, &package);
        }
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        plugin.enabled = true;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await
}

/// Wants it to serve no longer. Its tables stay.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin.
pub async fn disable(app: &App, name: &str) -> Result<Plugin> {
    desired::change(app, name, |plugin| {
        plugin.enabled = false;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await
}

/// Accepts the newest package; what it asks for beyond what was granted waits for [`grant`].
///
/// # Errors
/// As [`enable`].
pub async fn accept(app: &App, name: &str) -> Result<Plugin> {
    let package = newest(app, name).await?;
    desired::change(app, name, |plugin| {
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        plugin.refused = None;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await?;
    pipeline::check_grants(&desired::find(app, name).await?, &package)?;
    desired::find(app, name).await
}

/// Grants what the newest package asks for, and accepts it.
///
/// # Errors
/// As [`enable`].
pub async fn grant(app: &App, name: &str) -> Result<Plugin> {
    let package = newest(app, name).await?;
    desired::change(app, name, |plugin| {
        desired::accept(plugin, &package);
        grant_all(plugin, &package);
        Ok(())
    })
    .await
}

fn grant_all(plugin: &mut Plugin, package: &Package) {
    let wanted: Vec<String> = package.manifest.wanted().into_iter().collect();
    if plugin.granted.0 != wanted {
        plugin.granted.0 = wanted;
        plugin.config_version += 1;
    }
}

/// Has the plugin told again of what was laid aside; says how many events that are.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin.
pub async fn retry(app: &App, name: &str) -> Result<u64> {
    let plugin = desired::find(app, name).await?;
    let mut tx = app.db.begin().await?;
    let count = plugin_event::retry_parked(&mut tx, plugin.id, app.clock.now()).await?;
    tx.commit().await?;
    Ok(count)
}

/// Events of a plugin: how many wait, and those that were laid aside.
#[derive(Debug)]
pub struct Outbox {
    /// How many wait.
    pub waiting: i64,
    /// How many were laid aside.
    pub parked: i64,
    /// The first of them.
    pub first: Vec<Parked>,
}

/// What `plugin` is still to be told.
///
/// # Errors
/// When the database does not answer.
pub async fn outbox(app: &App, plugin: PluginId) -> Result<Outbox> {
    let (waiting, parked) = plugin_event::count(&app.db, plugin).await?;
    let first = if parked == 0 { Vec::new() } else { plugin_event::parked(&app.db, plugin, PARKED).await? };
    Ok(Outbox { waiting, parked, first })
}

/// Goes back to the package that served before the one that is wanted now, which is tried first.
///
/// # Errors
/// [`Error::Invalid`] when nothing served before, its copy is gone, or it would not be loaded: nothing changed then.
pub async fn rollback(app: &App, name: &str) -> Result<Plugin> {
    let plugin = desired::find(app, name).await?;
    let serving = app.plugins.latest().find(name).map(|active| active.digest.clone());
    let packages = discover(app).await?;
    let chosen = source::choose(app, &plugin, &packages).await.ok().flatten().map(|package| package.digest);
    let now = serving.or(chosen).or_else(|| plugin.sha256.clone());
    let folder = app.config.plugins.cache_dir.join("packages");
    let before = plugin.approved.0.iter().rev().filter(|digest| Some(*digest) != now.as_ref());
    for digest in before {
        if package::kept(&folder, name, digest)?.is_some() {
            let back = |plugin: &mut Plugin| {
                plugin.sha256 = Some(digest.clone());
                plugin.refused.clone_from(&now);
                plugin.quarantined_at = None;
            };
            let mut target = plugin.clone();
            back(&mut target);
            pipeline::try_out(app, target).await?;
            return desired::change(app, name, |plugin| {
                back(plugin);
                Ok(())
            })
            .await;
        }
    }
    Err(Error::invalid(format!("there is no copy of a package of {name} that served before: install one and reload")))
}

/// Sets limits over those of the manifest; JSON null takes one back.
///
/// # Errors
/// [`Error::Invalid`] with what a limit takes.
pub async fn set_limits(app: &App, name: &str, limits: Map<String, Value>) -> Result<Plugin> {
    change_tried(app, name, |plugin| {
        let mut all = plugin.limits.0.as_object().cloned().unwrap_or_default();
        merge(&mut all, limits.clone());
        manifest::parse_limits(Value::Object(all.clone()))
            .map_err(|problem| Error::invalid(format!("{name}: {problem}")))?;
        plugin.limits.0 = Value::Object(all);
        plugin.config_version += 1;
        Ok(())
    })
    .await
}

/// As [`desired::change`], of a plugin that could be loaded with the change: it is tried first, so that what is refused
/// now does not keep the plugin from the next start.
async fn change_tried(
    app: &App,
    name: &str,
    change: impl Fn(&mut Plugin) -> Result<()> + Send + Sync,
) -> Result<Plugin> {
    let mut changed = desired::find(app, name).await?;
    change(&mut changed)?;
    if changed.enabled {
        pipeline::try_out(app, changed).await?;
    }
    desired::change(app, name, change).await
}

/// Changes members of the configuration; JSON null puts one back to its default.
///
/// # Errors
/// [`Error::Invalid`] for what the plugin's schema does not take.
pub async fn configure(app: &App, name: &str, members: Map<String, Value>) -> Result<Plugin> {
    let package = find(app, name).await?.package?;
    let package =
        package.ok_or_else(|| Error::invalid(format!("there is no package of {name}: put it into plugins.dir")))?;
    let schema = package.config_schema();
    let schema = schema.ok_or_else(|| Error::invalid(format!("{name} has no configuration")))?;
    let defaults = manifest::defaults(&schema);
    if let Some(unknown) = members.keys().find(|key| !defaults.contains_key(*key)) {
        let hint = nearest(unknown, defaults.keys().cloned()).map(|near| format!("; did you mean {near}?"));
        return Err(Error::invalid(format!("{name} has no configuration {unknown:?}{}", hint.unwrap_or_default())));
    }
    change_tried(app, name, |plugin| {
        merge(&mut plugin.config.0, members.clone());
        pipeline::config(plugin, &package)?;
        plugin.config_version += 1;
        Ok(())
    })
    .await
}

/// Sets a secret that the manifest names, or forgets it.
///
/// # Errors
/// [`Error::Invalid`] for a name that the manifest does not have.
pub async fn set_secret(app: &App, name: &str, secret: &str, value: Option<String>) -> Result<Plugin> {
    let known = find(app, name).await?.package?;
    let named = known.map(|package| package.manifest.permissions.secrets).unwrap_or_default();
    if !named.iter().any(|known| known == secret) {
        let list = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        return Err(Error::invalid(format!("{name} has no secret {secret:?}; its secrets: {list}")));
    }
    let value = value.map(|value| desired::seal(app, name, secret, &value.into())).transpose()?;
    // Not tried first: one that cannot be read must not keep another from being set.
    desired::change(app, name, |plugin| {
        match &value {
            Some(value) => drop(plugin.secrets.0.insert(secret.to_owned(), value.as_str().into())),
            None => drop(plugin.secrets.0.remove(secret)),
        }
        plugin.config_version += 1;
        Ok(())
    })
    .await
}

fn merge(into: &mut Map<String, Value>, members: Map<String, Value>) {
    for (key, value) in members {
        if value.is_null() {
            into.remove(&key);
        } else {
            into.insert(key, value);
        }
    }
}

/// One plugin's place at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The plugin.
    pub plugin: String,
    /// Its hook's priority.
    pub priority: i32,
    /// What its hook says of others.
    pub before: Vec<String>,
    /// What its hook says of others.
    pub after: Vec<String>,
    /// What the hook is about: kinds of events or entities.
    pub kinds: Vec<String>,
}

impl Placed {
    fn place(&self) -> Place<'_> {
        Place { plugin: &self.plugin, priority: self.priority, before: &self.before, after: &self.after }
    }
}

/// In which order the plugins that are wanted are asked at `moment`.
///
/// # Errors
/// [`Error::Invalid`] for a moment that there is not, or plugins that wait for each other.
pub async fn order(app: &App, moment: &str) -> Result<Vec<Placed>> {
    let known = || Moment::ALL.iter().map(|moment| moment.as_str());
    let Some(moment) = Moment::ALL.into_iter().find(|known| known.as_str() == moment) else {
        let list = known().collect::<Vec<_>>().join(", ");
        return Err(Error::invalid(format!("there is no hook {moment:?}; there are {list}")));
    };
    let mut placed = Vec::new();
    for known in list(app).await?.into_iter().filter(|known| known.plugin.enabled) {
        let Ok(Some(package)) = known.package else { continue };
        for hook in package.manifest.hooks.iter().filter(|hook| hook.on == moment) {
            placed.push(Placed {
                plugin: known.plugin.name.clone(),
                priority: hook.priority,
                before: hook.before.clone(),
                after: hook.after.clone(),
                kinds: hook.kinds.clone(),
            });
        }
    }
    let places: Vec<Place<'_>> = placed.iter().map(Placed::place).collect();
    let order = order::order(moment.as_str(), &places)?;
    Ok(order.into_iter().map(|at| placed[at].clone()).collect())
}

/// Runs a command that the plugin's manifest declares, in a transaction of its own.
///
/// # Errors
/// [`Error::Invalid`] for a plugin that does not serve here, an unknown command, or what the plugin itself says.
pub async fn run(app: &App, name: &str, command: &str, args: &Value) -> Result<Value> {
    let registry = app.plugins.latest();
    let active = registry.find(name).ok_or_else(|| Error::invalid(format!("the plugin {name} does not serve here")))?;
    let commands = &active.manifest.commands;
    if !commands.iter().any(|known| known.name == command) {
        let known = commands.iter().map(|known| known.name.clone());
        let hint = nearest(command, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(Error::invalid(format!("{name} has no command {command:?}{hint}")));
    }
    app.plugins.pauses.check(active).map_err(|busy| Error::invalid(format!("{name}: {}", busy.message)))?;
    let call = Call::new(app, active, Caller::system(), Mode::Ambient);
    let context = context(active);
    let answer = active.component.command(call.clone(), context, command, args.to_string()).await;
    let answer = answer.map_err(|error| {
        if error.failure.is_none() {
            app.plugins.report(active, "command", command, &error);
        }
        Error::invalid(error.failure.map_or(error.message, |failure| failure.message))
    })?;
    let answer = serde_json::from_str(&answer)
        .map_err(|error| Error::invalid(format!("{name} answered with what is no JSON: {error}")))?;
    call.commit().await?;
    Ok(answer)
}

/// An admin, of whom the plugin is told no more.
fn context(active: &Active) -> CallContext {
    const ADMIN: u8 = 3;
    CallContext {
        request_id: String::new(),
        caller: ToldCaller { account: None, scopes: Vec::new(), role: ADMIN, locale: String::new(), app: None },
        budget_ms: u32::try_from(active.limits.host.route_wall.as_millis()).unwrap_or(u32::MAX),
    }
}

/// Forgets a plugin: what is wanted, accepted, granted and configured. What it keeps stays for when it is enabled again, unless
/// that is purged too; then it is written to a file first, whose path is the answer.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or the file cannot be written: it does not serve any more then, and
/// nothing is lost.
pub async fn uninstall(app: &App, name: &str, purge: bool) -> Result<Option<PathBuf>> {
    let serving = app.plugins.latest().find(name).cloned();
    let plugin = disable(app, name).await?;
    life::follow(app).await;
    if let Some(serving) = serving {
        serving.rest().await;
    }
    if purge { purge_all(app, &plugin).await.map(Some) } else { forget(app, name).await.map(|()| None) }
}

/// Leaves of what is wanted no more than whose tables they are.
async fn forget(app: &App, name: &str) -> Result<()> {
    let forgotten = |plugin: &mut Plugin| {
        *plugin = Plugin {
            version: None,
            sha256: None,
            approved: Json(Vec::new()),
            granted: Json(Vec::new()),
            limits: Json(Value::Object(Map::new())),
            config: Json(Map::new()),
            config_version: plugin.config_version + 1,
            secrets: Json(Map::new()),
            refused: None,
            ..plugin.clone()
        };
        Ok(())
    };
    let plugin = desired::change(app, name, forgotten).await?;
    let mut tx = app.db.begin().await?;
    store::plugin::forget_manifest(&mut tx, plugin.id).await?;
    Ok(tx.commit().await?)
}

async fn purge_all(app: &App, plugin: &Plugin) -> Result<PathBuf> {
    let (name, now) = (&plugin.name, app.clock.now());
    let dump = sql::dump(app, plugin).await?;
    let mut tx = app.db.begin().await?;
    if !dump.is_whole(&mut tx).await? {
        return Err(Error::invalid(format!("{name} still wrote while it was read, so nothing was dropped: try again")));
    }
    let scope = Scope::find(&mut tx, name, BTreeSet::new()).await?;
    tx.drop_namespace(&scope).await?;
    store::plugin_feed::clear_all(&mut tx, plugin.id).await?;
    store::job::delete_kind(&mut tx, &jobs::plugin::kind_of(name)).await?;
    store::plugin::delete(&mut tx, plugin.id).await?;
    store::settings::touch(&mut tx, now).await?;
    tx.commit().await?;
    app.plugins.observed.forget(name);
    // What lies there still is as if it were new, and not wanted.
    if let Some(package) = source::packages(app).await?.found.get(name) {
        desired::install(app, package, false).await?;
    }
    Ok(dump.path)
}
