//! Several packages of one plugin: which is chosen, and going back over a reinstall.

use plugins::admin;

use super::shelf::{Shelf, component, manifest};

/// Puts the version `version` of `notes` into the folder `folder` of the plugin folder.
fn put(shelf: &Shelf, folder: &str, version: &str) {
    let folder = shelf.app.app.config.plugins.dir.join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("plugin.toml"), manifest("notes", version, "")).unwrap();
    std::fs::write(folder.join("notes.wasm"), component(version)).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_packages_the_newest_that_may_serve_is_chosen_and_the_other_named() {
    let shelf = Shelf::new().await;
    put(&shelf, "notes-1.9.0", "1.9.0");
    shelf.enable("notes").await.unwrap();
    put(&shelf, "notes-1.10.0", "1.10.0");
    put(&shelf, "notes-1.10.0-rc.1", "1.10.0-rc.1");
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.9.0", "which the admin accepted");
    let known = admin::find(&shelf.app.app, "notes").await.unwrap();
    assert_eq!(known.waiting.unwrap().manifest.plugin.version, "1.10.0");

    admin::accept(&shelf.app.app, "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.10.0");

    put(&shelf, "notes-again", "1.10.0");
    let folder = shelf.app.app.config.plugins.dir.join("notes-again/notes.wasm");
    std::fs::write(folder, component("another")).unwrap();
    let fault = admin::find(&shelf.app.app, "notes").await.unwrap().package.unwrap_err().to_string();
    assert!(fault.contains("both hold notes 1.10.0, and differ"), "{fault}");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_development_the_newest_of_two_packages_serves() {
    let shelf = Shelf::in_development().await;
    put(&shelf, "b", "2.0.0");
    put(&shelf, "a", "1.0.0");
    shelf.enable("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "2.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_goes_back_over_a_reinstall() {
    let shelf = Shelf::new().await;
    put(&shelf, "notes", "1.0.0");
    shelf.enable("notes").await.unwrap();
    admin::uninstall(&shelf.app.app, "notes", false).await.unwrap();
    put(&shelf, "notes", "1.1.0");
    shelf.enable("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.1.0");
    admin::rollback(&shelf.app.app, "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
}
