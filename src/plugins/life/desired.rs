//! The desired state of each plugin, as set by the admin: in the database, so that every process of the server
//! reconciles with it.
//!
//! A change increments the settings' generation, which every running server polls twice a second. The observed state is
//! in [`super::observed`].

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::authority;
use crate::{Active, Cx};
use config::nearest;
use context::error::{Error, Result};
use crypto::Secret;
use model::{Json, Staff};
use plugin_package::Package;
use plugin_package::package::Origin;
use service::audit::{self, Entry, Target};
use store::plugin::Plugin;

/// Approved packages that are remembered.
const APPROVED: usize = 20;

/// The desired state of the plugin called `name`.
///
/// # Errors
/// [`Error::Invalid`] when there is none, suggesting the nearest name.
pub async fn find(cx: &Cx, name: &str) -> Result<Plugin> {
    if let Some(found) = store::plugin::find(&cx.db, name).await? {
        return Ok(found);
    }
    let known = store::plugin::list(&cx.db).await?.into_iter().map(|plugin| plugin.name);
    let hint = nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    Err(Error::invalid(format!("there is no plugin {name:?}{hint}")))
}

/// Registers a package that was never seen: an embedded one is trusted and enabled, unless the configuration says
/// otherwise or `on` is false; any other waits for the admin.
pub async fn install(cx: &Cx, package: &Package, on: bool) -> Result<()> {
    let now = cx.clock.now();
    let embedded = package.origin == Origin::Embedded;
    let granted = if embedded { package.manifest.requested().into_iter().collect() } else { Vec::new() };
    let accepted: Vec<String> = if embedded { vec![package.digest.clone()] } else { Vec::new() };
    let plugin = Plugin {
        id: cx.ids.next::<i64>(),
        name: package.name().to_owned(),
        enabled: on && embedded && cx.config.plugins.embedded,
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
        public_key: None,
        source: None,
        installs: Json(Vec::new()),
        created_at: now,
        updated_at: now,
    };
    let mut tx = cx.db.begin().await?;
    store::plugin::insert(&mut tx, &plugin).await?;
    tx.commit().await?;
    Ok(())
}

/// Changes the desired state of the plugin called `name`, and notifies every running server.
///
/// # Errors
/// The errors of `change` and of [`find`].
pub async fn change(cx: &Cx, name: &str, change: impl FnOnce(&mut Plugin) -> Result<()> + Send) -> Result<Plugin> {
    change_logged(cx, name, None, change).await
}

/// A change by a member of staff, for the audit log.
#[derive(Debug)]
pub struct Logged<'a> {
    pub staff: &'a Staff,
    /// Such as `plugin.enable`.
    pub action: &'static str,
    /// Names only: values of the configuration may be secret.
    pub details: Value,
}

impl<'a> Logged<'a> {
    /// A change without parameters.
    #[must_use]
    pub fn new(staff: &'a Staff, action: &'static str) -> Self {
        Self { staff, action, details: serde_json::json!({}) }
    }

    /// Adds the parameters of the change: an object.
    #[must_use]
    pub fn with(self, details: Value) -> Self {
        Self { details, ..self }
    }
}

/// As [`change`], by a member of staff: a change that changes something has an entry in the audit log.
///
/// # Errors
/// As [`change`].
pub async fn change_by(
    cx: &Cx,
    name: &str,
    logged: Logged<'_>,
    change: impl FnOnce(&mut Plugin) -> Result<()> + Send,
) -> Result<Plugin> {
    change_logged(cx, name, Some(logged), change).await
}

async fn change_logged(
    cx: &Cx,
    name: &str,
    logged: Option<Logged<'_>>,
    change: impl FnOnce(&mut Plugin) -> Result<()> + Send,
) -> Result<Plugin> {
    let now = cx.clock.now();
    find(cx, name).await?;
    let mut tx = cx.db.begin().await?;
    let mut plugin = store::plugin::lock(&mut tx, name).await?.ok_or(Error::NotFound)?;
    let before = plugin.clone();
    change(&mut plugin)?;
    if let Some(logged) = &logged {
        let new = plugin.granted.0.iter().filter(|permission| !before.granted.0.contains(permission));
        authority::check(logged.staff, new)?;
    }
    if plugin != before {
        plugin.updated_at = now;
        store::plugin::update(&mut tx, &plugin).await?;
        if let Some(Logged { staff, action, details }) = logged {
            let target = Target::new("plugin", plugin.id, name);
            audit::record(cx, &mut tx, staff, Entry::new(action, target).with(details)).await?;
        }
        store::settings::bump_generation(&mut tx, now).await?;
        tx.commit().await?;
    }
    Ok(plugin)
}

/// Records that a package was active, so that it can be rolled back to. Its manifest tells servers that cannot load it
/// which events to keep for it.
pub async fn served(cx: &Cx, active: &Active) -> Result<()> {
    let digest = &active.digest;
    let mut tx = cx.db.begin().await?;
    let Some(mut plugin) = store::plugin::lock(&mut tx, active.name()).await? else { return Ok(()) };
    let is_last = plugin.approved.0.last() == Some(digest);
    if !is_last {
        // As in `accept`.
        let wanted = active.manifest.requested();
        plugin.granted.0.retain(|granted| wanted.contains(granted));
        plugin.approved.0.retain(|known| known != digest);
        plugin.approved.0.push(digest.clone());
        let surplus = plugin.approved.0.len().saturating_sub(APPROVED);
        plugin.approved.0.drain(..surplus);
        store::plugin::update(&mut tx, &plugin).await?;
    }
    let is_new = store::plugin::set_manifest(&mut tx, plugin.id, active.manifest_text()).await?;
    if is_new {
        store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    }
    if is_new || !is_last {
        tx.commit().await?;
    }
    Ok(())
}

/// The purpose under which plugin secrets are sealed.
const SECRETS: &str = "plugin-secrets";

/// Encrypts a secret of the plugin called `plugin` for storage.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn seal(cx: &Cx, plugin: &str, name: &str, secret: &Secret) -> Result<String> {
    Ok(cx.keys.seal(SECRETS, &format!("{plugin} {name}"), secret)?)
}

/// Decrypts a sealed secret; `None` when it was sealed with another key than this server's.
#[must_use]
pub fn open(cx: &Cx, plugin: &str, name: &str, sealed: &str) -> Option<Secret> {
    cx.keys.open(SECRETS, &format!("{plugin} {name}"), sealed)
}

/// Makes `package`, which served before, the desired one again, with the permissions that it was granted then and no
/// others; `refused` is not tried again by itself. Permissions that an admin revoked meanwhile stay revoked: see
/// [`admin::revoke`](crate::admin::revoke).
pub fn go_back(plugin: &mut Plugin, package: &Package, refused: Option<String>) {
    let wanted = package.manifest.requested();
    if plugin.approved.0.contains(&package.digest) {
        set_grants(plugin, wanted);
    } else {
        let granted = plugin.granted.0.iter().filter(|granted| wanted.contains(*granted)).cloned().collect();
        set_grants(plugin, granted);
    }
    plugin.sha256 = Some(package.digest.clone());
    plugin.refused = refused;
}

/// Replaces the permissions that were granted.
pub fn set_grants(plugin: &mut Plugin, granted: BTreeSet<String>) {
    let granted: Vec<String> = granted.into_iter().collect();
    if plugin.granted.0 != granted {
        plugin.granted.0 = granted;
        plugin.config_version += 1;
    }
}

/// Makes the package the desired one, with every permission it asks for granted.
pub fn accept(plugin: &mut Plugin, package: &Package) {
    plugin.sha256 = Some(package.digest.clone());
    plugin.version = Some(package.manifest.plugin.version.clone());
    // A later package that asks for permissions which this one does without is to ask for them again.
    let wanted = package.manifest.requested();
    let granted = plugin.granted.0.iter().filter(|granted| wanted.contains(*granted)).cloned().collect();
    set_grants(plugin, granted);
    if !plugin.approved.0.contains(&package.digest) {
        plugin.approved.0.push(package.digest.clone());
    }
    plugin.refused = None;
}
