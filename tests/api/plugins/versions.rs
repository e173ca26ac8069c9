//! Versions of one plugin: roll-back across a reinstall.

use plugins::admin;

use super::shelf::{Shelf, component, manifest};

#[tokio::test(flavor = "multi_thread")]
async fn rollback_works_across_reinstall() {
    let shelf = Shelf::new().await;
    shelf.put_component("notes", &manifest("notes", "1.0.0", ""), &component("one"));
    shelf.enable("notes").await.unwrap();
    plugins::install::uninstall(&shelf.app.plugins(), &model::Staff::operator(), "notes", false).await.unwrap();
    shelf.put_component("notes", &manifest("notes", "1.1.0", ""), &component("two"));
    shelf.enable("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.1.0");
    admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
}
