//! Verified links of profiles: pages of the same person that link back.

use chrono::Duration;
use serde_json::json;

use crate::harness::{Client, Site, TestApp};
use crate::platform::contract;

const CREDENTIALS: &str = "/api/v1/accounts/update_credentials";

/// With `server.development`, since the site has no certificate.
async fn world() -> (TestApp, Site, Client) {
    let app = TestApp::with(&[Site::KEYS[1], ("ROOKERY_SERVER_DEVELOPMENT", "true")]).await;
    let alice = app.account("alice").await;
    (app, Site::start().await, alice)
}

/// Saves these fields.
async fn save(person: &Client, fields: &[(&str, &str)]) {
    person.server.tick();
    let pair = |(number, (name, value)): (usize, &(&str, &str))| {
        ["name", "value"]
            .map(|key| format!("fields_attributes[{number}][{key}]"))
            .into_iter()
            .zip([*name, *value].map(str::to_owned))
    };
    let pairs: Vec<(String, String)> = fields.iter().enumerate().flat_map(pair).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    person.patch(CREDENTIALS).form(&pairs).ok().await;
}

/// Saves these fields and runs the jobs; returns whether each field is verified.
async fn verified(person: &Client, fields: &[(&str, &str)]) -> Vec<bool> {
    save(person, fields).await;
    person.server.run_jobs().await;
    let account = person.server.anonymous().get(&format!("/api/v1/accounts/{}", person.id())).ok().await;
    contract::check("Account", &account);
    account["fields"].as_array().unwrap().iter().map(|field| !field["verified_at"].is_null()).collect()
}

#[tokio::test]
async fn page_that_links_back_is_verified() {
    let (app, site, alice) = world().await;
    let own = site.html("/own", "<a rel='me nofollow' href='https://example.test/@alice'>me</a>");
    let head = site.with_header("/head", 200, "link", "<https://example.test/users/alice>; rel=\"me\"");
    let other = site.html("/other", "<a rel=me href='https://example.test/@bob'>me</a>");
    let text = format!("see {own}");
    let fields = [("own", &*own), ("head", &*head), ("other", &*other), ("text", &*text), ("gone", "http://10.0.0.1/")];
    assert_eq!(verified(&alice, &fields).await, [true, true, false, false, false]);
    let own_view = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(own_view["source"]["fields"][0]["verified_at"], own_view["fields"][0]["verified_at"]);
    assert_eq!(own_view["fields"][0]["verified_at"], "2026-01-15T12:00:02.000Z");
    assert_eq!((site.asked("/own"), site.asked("/other")), (1, 1));

    app.app.clock.advance(Duration::days(1));
    site.html("/own", "no longer");
    site.html("/other", "<link rel=me href='https://EXAMPLE.test/@Alice/'>");
    let fields = [("renamed", &*own), ("head", &*head), ("other", &*other)];
    assert_eq!(verified(&alice, &fields).await, [true, true, true], "verified fields stay, others are checked again");
    assert_eq!((site.asked("/own"), site.asked("/head"), site.asked("/other")), (1, 1, 2));

    let changed = format!("{own}?changed");
    assert_eq!(verified(&alice, &[("own", &*changed)]).await, [false]);
    assert_eq!(verified(&alice, &[("own", &*own)]).await, [false], "its value changed meanwhile");
    alice.patch(CREDENTIALS).json(&json!({ "display_name": "Alice" })).ok().await;
    let jobs = app.db().fetch_raw::<(i64,)>("SELECT COUNT(*) FROM jobs WHERE kind = 'verify_links'").await.unwrap();
    assert_eq!(jobs[0].0, 0, "the fields were not saved");
}

#[tokio::test]
async fn page_without_certificate_is_not_fetched() {
    let app = TestApp::with(&[Site::KEYS[1]]).await;
    let (site, alice) = (Site::start().await, app.account("alice").await);
    let own = site.html("/own", "<a rel=me href='https://example.test/@alice'>me</a>");
    let secure = own.replace("http:", "https:");
    assert_eq!(verified(&alice, &[("own", &*own), ("secure", &*secure)]).await, [false, false]);
    assert_eq!(site.asked("/own"), 0);
}

#[tokio::test]
async fn profile_that_changes_meanwhile_is_not_overwritten() {
    let (app, site, alice) = world().await;
    let own = site.html("/own", "<a rel=me href='https://example.test/@alice'>me</a>");
    save(&alice, &[("a", &*own)]).await;
    save(&alice, &[("b", "text")]).await;
    app.run_jobs().await;
    let account = alice.get("/api/v1/accounts/verify_credentials").ok().await;
    assert_eq!(account["source"]["fields"], json!([{"name": "b", "value": "text", "verified_at": null}]));
    assert_eq!(site.asked("/own"), 0);
}
