//! Servers with a plugin of this repository, as built by `make guests`.

use std::path::Path;

use plugins::admin;
use plugins::life::{self, Outcome};

use crate::harness::{COMPILED, TestApp};

/// A server with the plugin `name` only.
pub async fn serve(name: &str, keys: &[(&str, &str)]) -> TestApp {
    let own = [("ROOKERY_PLUGINS_EMBEDDED", "false"), COMPILED[0], COMPILED[1]];
    let keys: Vec<_> = own.iter().chain(keys).copied().collect();
    let app = TestApp::with(&keys).await;
    add(&app, name).await;
    app
}

/// Puts the plugin `name` into the server's folder, grants its requested permissions, and enables it.
pub async fn add(app: &TestApp, name: &str) {
    put(app, name, "");
    enable(app, name).await;
}

/// Puts the plugin `name` into the server's folder, with `more` in its manifest.
pub fn put(app: &TestApp, name: &str, more: &str) {
    let folder = app.app.config.plugins.dir.join(name);
    copy_built(name, &folder);
    let manifest = std::fs::read_to_string(folder.join("plugin.toml")).unwrap();
    std::fs::write(folder.join("plugin.toml"), format!("{manifest}\n{more}")).unwrap();
}

/// Grants the requested permissions of a plugin, and enables it.
pub async fn enable(app: &TestApp, name: &str) {
    admin::enable(&app.plugins(), &model::Staff::operator(), name).await.unwrap();
    admin::grant(&app.plugins(), &model::Staff::operator(), name).await.unwrap();
    let outcome = life::reload(&app.plugins(), name).await;
    assert!(matches!(outcome, Ok(Outcome::Loaded(_))), "{outcome:?}");
}

/// Copies the built package `name` to `folder`.
pub fn copy_built(name: &str, folder: &Path) {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/guests").join(name);
    assert!(built.exists(), "`make guests` builds {name}");
    copy(&built, folder);
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
