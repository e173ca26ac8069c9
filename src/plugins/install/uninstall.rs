//! Uninstalling a plugin, and purging its data.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::admin::enable::switch_off;
use crate::admin::installed::{discover, know};
use crate::call::job_kind::kind_of;
use crate::error::of_fault;
use crate::life;
use crate::life::desired::{self, Logged};
use crate::life::source;
use crate::{Active, Cx, PluginId, install, sql};
use context::error::{Error, Result};
use context::queue::{self, PurgePlugin};
use database::confined::Scope;
use model::{Json, Staff, boxed};
use service::audit::{self, Entry, Target};
use store::plugin::Plugin;
use store::plugin_event;

/// The action in the audit log.
const ACTION: &str = "plugin.uninstall";

/// Uninstalls a plugin: deletes its desired state, accepted package, grants and configuration. Its data stays for when
/// it is enabled again, unless `purge`; then its tables and key-value items are dumped to a file first, whose path is
/// returned. Its feeds and notifications are removed by a job, since they may be millions.
///
/// # Errors
/// [`Error::Invalid`] when there is no such plugin, or the dump fails: the plugin is disabled then, and no data is
/// lost.
#[boxed]
pub async fn uninstall(cx: &Cx, staff: &Staff, name: &str, purge: bool) -> Result<Option<PathBuf>> {
    let serving = cx.plugins.latest().find(name).cloned();
    let plugin = desired::change(cx, name, switch_off).await?;
    life::follow(cx).await;
    if let Some(serving) = &serving {
        serving.rest().await;
    }
    if !purge {
        forget(cx, staff, name).await?;
        install::remove_installed(cx, &plugin);
        return Ok(None);
    }
    let types = notification_types(cx, serving.as_deref(), &plugin).await?;
    purge_all(cx, staff, &plugin, types).await.map(Some)
}

/// Deletes the desired state, except for what identifies the owner of the tables.
async fn forget(cx: &Cx, staff: &Staff, name: &str) -> Result<()> {
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
    let plugin = desired::change_by(cx, name, Logged::new(staff, ACTION), forgotten).await?;
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

/// Deletes the plugin's events, which are not part of the dump, in short transactions.
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

async fn purge_all(cx: &Cx, staff: &Staff, plugin: &Plugin, notifications: Vec<String>) -> Result<PathBuf> {
    let (name, now) = (&plugin.name, cx.clock.now());
    let dump = sql::dump(cx, plugin).await?;
    clear_events(cx, plugin.id).await?;
    let mut tx = cx.db.begin().await?;
    if !dump.is_whole(&mut tx).await? {
        return Err(Error::invalid(format!(
            "{name} was still writing during the export, so nothing was deleted: try again"
        )));
    }
    let scope = Scope::find(&mut tx, name, BTreeSet::new()).await?;
    tx.drop_namespace(&scope).await?;
    let feeds = store::plugin_feed::list_kinds(&mut tx, plugin.id).await?;
    let rest = PurgePlugin { plugin: plugin.id, feeds, notifications, last: cx.ids.next() };
    queue::enqueue(cx, &mut tx, &rest).await?;
    store::job::delete_kind(&mut tx, &kind_of(name)).await?;
    store::plugin::delete(&mut tx, plugin.id).await?;
    let target = Target::new("plugin", plugin.id, name.as_str());
    audit::record(cx, &mut tx, staff, Entry::new(ACTION, target).with(json!({ "purge": true }))).await?;
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
