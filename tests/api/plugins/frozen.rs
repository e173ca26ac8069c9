//! The frozen contract of plugins, 0.1: plugins compiled against it are supported for ever.
//!
//! `tests/frozen/0.1` contains packages that were built when it was frozen and are never rebuilt, and a digest of
//! each interface. Changes of an interface belong to the next contract, in a folder next to `plugin-sdk/wit/0.1`
//! (`plugin-sdk/README.md`, versions of the contract). Interfaces of federation are frozen with federation.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use axum::http::StatusCode;
use chrono::Duration;
use plugins::admin;
use plugins::life::{self, Outcome};
use serde_json::json;

use super::examples;
use super::groups::settle;
use crate::harness::{NO_PLUGIN_YET, TestApp};

const FROZEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/frozen/0.1");

/// Not frozen yet.
const OPEN: [&str; 3] = ["federation", "activity-filter", "activity-handler"];

/// Digests of the frozen interfaces of a contract by name, without comments and spaces.
fn digests(wit: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut lines = wit.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("interface ").and_then(|rest| rest.strip_suffix(" {")) else { continue };
        let mut digest = Context::new(&SHA256);
        let mut depth = 1;
        for line in lines.by_ref().filter(|line| !line.is_empty()) {
            depth += line.matches('{').count();
            depth -= line.matches('}').count();
            if depth == 0 {
                break;
            }
            digest.update(line.split_whitespace().collect::<Vec<_>>().join(" ").as_bytes());
            digest.update(b"\n");
        }
        if !OPEN.contains(&name) {
            let hex = digest.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
            found.insert(name.to_owned(), hex);
        }
    }
    found
}

#[test]
fn frozen_interfaces_are_unchanged() {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("plugin-sdk/wit/0.1/plugin.wit");
    let now = digests(&std::fs::read_to_string(wit).unwrap());
    let frozen = std::fs::read_to_string(Path::new(FROZEN).join("interfaces.txt")).unwrap_or_default();
    let frozen: BTreeMap<String, String> = frozen
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, of)| (name.to_owned(), of.to_owned()))
        .collect();
    let changed: Vec<&String> =
        now.iter().filter(|(name, of)| frozen.get(*name) != Some(of)).map(|(name, _)| name).collect();
    let gone: Vec<&String> = frozen.keys().filter(|name| !now.contains_key(*name)).collect();
    let lines: Vec<String> = now.iter().map(|(name, of)| format!("{name} {of}")).collect();
    assert!(
        changed.is_empty() && gone.is_empty(),
        "0.1 is frozen. Changed: {changed:?}, gone: {gone:?}. A change is contract 0.2; a new interface is \
         added to tests/frozen/0.1/interfaces.txt. They are now:\n{}",
        lines.join("\n")
    );
}

/// A server on the frozen package called `name`.
async fn served(name: &str) -> (TestApp, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    examples::copy(&PathBuf::from(FROZEN).join(name), &folder.path().join(name));
    let folders = [("ROOKERY_PLUGINS_DIR", folder.path().to_str().unwrap())];
    let app = TestApp::with(&[folders.as_slice(), &NO_PLUGIN_YET].concat()).await;
    plugins::start(&app.plugins()).await;
    admin::enable(&app.plugins(), &model::Staff::operator(), name).await.unwrap();
    let loaded = life::reload(&app.plugins(), name).await;
    assert!(matches!(loaded, Ok(Outcome::Loaded(_))), "{name}: {loaded:?}");
    (app, folder)
}

#[tokio::test]
async fn plugin_compiled_against_0_1_passes_its_story() {
    let (app, _folder) = served("notes").await;
    examples::story(&app).await;
}

#[tokio::test]
async fn plugin_that_uses_nearly_all_of_0_1_is_linked_and_responds() {
    let (app, _folder) = served("cookbook").await;
    let alice = app.account("alice").await;
    let shelf = alice.post("/api/v1/shelves").form(&[("title", "birds")]).ok().await;
    let announcement = format!("/api/v1/shelves/{}/announcement", shelf["id"].as_str().unwrap());
    alice.post(&announcement).form(&[("minutes", "30")]).expect(StatusCode::ACCEPTED).await;
    app.app.clock.advance(Duration::minutes(30));
    settle(&app).await;
    let statuses = alice.get(&format!("/api/v1/accounts/{}/statuses", alice.id())).ok().await;
    assert_eq!(statuses[0]["content"], json!("<p>I keep a shelf: birds</p>"));
}
