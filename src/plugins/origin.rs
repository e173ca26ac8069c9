//! Whose doing something is, when plugins are behind it: what keeps hooks from going round in circles.
//!
//! While a function of the server runs for a plugin, the plugin stands in the task's [`Origin`]. A hook asks
//! [`Origin::allows`] before it calls a plugin: not one that is behind this already, and no further than [`DEPTH`] deep.
//! Follows `PLUGINS.md` section 1.4, rule (c).

use std::future::Future;
use std::sync::Arc;

use super::PluginId;

/// So many plugins may stand behind one thing, each the cause of the next.
pub const DEPTH: usize = 3;

tokio::task_local! {
    static ORIGIN: Origin;
}

/// The plugins that are behind what happens now, the first cause first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin(Arc<[PluginId]>);

impl Origin {
    /// That of this task; outside of plugins: none.
    #[must_use]
    pub fn current() -> Self {
        ORIGIN.try_with(Clone::clone).unwrap_or_default()
    }

    /// That of an event which these plugins are behind: as it was stored with the event.
    #[must_use]
    pub fn of(plugins: &[PluginId]) -> Self {
        Self(plugins.into())
    }

    /// This one and `plugin`, unless it is behind this already.
    #[must_use]
    pub fn with(&self, plugin: PluginId) -> Self {
        if self.0.contains(&plugin) {
            return self.clone();
        }
        Self(self.0.iter().copied().chain([plugin]).collect())
    }

    /// True when a hook of `plugin` may be called about what this is behind.
    #[must_use]
    pub fn allows(&self, plugin: PluginId) -> bool {
        self.0.len() < DEPTH && !self.0.contains(&plugin)
    }

    /// The plugins, the first cause first.
    #[must_use]
    pub fn plugins(&self) -> &[PluginId] {
        &self.0
    }

    /// As it is stored with what waits: a JSON list; `None` for that of nobody.
    #[must_use]
    pub fn to_json(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| serde_json::json!(self.0.as_ref()).to_string())
    }

    /// As [`Origin::to_json`] wrote it.
    #[must_use]
    pub fn from_json(stored: Option<&str>) -> Self {
        let plugins: Option<Vec<PluginId>> = stored.and_then(|stored| serde_json::from_str(stored).ok());
        Self::of(&plugins.unwrap_or_default())
    }

    /// Runs `work` with this origin.
    pub async fn scope<F: Future>(self, work: F) -> F::Output {
        ORIGIN.scope(self, work).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_plugin_is_not_asked_about_its_own_doings() {
        assert!(Origin::current().allows(1));
        let behind = Origin::current().with(1);
        behind
            .scope(async {
                assert!(!Origin::current().allows(1));
                assert!(Origin::current().allows(2));
            })
            .await;
        assert!(Origin::current().allows(1));
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
