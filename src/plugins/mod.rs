//! The server's side of the plugin boundary: which plugins are installed, where they attach, what they may reach.
//!
//! Everything that runs belongs to one immutable [`Registry`], which a request loads once and carries
//! ([`Plugins::current`]), so that an answer never mixes two generations. The sandbox itself is the crate
//! `rookery-plugin-host`; nothing here names wasmtime. Follows `PLUGINS.md`.

pub mod admin;
pub mod call;
pub mod desired;
pub mod embedded;
pub mod error;
pub mod hooks;
pub mod json;
pub mod life;
pub mod logs;
pub mod manifest;
pub mod observed;
pub mod order;
pub mod origin;
pub mod package;
pub mod pause;
mod pipeline;
pub mod records;
pub mod routes;
pub mod settings;
pub mod source;
pub mod sql;
pub mod tend;
pub mod watch;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use rookery_plugin_host::{CallError, Engine, Fault};
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};
use tokio::time::Instant;

pub use life::{reload, start};
pub use manifest::Manifest;
pub use package::Package;

use crypto::Secret;
use model::clock::Clock;

tokio::task_local! {
    static PINNED: Arc<Registry>;
}

/// The plugins of this process.
#[derive(Debug)]
pub struct Plugins {
    clock: Clock,
    /// What plugins said lately.
    pub logs: logs::Logs,
    /// What the calls of each plugin share.
    pub calls: call::Calls,
    /// Answers say which generation of which plugin they are from: in development.
    pub shows_generations: AtomicBool,
    registry: ArcSwap<Registry>,
    /// What plugins say of the server.
    pub said: hooks::instance::Said,
    /// What they said of statuses.
    pub kept: hooks::Kept,
    /// How long hooks may take on this machine.
    pub patience: hooks::budget::Patience,
    /// Where each stands, on this node.
    pub observed: observed::Observations,
    /// Which wait for their tables.
    pub pauses: pause::Pauses,
    /// Made with the first plugin.
    engine: OnceCell<Engine>,
    /// The settings' generation whose plugins this process serves.
    followed: AtomicI64,
    /// Some are on, and another process serves them.
    elsewhere: AtomicBool,
    /// Held while plugins are loaded or unloaded.
    works: Mutex<()>,
}

impl Plugins {
    /// None yet.
    #[must_use]
    pub fn new(clock: Clock, development: bool) -> Self {
        Self {
            clock,
            logs: logs::Logs::default(),
            calls: call::Calls::default(),
            shows_generations: AtomicBool::new(development),
            registry: ArcSwap::default(),
            said: hooks::instance::Said::default(),
            kept: hooks::Kept::default(),
            patience: hooks::budget::Patience::default(),
            observed: observed::Observations::default(),
            pauses: pause::Pauses::default(),
            engine: OnceCell::new(),
            followed: AtomicI64::new(0),
            elsewhere: AtomicBool::new(false),
            works: Mutex::new(()),
        }
    }

    /// True for a command beside the server, while plugins are on.
    #[must_use]
    pub fn are_elsewhere(&self) -> bool {
        self.elsewhere.load(Ordering::Relaxed)
    }

    /// The registry of this request, or that of now outside of one.
    #[must_use]
    pub fn current(&self) -> Arc<Registry> {
        PINNED.try_with(Arc::clone).unwrap_or_else(|_| self.registry.load_full())
    }

    /// The registry of now, also inside a request: for what changes it, or tells what became of a change.
    #[must_use]
    pub fn latest(&self) -> Arc<Registry> {
        self.registry.load_full()
    }

    /// Runs `work` on the registry of now, whatever is swapped meanwhile, with one budget for all hooks that it waits for.
    pub async fn pinned<F: Future>(&self, work: F) -> F::Output {
        match PINNED.try_with(|_| ()) {
            Ok(()) => work.await,
            Err(_) => PINNED.scope(self.registry.load_full(), hooks::budget::scope(work)).await,
        }
    }

    /// As [`Plugins::pinned`], on the registry of now even for a request that carries another.
    pub async fn pinned_anew<F: Future>(&self, work: F) -> F::Output {
        PINNED.scope(self.newest(), work).await
    }

    /// The registry of now, whatever this request carries: for what loads and unloads.
    fn newest(&self) -> Arc<Registry> {
        self.registry.load_full()
    }

    /// Makes `next` the registry of now. Requests that have begun keep theirs.
    pub fn swap(&self, next: Registry) {
        self.registry.store(Arc::new(next));
    }

    /// Keeps that a call of `plugin` gave no answer: its `kind` (`route`, `events` …) and the `name` of what was called. One
    /// that was not let in is nothing new: what the plugin did before is what an admin looks for.
    pub fn report(&self, plugin: &Active, kind: &str, name: &str, cause: &CallError) {
        if !cause.entered() {
            tracing::debug!(plugin = plugin.name(), kind, name, %cause, "a plugin was not called");
            return;
        }
        tracing::warn!(plugin = plugin.name(), kind, name, %cause, "a plugin gave no answer");
        let failed = observed::Failed::new(self.clock.now(), kind, name, plugin.generation, cause);
        self.observed.failed(plugin.name(), failed);
    }
}

/// All plugins that serve, and for whom else it is kept what happens, as one thing that never changes.
#[derive(Debug, Default)]
pub struct Registry {
    /// Grows with every plugin that is loaded or unloaded.
    pub generation: u64,
    /// In order of names.
    pub plugins: Vec<Arc<Active>>,
    /// Those that are on and do not serve here, in order of their numbers.
    pub absent: Vec<Absent>,
    /// Their routes: [`Table::build`](routes::Table::build) of `plugins`.
    pub routes: routes::Table,
    /// Who is asked when: [`Hooks::build`](hooks::Hooks::build) of `plugins` and `absent`.
    pub hooks: hooks::Hooks,
}

impl Registry {
    /// The registry of `plugins`, with everything that they share: routes, hooks, names.
    ///
    /// # Errors
    /// At [`Stage::Collide`](rookery_plugin_host::Stage) when two claim the same.
    pub fn build(generation: u64, mut plugins: Vec<Arc<Active>>, mut absent: Vec<Absent>) -> Result<Self, Fault> {
        plugins.sort_by(|a, b| a.name().cmp(b.name()));
        absent.sort_by_key(|absent| absent.id);
        let routes = routes::Table::build(&plugins)?;
        let hooks = hooks::Hooks::build(&plugins, &absent)?;
        Ok(Self { generation, plugins, absent, routes, hooks })
    }

    /// The plugin called `name`, if it serves.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Arc<Active>> {
        self.plugins.iter().find(|active| active.name() == name)
    }
}

pub use model::PluginId;

/// One plugin that serves.
#[derive(Debug)]
pub struct Active {
    /// Its number.
    pub id: PluginId,
    /// Its manifest.
    pub manifest: Manifest,
    /// SHA-256 of the component, hexadecimal.
    pub sha256: String,
    /// SHA-256 of the package, hexadecimal: what changes when anything of it does.
    pub digest: String,
    /// Where the package was read.
    pub origin: package::Origin,
    /// The package's files by path, the manifest among them.
    pub files: BTreeMap<String, Arc<[u8]>>,
    /// The manifest's limits, and the admin's over them.
    pub limits: manifest::Resolved,
    /// The secrets that the admin set, of those that the manifest names.
    pub secrets: BTreeMap<String, Secret>,
    /// The JSON Schema of what accounts set for it.
    pub settings: Option<Value>,
    /// The registry's generation that it came with.
    pub generation: u64,
    /// Its configuration, defaults filled in, and the version of it.
    pub config: (Value, u64),
    /// Its statements.
    pub sql: Option<sql::Statements>,
    /// How much it keeps, in tables and small values.
    pub quota: sql::Quota,
    /// The component.
    pub component: rookery_plugin_host::Plugin,
    /// Its tables were changed in a way that it cannot live with.
    pub over: AtomicBool,
}

impl Active {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.manifest.plugin.name
    }

    /// From now on nothing calls it, not even a request that began with it: its tables are no longer those that it knows.
    pub fn end(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// True when nothing may call it any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Waits for the calls that still run, but not for ever.
    pub async fn rest(&self) {
        let until = Instant::now() + life::DRAIN;
        while self.component.stats().running > 0 && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Its manifest, as its author wrote it.
    #[must_use]
    pub fn manifest_text(&self) -> &str {
        let file = self.files.get(package::MANIFEST);
        file.and_then(|file| std::str::from_utf8(file).ok()).unwrap_or_default()
    }
}

/// A plugin that is on and does not serve in this process: it failed, its package is missing, or it was put aside. What it
/// asked to hear is kept for it.
#[derive(Clone, Debug)]
pub struct Absent {
    /// Its number.
    pub id: PluginId,
    /// That of the package that served last, on whatever server.
    pub manifest: Arc<Manifest>,
    text: String,
}

impl PartialEq for Absent {
    fn eq(&self, other: &Self) -> bool {
        (self.id, &self.text) == (other.id, &other.text)
    }
}

impl Absent {
    /// The plugin of this number, by the `text` of its manifest.
    ///
    /// # Errors
    /// When the manifest is none, for this version of the server.
    pub fn new(id: PluginId, text: String) -> Result<Self, Fault> {
        Ok(Self { id, manifest: Arc::new(manifest::parse(&text)?), text })
    }

    /// A plugin that is about to serve no longer.
    #[must_use]
    pub fn of(active: &Active) -> Self {
        let manifest = Arc::new(active.manifest.clone());
        Self { id: active.id, manifest, text: active.manifest_text().to_owned() }
    }
}
