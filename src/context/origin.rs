//! Which plugins caused the current operation: prevents hooks from recursing endlessly.
//!
//! While the server performs a host call for a plugin, that plugin is in the [`Origin`] of the [`Cx`](crate::Cx).
//! Before calling a hook, callers check [`Origin::allows`]: a plugin is not called about changes that it caused
//! itself, and the chain of causes is at most [`DEPTH`] long. Follows docs/plugins.md#14-hooks, rule (c).

use std::sync::Arc;

use model::PluginId;

/// Longest chain of plugins, each the cause of the next.
const DEPTH: usize = 3;

/// The plugins that caused the current operation, first cause first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(Arc<[PluginId]>);

impl Origin {
    /// The origin of a stored event, from the plugins stored with it.
    #[must_use]
    pub fn of(plugins: &[PluginId]) -> Self {
        Self(plugins.into())
    }

    /// This origin with `plugin` appended, unless it contains it already.
    #[must_use]
    pub fn with(&self, plugin: PluginId) -> Self {
        if self.0.contains(&plugin) {
            return self.clone();
        }
        Self(self.0.iter().copied().chain([plugin]).collect())
    }

    /// True when a hook of `plugin` may be called about something with this origin.
    #[must_use]
    pub fn allows(&self, plugin: PluginId) -> bool {
        self.0.len() < DEPTH && !self.0.contains(&plugin)
    }

    /// The plugins, first cause first.
    #[must_use]
    pub fn plugins(&self) -> &[PluginId] {
        &self.0
    }

    /// The form stored with queued work: a JSON list, or `None` when no plugin is involved.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::json!(self.0.as_ref()).to_string())
    }

    /// Reads the result of [`Origin::to_json`].
    #[must_use]
    pub fn from_json(stored: Option<&str>) -> Self {
        let plugins: Option<Vec<PluginId>> = stored.and_then(|stored| serde_json::from_str(stored).ok());
        Self::of(&plugins.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plugin_is_not_asked_about_its_own_actions() {
        let behind = Origin::default().with(1);
        assert!(!behind.allows(1));
        assert!(behind.allows(2));
    }

    #[test]
    fn it_is_stored_with_what_waits() {
        let two = Origin::default().with(7).with(2);
        assert_eq!(Origin::from_json(two.to_json().as_deref()), two);
        assert_eq!((Origin::default().to_json(), Origin::from_json(None)), (None, Origin::default()));
    }

    #[test]
    fn three_are_behind_one_thing_at_most() {
        let two = Origin::default().with(1).with(2).with(1);
        assert_eq!(two.plugins(), [1, 2]);
        assert!(two.allows(3));
        assert!(!two.with(3).allows(4));
    }
}
