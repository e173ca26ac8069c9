//! An active generation of a plugin: the loaded package, with its limits, statements and compiled component.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::quota::Quotas;
use crypto::Secret;
use model::PluginId;
use plugin_package::Manifest;

/// How long a replaced generation may drain: calls still running after that are cut off.
pub(crate) const DRAIN: Duration = Duration::from_secs(10);

/// A generation of a plugin that is active, or was when a request pinned it.
#[derive(Debug)]
pub struct Active {
    /// Its id in the database.
    pub id: PluginId,
    pub manifest: Manifest,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the package, hexadecimal: differs when any file of it does.
    pub digest: String,
    /// Where the package was read.
    pub origin: plugin_package::package::Origin,
    /// The package's files by path, the manifest among them.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// The manifest's limits, overridden by the admin's.
    pub limits: plugin_package::manifest::Resolved,
    /// The secrets named by the manifest that the admin set.
    pub secrets: BTreeMap<String, Secret>,
    /// The schema of each account's settings for it.
    pub settings: Option<crate::settings::SettingsSchema>,
    /// The registry's generation that activated it.
    pub generation: u64,
    /// Its configuration, defaults filled in, and the version of that.
    pub config: (Value, u64),
    pub sql: Option<crate::sql::Statements>,
    /// Its storage quotas.
    pub quotas: Quotas,
    /// The compiled component.
    pub component: rookery_plugin_host::Plugin,
    /// Its tables changed in a way that it cannot run on.
    pub over: AtomicBool,
}

impl Active {
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// Ends this generation: nothing calls it from now on, not even a request that pinned it, because its tables
    /// changed.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// True after [`Active::end`].
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Waits for running calls to end, for [`DRAIN`] at most.
    pub async fn rest(&self) {
        let until = Instant::now() + DRAIN;
        while self.component.stats().running > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The text of its manifest.
    #[must_use]
    pub fn manifest_text(&self) -> &str {
        let file = self.files.get(plugin_package::package::MANIFEST);
        file.and_then(|file| std::str::from_utf8(file).ok()).unwrap_or_default()
    }
}
