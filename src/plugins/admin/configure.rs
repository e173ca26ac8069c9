//! Changing limits, configuration and secrets of a plugin.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Cx;
use crate::admin::installed::find;
use crate::error::of_fault;
use crate::life::desired::{self, Logged};
use crate::life::pipeline;
use config::nearest;
use context::error::{Error, Result};
use model::Staff;
use plugin_package::manifest;
use store::plugin::Plugin;

/// Overrides limits of the manifest; JSON null removes an override.
///
/// # Errors
/// [`Error::Invalid`] with the values that a limit takes.
pub async fn set_limits(cx: &Cx, staff: &Staff, name: &str, limits: Map<String, Value>) -> Result<Plugin> {
    change_tried(cx, name, logged(staff, "plugin.limits", &limits), |plugin| {
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

/// Changes members of the configuration; JSON null resets one to its default.
///
/// # Errors
/// [`Error::Invalid`] for values that the plugin's schema refuses.
pub async fn configure(cx: &Cx, staff: &Staff, name: &str, members: Map<String, Value>) -> Result<Plugin> {
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
    change_tried(cx, name, logged(staff, "plugin.configure", &members), |plugin| {
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
    pub key: String,
    /// The value that the admin set, or the default.
    pub value: Value,
    pub default: Value,
    /// Its type or allowed words in the schema, and its description.
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
pub async fn set_secret(cx: &Cx, staff: &Staff, name: &str, secret: &str, value: Option<String>) -> Result<Plugin> {
    let known = find(cx, name).await?.package.map_err(|fault| of_fault(&fault))?;
    let named = known.map(|package| package.manifest.permissions.secrets).unwrap_or_default();
    if !named.iter().any(|known| known == secret) {
        let list = if named.is_empty() { "none".to_owned() } else { named.join(", ") };
        return Err(Error::invalid(format!("{name} has no secret {secret:?}; its secrets: {list}")));
    }
    let value = value.map(|value| desired::seal(cx, name, secret, &value.into())).transpose()?;
    // No dry run: a secret that cannot be decrypted must not prevent setting another.
    let action = if value.is_some() { "plugin.set_secret" } else { "plugin.delete_secret" };
    let logged = Logged::new(staff, action).with(json!({ "secret": secret }));
    desired::change_by(cx, name, logged, |plugin| {
        match &value {
            Some(value) => drop(plugin.secrets.0.insert(secret.to_owned(), value.as_str().into())),
            None => drop(plugin.secrets.0.remove(secret)),
        }
        plugin.config_version += 1;
        Ok(())
    })
    .await
}

/// As [`desired::change`], after a dry run of loading the plugin with the change: a change that is refused now does not
/// keep the plugin from the next start.
async fn change_tried(
    cx: &Cx,
    name: &str,
    logged: Logged<'_>,
    change: impl Fn(&mut Plugin) -> Result<()> + Send + Sync,
) -> Result<Plugin> {
    let mut changed = desired::find(cx, name).await?;
    change(&mut changed)?;
    if changed.enabled {
        pipeline::dry_run(cx, changed).await.map_err(|fault| of_fault(&fault))?;
    }
    desired::change_by(cx, name, logged, change).await
}

/// The log of a change of these members, by their names.
fn logged<'a>(staff: &'a Staff, action: &'static str, members: &Map<String, Value>) -> Logged<'a> {
    Logged::new(staff, action).with(json!({ "keys": members.keys().collect::<Vec<_>>() }))
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
