//! Plugins that are enabled and not active in this process, for which events are kept.

use std::sync::Arc;

use rookery_plugin_host::LoadError;
use serde_json::Value;

use crate::active::Active;
use crate::quota::{Quota, Quotas};
use database::Db;
use model::PluginId;
use plugin_package::Manifest;

/// A plugin that is enabled and not active in this process: it failed, its package is missing, or it is in quarantine.
/// The outbox keeps the events it subscribes to.
#[derive(Clone, Debug)]
pub struct Absent {
    /// Its id in the database.
    pub id: PluginId,
    /// The manifest of the package that was active last, on any server.
    pub manifest: Arc<Manifest>,
    /// Its quota of events.
    pub events: Quota,
    text: String,
    /// The admin's limits.
    limits: Value,
}

impl PartialEq for Absent {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.text, &self.limits) == (other.id, &other.text, &other.limits)
    }
}

impl Absent {
    /// The plugin with this id, by the `text` of its manifest and the limits that the admin set.
    ///
    /// # Errors
    /// When this version of the server does not accept the manifest.
    pub fn new(db: &Db, id: PluginId, text: String, limits: Value) -> Result<Self, LoadError> {
        let manifest = plugin_package::manifest::parse(&text)?;
        let set: plugin_package::manifest::Limits = serde_json::from_value(limits.clone()).unwrap_or_default();
        let resolved = set.over(&manifest.limits).resolve().unwrap_or_default();
        let quotas = Quotas::new(db, id, &manifest, &resolved);
        Ok(Self { id, manifest: Arc::new(manifest), events: quotas.events, text, limits })
    }

    /// A plugin that is about to be unloaded.
    #[must_use]
    pub fn of(active: &Active) -> Self {
        let manifest = Arc::new(active.manifest.clone());
        let (events, text) = (active.quotas.events.clone(), active.manifest_text().to_owned());
        // Unknown here: with the limits from the database it is another, and replaced at the next look.
        Self { id: active.id, manifest, events, text, limits: Value::Null }
    }
}
