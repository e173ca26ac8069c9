//! The immutable set of active plugins with their routes and hooks, which requests and jobs pin.

use std::sync::Arc;

use rookery_plugin_host::LoadError;

use crate::absent::Absent;
use crate::active::Active;

/// All active plugins with their routes and hooks, and the absent ones that events are kept for; immutable.
#[derive(Debug, Default)]
pub struct Registry {
    /// Incremented by every load and unload.
    pub generation: u64,
    /// Sorted by name.
    pub plugins: Vec<Arc<Active>>,
    /// Enabled plugins that are not active here, sorted by id.
    pub absent: Vec<Absent>,
    /// Their routes: [`Table::build`](crate::routes::Table::build) of `plugins`.
    pub routes: crate::routes::Table,
    /// Their hooks: [`Hooks::build`](crate::hooks::Hooks::build) of `plugins` and `absent`.
    pub hooks: crate::hooks::Hooks,
}

impl Registry {
    /// The registry of `plugins`, with the tables built from all of them.
    ///
    /// # Errors
    /// At [`Stage::Conflict`](rookery_plugin_host::Stage) when two plugins claim the same route, field or name.
    pub fn build(generation: u64, mut plugins: Vec<Arc<Active>>, mut absent: Vec<Absent>) -> Result<Self, LoadError> {
        plugins.sort_by(|a, b| a.name().cmp(b.name()));
        absent.sort_by_key(|absent| absent.id);
        let routes = crate::routes::Table::build(&plugins)?;
        let hooks = crate::hooks::Hooks::build(&plugins, &absent)?;
        Ok(Self { generation, plugins, absent, routes, hooks })
    }

    /// The plugin called `name`, if it is active.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Active>> {
        self.plugins.iter().find(|active| active.name() == name)
    }
}
