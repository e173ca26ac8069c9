//! The order in which plugins are called at a moment.

use crate::Cx;
use crate::admin::installed::list;
use context::error::{Error, Result};
use plugin_package::manifest::{Hook, Moment};

/// The position of a plugin's hook at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookPosition {
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
