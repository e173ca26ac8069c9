//! Servers with probes: plugins that use every hook (`tests/guests/probe`) and store the events they receive.

use std::path::{Path, PathBuf};

use database::db::Engine;
use plugin_package::manifest::Moment;
use plugins::life::{self, Outcome};
use plugins::{Active, admin};
use store::plugin_event;

use crate::harness::{NO_PLUGIN_YET, TestApp};

/// A server with probes.
pub struct World {
    pub app: TestApp,
    pub folder: tempfile::TempDir,
}

/// The probe's manifest with another name and the `change`d lines.
pub fn manifest(name: &str, changes: &[(&str, &str)]) -> String {
    let mut text = std::fs::read_to_string(root().join("tests/guests/probe/plugin.toml")).unwrap();
    text = text.replace("probe", name).replace(&format!("{name}.wasm"), "probe.wasm");
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    text
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn package(folder: &Path, name: &str, changes: &[(&str, &str)]) {
    let guest = root().join("tests/guests/probe");
    let package = folder.join(name);
    for part in ["sql", "migrations"] {
        std::fs::create_dir_all(package.join(part)).unwrap();
        for file in std::fs::read_dir(guest.join(part)).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), package.join(part).join(file.file_name())).unwrap();
        }
    }
    std::fs::write(package.join("plugin.toml"), manifest(name, changes)).unwrap();
    let wasm = root().join("target/guests/probe/probe.wasm");
    std::fs::copy(wasm, package.join("probe.wasm")).expect("`make guests` builds the probe");
}

/// Only one plugin may add visibilities.
pub const NO_WORDS: (&str, &str) = ("kinds = [\"circle\"]\n", "");

impl World {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let folders = [("ROOKERY_PLUGINS_DIR", folder.path().to_str().unwrap())];
        let app = TestApp::with(&[folders.as_slice(), &NO_PLUGIN_YET].concat()).await;
        plugins::start(&app.plugins()).await;
        Self { app, folder }
    }

    /// With one unchanged probe.
    pub async fn probed() -> Self {
        let world = Self::new().await;
        world.add("probe", &[]).await;
        world
    }

    pub async fn add(&self, name: &str, changes: &[(&str, &str)]) {
        package(self.folder.path(), name, changes);
        admin::enable(&self.app.plugins(), &model::Staff::operator(), name).await.unwrap();
        let loaded = life::reload(&self.app.plugins(), name).await;
        assert!(matches!(loaded, Ok(Outcome::Loaded(_) | Outcome::Unchanged)), "{name}: {loaded:?}");
    }

    pub fn active(&self, name: &str) -> std::sync::Arc<Active> {
        let registry = self.app.plugins().registry();
        registry.plugins.iter().find(|active| active.name() == name).cloned().unwrap()
    }

    /// Number of calls of a plugin's hook, and of failed calls.
    pub fn calls(&self, name: &str, moment: Moment) -> (u64, u64) {
        let registry = self.app.plugins().registry();
        registry.hooks.of(moment, self.active(name).id).next().unwrap().calls()
    }

    /// Events received by the probe, in order: kind and detail.
    pub async fn heard(&self, name: &str) -> Vec<(String, String)> {
        let table = match self.app.db().engine() {
            Engine::Sqlite => format!("p_{name}__heard"),
            Engine::Postgres => format!("p_{name}.heard"),
        };
        self.app.db().fetch_raw(&format!("SELECT kind, detail FROM {table} ORDER BY seq")).await.unwrap()
    }

    pub async fn waiting(&self, name: &str) -> (i64, i64) {
        plugin_event::count(self.app.db(), self.active(name).id).await.unwrap()
    }
}
