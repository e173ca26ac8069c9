//! Common setup of the tests of groups: a server with one group, and actions on it.

use plugins::life::desired;
use plugins::life::{self, Outcome};
use plugins::start;
use serde_json::Value;

use crate::harness::{COMPILED, Client, TestApp};
use crate::routes::media::png;

/// The plugins of this repository.
pub const ALL: [&str; 10] = [
    "annual_reports",
    "antennas",
    "bookmark_categories",
    "circles",
    "collections",
    "crypto",
    "emoji_reactions",
    "invites",
    "profile",
    "reaction_deck",
];

/// All plugins except these.
pub fn all_but(left_out: &[&str]) -> impl Iterator<Item = &'static str> {
    ALL.into_iter().filter(|name| !left_out.contains(name))
}

/// A server with the embedded plugin `name` and no other.
pub async fn served(name: &str) -> TestApp {
    served_with(name, &[]).await
}

/// As [`served`], with additional configuration keys.
pub async fn served_with(name: &str, more: &[(&str, &str)]) -> TestApp {
    let keys = [("ROOKERY_PLUGINS_EMBEDDED", "false"), ("ROOKERY_PLUGINS_INSTANCES", "8"), COMPILED[0], COMPILED[1]];
    let app = TestApp::with(&[keys.as_slice(), more].concat()).await;
    start(&app.plugins()).await;
    switch_on(&app, name).await;
    app
}

/// Enables another plugin.
pub async fn switch_on(app: &TestApp, name: &str) {
    desired::change(&app.plugins(), name, |plugin| {
        plugin.enabled = true;
        Ok(())
    })
    .await
    .unwrap();
    let reports = life::follow(&app.plugins()).await;
    let report = reports.into_iter().find(|report| report.name == name).expect("build the plugins: make guests");
    assert!(matches!(report.outcome, Outcome::Loaded(_)), "{report:?}");
}

/// Disables a plugin of a running server.
pub async fn switch_off(app: &TestApp, name: &str) {
    desired::change(&app.plugins(), name, |plugin| {
        plugin.enabled = false;
        Ok(())
    })
    .await
    .unwrap();
    life::follow(&app.plugins()).await;
}

/// Runs all pending work; fails the test if an event failed in a plugin.
pub async fn settle(app: &TestApp) {
    app.run_jobs().await;
    let failed = "SELECT last_error FROM plugin_events WHERE last_error IS NOT NULL";
    assert_eq!(app.db().fetch_raw::<(String,)>(failed).await.unwrap(), []);
}

/// Names of the announced features, in both versions of the instance description.
pub async fn capabilities(app: &TestApp) -> Vec<String> {
    let names = |instance: &Value| -> Vec<String> {
        let names = instance["fedibird_capabilities"].as_array().expect("a list");
        names.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
    };
    let (old, new) =
        (app.anonymous().get("/api/v1/instance").ok().await, app.anonymous().get("/api/v2/instance").ok().await);
    assert_eq!(names(&old), names(&new));
    names(&new)
}

/// Adds custom emojis with these names, 20 by 10 pixels.
pub async fn import_emojis(app: &TestApp, names: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        std::fs::write(folder.path().join(format!("{name}.png")), png(20, 10)).unwrap();
    }
    app.run(&["emoji", "import", folder.path().to_str().unwrap()]).await.ok();
    app.app.reload().await.unwrap();
}

/// Changes the database directly, and makes the server notice.
pub async fn execute(app: &TestApp, sql: &str) {
    app.execute(sql).await;
    let mut tx = app.db().begin().await.unwrap();
    store::settings::bump_generation(&mut tx, app.app.clock.now()).await.unwrap();
    tx.commit().await.unwrap();
    app.app.reload().await.unwrap();
}

/// Stores the settings of `person` for a plugin: an object.
pub async fn settings(person: &Client, plugin: &str, members: &Value) {
    let app = &person.server;
    let account = person.id();
    execute(app, &format!("DELETE FROM plugin_settings WHERE account_id = {account}")).await;
    let text = format!(
        "INSERT INTO plugin_settings (plugin_id, account_id, value)
         SELECT p.id, {account}, '{members}' FROM plugins p WHERE p.name = '{plugin}'"
    );
    execute(app, &text).await;
    execute(app, &format!("UPDATE accounts SET version = version + 1 WHERE id = {account}")).await;
}
