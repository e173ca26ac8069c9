//! What the admin wants of each plugin: in the database, so that every process of the server follows.
//!
//! A change counts the settings' generation up, which every running server looks at twice a second.

use serde_json::Map;

use super::package::Origin;
use super::{Active, Package};
use crate::app::App;
use crate::error::{Error, Result};
use config::nearest;
use crypto::Secret;
use model::Json;
use store::plugin::Plugin;

/// How many packages are remembered as good.
const APPROVED: usize = 20;

/// What is wanted of the plugin of this name.
///
/// # Errors
/// [`Error::Invalid`] when there is none, with the nearest there is.
pub async fn find(app: &App, name: &str) -> Result<Plugin> {
    if let Some(found) = store::plugin::find(&app.db, name).await? {
        return Ok(found);
    }
    let known = store::plugin::list(&app.db).await?.into_iter().map(|plugin| plugin.name);
    let hint = nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(Error::invalid(format!("there is no plugin {name:?}{hint}")))
}

/// Takes note of a package that was never seen: one that comes with the server is trusted and on, unless the
/// configuration says otherwise or `on` is false; any other waits for the admin.
///
/// # Errors
/// When the database does.
pub async fn install(app: &App, package: &Package, on: bool) -> Result<()> {
    let now = app.clock.now();
    let embedded = package.origin == Origin::Embedded;
    let granted = if embedded { package.manifest.wanted().into_iter().collect() } else { Vec::new() };
    let accepted: Vec<String> = if embedded { vec![package.digest.clone()] } else { Vec::new() };
    let plugin = Plugin {
        id: app.ids.next::<i64>(),
        name: package.name().to_owned(),
        enabled: on && embedded && app.config.plugins.embedded,
        version: Some(package.manifest.plugin.version.clone()),
        sha256: accepted.first().cloned(),
        approved: Json(accepted),
        granted: Json(granted),
        limits: Json(serde_json::Value::Object(Map::new())),
        config: Json(Map::new()),
        config_version: 1,
        secrets: Json(Map::new()),
        refused: None,
        quarantined_at: None,
        created_at: now,
        updated_at: now,
    };
    let mut tx = app.db.begin().await?;
    store::plugin::insert(&mut tx, &plugin).await?;
    tx.commit().await?;
    Ok(())
}

/// Changes what is wanted of the plugin called `name`, and tells every running server.
///
/// # Errors
/// What `change` says, and as [`find`].
pub async fn change(app: &App, name: &str, change: impl FnOnce(&mut Plugin) -> Result<()> + Send) -> Result<Plugin> {
    let now = app.clock.now();
    find(app, name).await?;
    let mut tx = app.db.begin().await?;
    let mut plugin = store::plugin::lock(&mut tx, name).await?.ok_or(Error::NotFound)?;
    let before = plugin.clone();
    change(&mut plugin)?;
    if plugin != before {
        plugin.updated_at = now;
        store::plugin::update(&mut tx, &plugin).await?;
        store::settings::touch(&mut tx, now).await?;
        tx.commit().await?;
    }
    Ok(plugin)
}

/// Notes that a package served: one can go back to it. Servers that cannot load it are told what to keep for it.
///
/// # Errors
/// When the database does.
pub async fn served(app: &App, active: &Active) -> Result<()> {
    let digest = &active.digest;
    let mut tx = app.db.begin().await?;
    let Some(mut plugin) = store::plugin::lock(&mut tx, active.name()).await? else { return Ok(()) };
    let is_last = plugin.approved.0.last() == Some(digest);
    if !is_last {
        plugin.approved.0.retain(|known| known != digest);
        plugin.approved.0.push(digest.clone());
        let surplus = plugin.approved.0.len().saturating_sub(APPROVED);
        plugin.approved.0.drain(..surplus);
        store::plugin::update(&mut tx, &plugin).await?;
    }
    let is_new = store::plugin::keep_manifest(&mut tx, plugin.id, active.manifest_text()).await?;
    if is_new {
        store::settings::touch(&mut tx, app.clock.now()).await?;
    }
    if is_new || !is_last {
        tx.commit().await?;
    }
    Ok(())
}

/// What the secrets of plugins are sealed for.
const SECRETS: &str = "plugin-secrets";

/// A secret of the plugin called `plugin`, as it is kept: whoever reads the database does not read it.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn seal(app: &App, plugin: &str, name: &str, secret: &Secret) -> Result<String> {
    Ok(app.keys.seal(SECRETS, &format!("{plugin} {name}"), secret)?)
}

/// A secret that was sealed; `None` when this server's key is not that with which it was.
#[must_use]
pub fn open(app: &App, plugin: &str, name: &str, sealed: &str) -> Option<Secret> {
    app.keys.open(SECRETS, &format!("{plugin} {name}"), sealed)
}

/// The package is what the admin wants, with all that it asks for.
pub fn accept(plugin: &mut Plugin, package: &Package) {
    plugin.sha256 = Some(package.digest.clone());
    plugin.version = Some(package.manifest.plugin.version.clone());
    if !plugin.approved.0.contains(&package.digest) {
        plugin.approved.0.push(package.digest.clone());
    }
    plugin.refused = None;
}
