//! The server's side of the plugin boundary: which plugins are installed, where they attach, what they may reach.
//!
//! Everything that runs belongs to one immutable [`Registry`], which a request loads once and carries
//! ([`Plugins::current`]), so that an answer never mixes two generations. The sandbox itself is the crate
//! `rookery-plugin-host`; nothing here names wasmtime. Follows `PLUGINS.md`.

pub mod call;
pub mod embedded;
pub mod hooks;
pub mod json;
pub mod logs;
pub mod manifest;
pub mod order;
pub mod origin;
pub mod records;
pub mod routes;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arc_swap::ArcSwap;
use serde_json::Value;

pub use manifest::Manifest;

tokio::task_local! {
    static PINNED: Arc<Registry>;
}

/// The plugins of this process.
#[derive(Debug, Default)]
pub struct Plugins {
    /// What plugins said lately.
    pub logs: logs::Logs,
    /// What the calls of each plugin share.
    pub calls: call::Calls,
    /// Answers say which generation of which plugin they are from: in development.
    pub shows_generations: AtomicBool,
    registry: ArcSwap<Registry>,
    /// How long hooks may take on this machine.
    pub patience: hooks::budget::Patience,
}

impl Plugins {
    /// The registry of this request, or that of now outside of one.
    #[must_use]
    pub fn current(&self) -> Arc<Registry> {
        PINNED.try_with(Arc::clone).unwrap_or_else(|_| self.registry.load_full())
    }

    /// Runs `work` on the registry of now, whatever is swapped meanwhile, with one budget for all hooks that it waits for.
    pub async fn pinned<F: Future>(&self, work: F) -> F::Output {
        match PINNED.try_with(|_| ()) {
            Ok(()) => work.await,
            Err(_) => PINNED.scope(self.registry.load_full(), hooks::budget::scope(work)).await,
        }
    }

    /// Keeps that a call of `plugin` gave no answer: its `kind` (`route`, `events` …) and the `name` of what was called.
    pub fn report(&self, plugin: &Active, kind: &str, name: &str, cause: &rookery_plugin_host::CallError) {
        tracing::warn!(plugin = plugin.name(), kind, name, %cause, "a plugin gave no answer");
    }

    /// Makes `next` the registry of now. Requests that have begun keep theirs.
    pub fn swap(&self, next: Registry) {
        self.registry.store(Arc::new(next));
    }
}

/// All plugins that serve, as one thing that never changes.
#[derive(Debug, Default)]
pub struct Registry {
    /// Grows with every swap.
    pub generation: u64,
    /// In order of names.
    pub plugins: Vec<Arc<Active>>,
    /// Their routes: [`Table::build`](routes::Table::build) of `plugins`.
    pub routes: routes::Table,
    /// Who is asked when: [`Hooks::build`](hooks::Hooks::build) of `plugins`.
    pub hooks: hooks::Hooks,
}

/// The number by which a plugin is known in the database.
pub type PluginId = i64;

/// One plugin that serves.
#[derive(Debug)]
pub struct Active {
    /// Its number.
    pub id: PluginId,
    /// Its manifest.
    pub manifest: Manifest,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// The registry's generation that it came with.
    pub generation: u64,
    /// Its configuration, defaults filled in, and the version of it.
    pub config: (Value, u64),
    /// The component.
    pub component: rookery_plugin_host::Plugin,
}

impl Active {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }
}
