//! Plugin administration: the use cases behind the command line, the socket of a running server and the admin API.
//!
//! Each changes the desired state, in the database; the caller is already authorised. Running servers reconcile by
//! themselves, and [`life::reload`] reports the result at once.

pub mod entity;
mod revoke;
pub mod routes;

pub use revoke::revoke;

use std::collections::BTreeSet;
use std::path::PathBuf;

use rookery_plugin_host::imports::types::{CallContext, Caller as ToldCaller};
use rookery_plugin_host::{LoadError, Part};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{Call, Caller, Mode};
use crate::error::of_fault;
use crate::jobs::kind::kind_of;
use crate::life::source::{self, Packages};
use crate::life::{self, desired, pipeline};
use crate::{Active, Cx, PluginId, install, sql};
use config::nearest;
use context::error::{Error, Result};
use context::queue::{self, PurgePlugin};
use database::confined::Scope;
use model::{Json, boxed};
use plugin_package::manifest::{self, Hook, Moment};
use plugin_package::package::{self, Package};
use store::plugin::Plugin;
use store::plugin_event::{self, Parked};

/// Most parked events that an admin is shown in detail.
const PARKED: i64 = 50;

/// A plugin that is installed or could be, with its desired state and package.
#[derive(Clone, Debug)]
pub struct InstalledPlugin {
    /// The desired state.
    pub plugin: Plugin,
    /// The package that would be loaded, or the fault that prevents it.
    pub package: Result<Option<Package>, LoadError>,
    /// Permissions that the newest package asks for and that were not granted.
    pub missing: BTreeSet<String>,
    /// The newest package, where it is not the one that would be loaded: it waits for an admin.
    pub waiting: Option<Package>,
    /// The version of the package that is not tried again by itself, if it is there.
    pub refused: Option<String>,
}

/// Every plugin, by name. Packages seen for the first time are registered.
///
/// # Errors
/// When the database or the plugin folder cannot be read.
pub async fn list(cx: &Cx) -> Result<Vec<InstalledPlugin>> {
    let packages = discover(cx).await?;
    let mut all = Vec::new();
    for plugin in store::plugin::list(&cx.db).await? {
        all.push(know(cx, plugin, &packages).await);
    }
    Ok(all)
}

/// The plugin called `name`.
///
/// # Errors
/// [`Error::Invalid`] when there is none; else as [`list`].
pub async fn find(cx: &Cx, name: &str) -> Result<InstalledPlugin> {
    let packages = discover(cx).await?;
    Ok(know(cx, desired::find(cx, name).await?, &packages).await)
}

async fn discover(cx: &Cx) -> Result<Packages> {
    let packages = source::packages(cx).await.map_err(|fault| of_fault(&fault))?;
    for package in packages.found.values() {
        if store::plugin::find(&cx.db, package.name()).await?.is_none() {
            desired::install(cx, package, true).await?;
        }
    }
    Ok(packages)
}

async fn know(cx: &Cx, plugin: Plugin, packages: &Packages) -> InstalledPlugin {
    let newest = packages.found.get(&plugin.name);
    let missing = newest.map(|package| pipeline::missing(&plugin, package)).unwrap_or_default();
    let package = source::choose(cx, &plugin, packages).await;
    let loaded = package.as_ref().ok().and_then(Option::as_ref).map(|package| &package.digest);
    let waits =
        |package: &&Package| Some(&package.digest) != loaded && plugin.refused.as_ref() != Some(&package.digest);
    let waiting = newest.filter(waits).cloned();
    let refused = plugin.refused.as_ref().and_then(|digest| packages.with_digest(&plugin.name, digest).next());
    let refused = refused.map(|package| package.manifest.plugin.version.clone());
    InstalledPlugin { plugin, package, missing, waiting, refused }
}

/// The newest package of `name`, accepted or not.
async fn newest(cx: &Cx, name: &str) -> Result<Package> {
    let mut packages = discover(cx).await?;
    desired::find(cx, name).await?;
    if let Some(fault) = packages.broken.remove(name) {
        return Err(of_fault(&fault));
    }
    let none = || Error::invalid(format!("there is no package of {name}: put it into plugins.dir"));
    let package = packages.found.remove(name).ok_or_else(none)?;
    source::check_denied(cx, &package).map_err(|fault| of_fault(&fault))?;
    Ok(package)
}

/// Enables the plugin. The first time, the newest package is accepted with every permission it asks for; later a
/// package that asks for more waits for [`grant`] while the accepted one stays active.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or its package is broken or denied.
pub async fn enable(cx: &Cx, name: &str) -> Result<Plugin> {
    enable_shown(cx, name, None).await
}

/// As [`enable`]; `shown` is the digest of the package that the admin was shown: another is not accepted.
///
/// # Errors
/// [`Error::Invalid`] also for another package than that.
#[boxed]
pub async fn enable_shown(cx: &Cx, name: &str, shown: Option<&str>) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    check_shown(&package, shown)?;
    desired::change(cx, name, |plugin| {
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

/// Disables the plugin. Its tables stay.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin.
pub async fn disable(cx: &Cx, name: &str) -> Result<Plugin> {
    desired::change(cx, name, |plugin| {
        plugin.enabled = false;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await
}

/// Accepts the newest package; permissions that were not granted before wait for [`grant`].
///
/// # Errors
/// As [`enable`].
#[boxed]
pub async fn accept(cx: &Cx, name: &str) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    desired::change(cx, name, |plugin| {
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        plugin.refused = None;
        plugin.quarantined_at = None;
        Ok(())
    })
    .await?;
    pipeline::check_grants(&desired::find(cx, name).await?, &package).map_err(|fault| of_fault(&fault))?;
    desired::find(cx, name).await
}

/// Grants the permissions that the newest package asks for, and accepts it.
///
/// # Errors
/// As [`enable`].
pub async fn grant(cx: &Cx, name: &str) -> Result<Plugin> {
    grant_some(cx, name, &[], None).await
}

/// As [`grant`] for the permissions of `only`, if there are any: the package is accepted once none is missing. `shown` as
/// of [`enable_shown`].
///
/// # Errors
/// [`Error::Invalid`] also for a permission that the package does not ask for.
#[boxed]
pub async fn grant_some(cx: &Cx, name: &str, only: &[String], shown: Option<&str>) -> Result<Plugin> {
    let package = newest(cx, name).await?;
    check_shown(&package, shown)?;
    let wanted = package.manifest.wanted();
    if let Some(unknown) = only.iter().find(|permission| !wanted.contains(*permission)) {
        let hint = nearest(unknown, wanted.iter().cloned()).map(|near| format!("; did you mean {near}?"));
        let hint = hint.unwrap_or_default();
        return Err(Error::invalid(format!("{name} does not ask for the permission {unknown:?}{hint}")));
    }
    desired::change(cx, name, |plugin| {
        if only.is_empty() {
            grant_all(plugin, &package);
        } else {
            add_grants(plugin, only);
        }
        if pipeline::missing(plugin, &package).is_empty() {
            desired::accept(plugin, &package);
        }
        Ok(())
    })
    .await
}

/// Fails when `package` is not the one of the digest that an admin was shown.
fn check_shown(package: &Package, shown: Option<&str>) -> Result<()> {
    match shown.filter(|shown| *shown != package.digest) {
        None => Ok(()),
        Some(_) => Err(Error::invalid(format!("the package of {} was replaced meanwhile: look again", package.name()))),
    }
}

fn add_grants(plugin: &mut Plugin, permissions: &[String]) {
    let granted = plugin.granted.0.iter().chain(permissions).cloned().collect();
    desired::set_grants(plugin, granted);
}

pub(crate) fn grant_all(plugin: &mut Plugin, package: &Package) {
    desired::set_grants(plugin, package.manifest.wanted());
}

/// Retries the plugin's dead letters; returns how many events that are.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin.
pub async fn retry(cx: &Cx, name: &str) -> Result<u64> {
    let plugin = desired::find(cx, name).await?;
    let mut tx = cx.db.begin().await?;
    let count = plugin_event::retry_parked(&mut tx, plugin.id, cx.clock.now()).await?;
    tx.commit().await?;
    Ok(count)
}

/// What waits for a plugin: events, waiting and parked, and jobs.
#[derive(Debug)]
pub struct Outbox {
    /// Number of events that wait for delivery.
    pub waiting: i64,
    /// Number of parked events (dead letters).
    pub parked: i64,
    /// The first of the parked ones.
    pub first: Vec<Parked>,
    /// Number of jobs that wait.
    pub jobs: i64,
}

/// What waits for `plugin`.
pub async fn outbox(cx: &Cx, plugin: &Plugin) -> Result<Outbox> {
    let (waiting, parked) = plugin_event::count(&cx.db, plugin.id).await?;
    let first = if parked == 0 { Vec::new() } else { plugin_event::list_parked(&cx.db, plugin.id, PARKED).await? };
    let jobs = store::job::count_ready(&cx.db, &kind_of(&plugin.name)).await?;
    Ok(Outbox { waiting, parked, first, jobs })
}

/// Rolls back to the package that was active before the desired one, after a dry run: by the plugin's history, else, when it
/// was uninstalled meanwhile, to the newest copy that is left of it.
///
/// # Errors
/// [`Error::Invalid`] when there is no such package, its copy is gone, or it cannot be loaded: nothing changed then.
pub async fn rollback(cx: &Cx, name: &str) -> Result<Plugin> {
    let plugin = desired::find(cx, name).await?;
    let serving = cx.plugins.latest().find(name).map(|active| active.digest.clone());
    let packages = discover(cx).await?;
    let chosen = source::choose(cx, &plugin, &packages).await.ok().flatten().map(|package| package.digest);
    let now = serving.or(chosen).or_else(|| plugin.sha256.clone());
    let folder = cx.config.plugins.cache_dir.join("packages");
    let copies = package::kept_digests(&folder, name);
    let known = plugin.approved.0.iter().rev().chain(&copies);
    for digest in known.filter(|digest| Some(*digest) != now.as_ref()) {
        if let Some(package) = package::kept(&folder, name, digest).map_err(|fault| of_fault(&fault))? {
            let back = |plugin: &mut Plugin| -> Result<()> {
                desired::go_back(plugin, &package, now.clone());
                plugin.quarantined_at = None;
                Ok(())
            };
            let mut target = plugin.clone();
            back(&mut target)?;
            pipeline::dry_run(cx, target).await.map_err(|fault| of_fault(&fault))?;
            return desired::change(cx, name, back).await;
        }
    }
    Err(Error::invalid(format!("there is no copy of a package of {name} that served before: install one and reload")))
}

/// Overrides limits of the manifest; JSON null removes an override.
///
/// # Errors
/// [`Error::Invalid`] with the values that a limit takes.
pub async fn set_limits(cx: &Cx, name: &str, limits: Map<String, Value>) -> Result<Plugin> {
    change_tried(cx, name, |plugin| {
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

/// As [`desired::change`], after a dry run of loading the plugin with the change: a change that is refused now does not
/// keep the plugin from the next start.
async fn change_tried(cx: &Cx, name: &str, change: impl Fn(&mut Plugin) -> Result<()> + Send + Sync) -> Result<Plugin> {
    let mut changed = desired::find(cx, name).await?;
    change(&mut changed)?;
    if changed.enabled {
        pipeline::dry_run(cx, changed).await.map_err(|fault| of_fault(&fault))?;
    }
    desired::change(cx, name, change).await
}

/// Changes members of the configuration; JSON null resets one to its default.
///
/// # Errors
/// [`Error::Invalid`] for what the plugin's schema refuses.
pub async fn configure(cx: &Cx, name: &str, members: Map<String, Value>) -> Result<Plugin> {
    let package = find(cx, name).await?.package.map_err(|fault| of_fault(&fault))?;
    let package =
        package.ok_or_else(|| Error::invalid(format!("there is no package of {name}: put it into plugins.dir")))?;
    let schema = package.config_schema();
    let schema = schema.ok_or_else(|| Error::invalid(format!("{name} has no configuration")))?;
    let defaults = manifest::defaults(&schema);
    if let Some(unknown) = members.keys().find(|key| !defaults.contains_key(*key)) {
        let hint = nearest(unknown, defaults.keys().cloned()).map(|near| format!("; did you mean {near}?"));
        return Err(Error::invalid(format!("{name} has no configuration {unknown:?}{}", hint.unwrap_or_default())));
    }
    change_tried(cx, name, |plugin| {
        merge(&mut plugin.config.0, members.clone());
        pipeline::config(plugin, &package).map_err(|fault| of_fault(&fault))?;
        plugin.config_version += 1;
        Ok(())
    })
    .await
}

/// One key of a plugin's configuration.
#[derive(Clone, Debug, Serialize)]
pub struct ConfigKey {
    /// Its name.
    pub key: String,
    /// What the admin set, else the default.
    pub value: Value,
    /// The default.
    pub default: Value,
    /// What the schema says of it: its type or words, and the description.
    pub description: String,
}

/// The keys of the configuration of the plugin called `name`, in the order of their names; none where it has no
/// configuration.
///
/// # Errors
/// As [`configure`].
pub async fn config_keys(cx: &Cx, name: &str) -> Result<Vec<ConfigKey>> {
    let known = find(cx, name).await?;
    let package = known.package.map_err(|fault| of_fault(&fault))?;
    let Some(schema) = package.and_then(|package| package.config_schema()) else { return Ok(Vec::new()) };
    let text = |key: &str, of: &str| schema["properties"][key][of].as_str().map(str::to_owned);
    let words = |key: &str| {
        let words = schema["properties"][key]["enum"].as_array()?.iter().map(Value::to_string);
        Some(words.collect::<Vec<_>>().join(" | "))
    };
    let described = |key: &str| {
        let parts = [words(key).or_else(|| text(key, "type")), text(key, "description").or_else(|| text(key, "title"))];
        parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
    };
    let keys = manifest::defaults(&schema).into_iter().map(|(key, default)| ConfigKey {
        value: known.plugin.config.0.get(&key).unwrap_or(&default).clone(),
        description: described(&key),
        default,
        key,
    });
    Ok(keys.collect())
}

/// Sets a secret that the manifest names, or deletes it.
///
/// # Errors
/// [`Error::Invalid`] for a name that the manifest does not have.
pub async fn set_secret(cx: &Cx, name: &str, secret: &str, value: Option<String>) -> Result<Plugin> {
    let known = find(cx, name).await?.package.map_err(|fault| of_fault(&fault))?;
    let named = known.map(|package| package.manifest.permissions.secrets).unwrap_or_default();
    if !named.iter().any(|known| known == secret) {
        let list = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        return Err(Error::invalid(format!("{name} has no secret {secret:?}; its secrets: {list}")));
    }
    let value = value.map(|value| desired::seal(cx, name, secret, &value.into())).transpose()?;
    // No dry run: a secret that cannot be decrypted must not prevent setting another.
    desired::change(cx, name, |plugin| {
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

/// The position of a plugin's hook at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookPosition {
    /// The plugin.
    pub plugin: String,
    /// Its hook's priority.
    pub priority: i32,
    /// Kinds of events or entities that the hook is for.
    pub kinds: Vec<String>,
}

/// The order in which enabled plugins are called at `moment`.
///
/// # Errors
/// [`Error::Invalid`] for an unknown moment.
pub async fn order(cx: &Cx, moment: &str) -> Result<Vec<HookPosition>> {
    let known = || Moment::ALL.iter().map(|moment| moment.as_str());
    let Some(moment) = Moment::ALL.into_iter().find(|known| known.as_str() == moment) else {
        let list = known().collect::<Vec<_>>().join(", ");
        return Err(Error::invalid(format!("there is no hook {moment:?}; there are {list}")));
    };
    let enabled = list(cx).await?.into_iter().filter(|known| known.plugin.enabled);
    let manifests: Vec<_> = enabled.filter_map(|known| Some(known.package.ok()??.manifest)).collect();
    let named = manifests.iter().flat_map(|manifest| manifest.hooks.iter().map(|hook| (&*manifest.plugin.name, hook)));
    let mut hooks: Vec<_> = named.filter(|(_, hook)| hook.on == moment).collect();
    hooks.sort_by_key(|(plugin, hook)| hook.order(plugin));
    let position = |(plugin, hook): (&str, &Hook)| HookPosition {
        plugin: plugin.to_owned(),
        priority: hook.priority,
        kinds: hook.kinds.clone(),
    };
    Ok(hooks.into_iter().map(position).collect())
}

/// Runs a command that the plugin's manifest declares, or the step of it that `args` stand for, in a transaction of its
/// own. There is more to do while the answer has a [`next_step`].
///
/// # Errors
/// [`Error::Invalid`] for a plugin that is not active here, an unknown command, or an error of the plugin's own.
#[boxed]
pub async fn run(cx: &Cx, name: &str, command: &str, args: &Value) -> Result<Value> {
    let registry = cx.plugins.latest();
    let active = registry.find(name).ok_or_else(|| Error::invalid(format!("the plugin {name} does not serve here")))?;
    let commands = &active.manifest.commands;
    if !commands.iter().any(|known| known.name == command) {
        let known = commands.iter().map(|known| known.name.clone());
        let hint = nearest(command, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
        return Err(Error::invalid(format!("{name} has no command {command:?}{hint}")));
    }
    cx.plugins.pauses.check(active).map_err(|busy| Error::invalid(format!("{name}: {}", busy.message)))?;
    let call = Call::new(cx, active, Part::Jobs, Caller::system(), Mode::Ambient);
    let context = context(active);
    let answer = active.component.command(call.clone(), context, command, args.to_string()).await;
    let answer = answer.map_err(|error| {
        if error.failure.is_none() {
            cx.plugins.report(active, "command", command, &error);
        }
        Error::invalid(error.failure.map_or(error.message, |failure| failure.message))
    })?;
    let answer = serde_json::from_str(&answer)
        .map_err(|error| Error::invalid(format!("{name} answered with what is no JSON: {error}")))?;
    call.commit().await?;
    Ok(answer)
}

/// Takes the arguments of a command's next step from the answer to the one before; `None` when that was the last
/// (contract: interface `admin`).
pub fn next_step(answer: &mut Value) -> Option<Value> {
    answer.as_object_mut()?.remove("continue")
}

/// The call context of an admin, without identifying them to the plugin.
fn context(active: &Active) -> CallContext {
    const ADMIN: u8 = 3;
    CallContext {
        request_id: String::new(),
        caller: ToldCaller {
            account: None,
            token: None,
            scopes: Vec::new(),
            role: ADMIN,
            locale: String::new(),
            app: None,
        },
        budget_ms: u32::try_from(active.limits.host.route_wall.as_millis()).unwrap_or(u32::MAX),
    }
}

/// Uninstalls a plugin: deletes its desired state, accepted package, grants and configuration. Its data stays for when
/// it is enabled again, unless `purge`; then its tables and key-value items are dumped to a file first, whose path is
/// returned. Its feeds and notifications are removed by a job, since they may be millions.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or the dump fails: the plugin is disabled then, and no data is
/// lost.
#[boxed]
pub async fn uninstall(cx: &Cx, name: &str, purge: bool) -> Result<Option<PathBuf>> {
    let serving = cx.plugins.latest().find(name).cloned();
    let plugin = disable(cx, name).await?;
    life::follow(cx).await;
    if let Some(serving) = &serving {
        serving.rest().await;
    }
    if !purge {
        forget(cx, name).await?;
        install::remove_installed(cx, &plugin);
        return Ok(None);
    }
    let types = notification_types(cx, serving.as_deref(), &plugin).await?;
    purge_all(cx, &plugin, types).await.map(Some)
}

/// Deletes the desired state, except for what identifies the owner of the tables.
async fn forget(cx: &Cx, name: &str) -> Result<()> {
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
    let plugin = desired::change(cx, name, forgotten).await?;
    let mut tx = cx.db.begin().await?;
    store::plugin::clear_manifest(&mut tx, plugin.id).await?;
    Ok(tx.commit().await?)
}

/// The types of notifications that only this plugin declares: by its generation that served, else its package.
async fn notification_types(cx: &Cx, serving: Option<&Active>, plugin: &Plugin) -> Result<Vec<String>> {
    let package = know(cx, plugin.clone(), &discover(cx).await?).await.package.ok().flatten();
    let manifest = serving.map(|active| &active.manifest).or(package.as_ref().map(|package| &package.manifest));
    let names = manifest.into_iter().flat_map(|manifest| &manifest.notifications).map(|kind| kind.name.clone());
    let registry = cx.plugins.latest();
    Ok(names.filter(|name| registry.hooks.notification(name).is_none()).collect())
}

/// Deletes the plugin's events, which are not part of the dump, in transactions that nobody has to wait for.
async fn clear_events(cx: &Cx, plugin: PluginId) -> Result<()> {
    const BATCH: i64 = 2_000;
    loop {
        let mut tx = cx.db.begin().await?;
        let deleted = plugin_event::delete_some(&mut tx, plugin, BATCH).await?;
        tx.commit().await?;
        if deleted == 0 {
            return Ok(());
        }
    }
}

async fn purge_all(cx: &Cx, plugin: &Plugin, notifications: Vec<String>) -> Result<PathBuf> {
    let (name, now) = (&plugin.name, cx.clock.now());
    let dump = sql::dump(cx, plugin).await?;
    clear_events(cx, plugin.id).await?;
    let mut tx = cx.db.begin().await?;
    if !dump.is_whole(&mut tx).await? {
        return Err(Error::invalid(format!("{name} still wrote while it was read, so nothing was dropped: try again")));
    }
    let scope = Scope::find(&mut tx, name, BTreeSet::new()).await?;
    tx.drop_namespace(&scope).await?;
    let feeds = store::plugin_feed::list_kinds(&mut tx, plugin.id).await?;
    let rest = PurgePlugin { plugin: plugin.id, feeds, notifications, last: cx.ids.next() };
    queue::enqueue(cx, &mut tx, &rest).await?;
    store::job::delete_kind(&mut tx, &kind_of(name)).await?;
    store::plugin::delete(&mut tx, plugin.id).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.plugins.observed.forget(name);
    install::remove_all(cx, plugin);
    // A package that is still in the folder is registered again, disabled.
    if let Some(package) = source::packages(cx).await.map_err(|fault| of_fault(&fault))?.found.get(name) {
        desired::install(cx, package, false).await?;
    }
    Ok(dump.path)
}
