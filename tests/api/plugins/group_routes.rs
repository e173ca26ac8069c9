//! The routes of the groups against their table in the contract, `docs/contract/extensions.csv`: each is served,
//! requires its token and scopes as a core route does, and is absent without its group.

use std::collections::BTreeSet;

use axum::http::Method;
use plugins::{admin, life};
use serde_json::json;

use super::groups::all_but;
use super::guest;
use crate::harness::{Client, NO_PLUGIN_YET, TestApp};
use crate::platform::contract::{self, Route};
use crate::platform::declarations::plain;

/// Plugins with rows in the table.
fn groups() -> impl Iterator<Item = &'static str> {
    all_but(&["invites"])
}

fn rows(group: &str) -> Vec<Route> {
    let rows: Vec<Route> = contract::extensions().into_iter().filter(|row| row.group == group).collect();
    assert!(!rows.is_empty(), "{group} has rows");
    rows
}

/// The path of a row, about `status` or the account `account` where it is about one.
fn path(row: &Route, status: &str, account: &str) -> String {
    let id = if row.path.contains("/statuses/:id") && !row.path.contains("categories/:id") {
        status
    } else if row.path.starts_with("/api/v1/accounts/:id") {
        account
    } else {
        "1"
    };
    row.path.replace(":id", id).replace(":item_id", "1").replace(":year", "2024").replace(":emoji", "%F0%9F%91%8D")
}

async fn status(client: &Client, row: &Route, path: &str) -> u16 {
    let method: Method = row.method.parse().unwrap();
    let answer = client.request(method, path).json(&json!({})).send().await;
    assert_ne!(answer.status.as_u16() / 100, 5, "{}: {}", row.name(), answer.text());
    answer.status.as_u16()
}

#[tokio::test]
async fn every_row_is_served_and_requires_its_token() {
    for group in groups() {
        let app = guest::serve(group, &[]).await;
        let [alice, bob] = app.accounts(["alice", "bob"]).await;
        let published = alice.publish("hello").await;
        if group == "collections" {
            // Readable without a token, under the id 1.
            alice.post("/api/v1/collections").json(&json!({"name": "Rooks"})).ok().await;
        }
        let (about, account) = (published["id"].as_str().unwrap(), alice.id().to_string());
        let scopes: BTreeSet<String> = rows(group).into_iter().flat_map(|row| row.scopes).collect();
        let scopes = scopes.into_iter().collect::<Vec<_>>().join(" ");
        let (nobody, application) = (app.anonymous(), app.application(&scopes).await);
        let wrong = alice.with_scopes("push").await;
        app.suspend(&bob).await;

        for row in rows(group) {
            let path = path(&row, about, &account);
            let name = format!("{group}: {}", row.name());
            let open = row.auth == "optional";
            assert_eq!(status(&nobody, &row, &path).await, if open { 200 } else { 401 }, "{name} without a token");
            assert_eq!(status(&application, &row, &path).await, if open { 200 } else { 422 }, "{name}, an application");
            assert_eq!(status(&wrong, &row, &path).await, 403, "{name} with another scope");
            assert_eq!(status(&bob, &row, &path).await, 403, "{name}, suspended");
            for scope in &row.scopes {
                let right = status(&alice.with_scopes(scope).await, &row, &path).await;
                assert!(!matches!(right, 401 | 403), "{name} with {scope}: {right}");
            }
            alice.request(Method::OPTIONS, &path).fails(404).await;
        }
    }
}

#[tokio::test]
async fn limited_federation_closes_rows_that_need_no_token() {
    let is_open = |row: &Route| row.auth == "optional";
    for group in groups().filter(|group| rows(group).iter().any(is_open)) {
        let app = guest::serve(group, &[("ROOKERY_ACCESS_LIMITED_FEDERATION", "true")]).await;
        let alice = app.account("alice").await;
        let published = alice.publish("hello").await;
        let (about, account) = (published["id"].as_str().unwrap(), alice.id().to_string());
        let (nobody, application) = (app.anonymous(), app.application("read").await);
        for row in rows(group).into_iter().filter(is_open) {
            let path = path(&row, about, &account);
            let name = format!("{group}: {}", row.name());
            for stranger in [&nobody, &application] {
                assert_eq!(status(stranger, &row, &path).await, 401, "{name}");
            }
            assert_ne!(status(&alice, &row, &path).await, 401, "{name}, a person");
        }
    }
}

#[tokio::test]
async fn disabled_group_has_no_routes() {
    for group in groups() {
        let app = guest::serve(group, &[]).await;
        let alice = app.account("alice").await;
        let published = alice.publish("hello").await;
        let (about, account) = (published["id"].as_str().unwrap(), alice.id().to_string());
        admin::disable(&app.plugins(), &model::Staff::operator(), group).await.unwrap();
        life::reload(&app.plugins(), group).await.unwrap();
        for row in rows(group) {
            assert_eq!(status(&alice, &row, &path(&row, about, &account)).await, 404, "{group}: {}", row.name());
        }
    }
}

#[tokio::test]
async fn groups_serve_only_routes_of_the_table() {
    let app = TestApp::with(&NO_PLUGIN_YET).await;
    for group in groups() {
        guest::add(&app, group).await;
    }
    let table: BTreeSet<String> =
        groups().flat_map(rows).map(|row| format!("{} {}", row.method, plain(&row.path))).collect();
    let registry = app.plugins().registry();
    let mut served = BTreeSet::new();
    for route in registry.plugins.iter().flat_map(|active| &active.manifest.routes) {
        // PUT and PATCH are interchangeable (docs/contract/rules.md#1-transport).
        let has = |wanted: &str| route.method.all().iter().any(|method| method == wanted);
        assert_eq!(has("PUT"), has("PATCH"), "{}", route.path);
        let methods = route.method.all().iter().filter(|method| *method != "PATCH");
        served.extend(methods.map(|method| format!("{method} {}", plain(&route.path))));
    }
    assert_eq!(served, table);
}

/// Everything in a response but the request id.
async fn whole(client: &Client, path: &str) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let answer = client.get(path).send().await;
    let headers = answer.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    (answer.status.as_u16(), headers.collect(), answer.body)
}

#[tokio::test]
async fn core_responses_are_identical_before_and_after_plugins() {
    let app = TestApp::with(&NO_PLUGIN_YET).await;
    let [alice, bob] = app.accounts(["alice", "bob"]).await;
    let published = alice.publish("hello @bob #tag").await;
    let about = published["id"].as_str().unwrap().to_owned();
    let paths = [
        format!("/api/v1/statuses/{about}"),
        format!("/api/v1/accounts/{}", alice.id()),
        format!("/api/v1/statuses/{about}/emoji_reactions"),
        "/api/v1/timelines/home".to_owned(),
        "/api/v1/timelines/public".to_owned(),
        "/api/v1/notifications".to_owned(),
        "/api/v1/instance".to_owned(),
        "/api/v2/instance".to_owned(),
        "/nodeinfo/2.0".to_owned(),
        "/api/v1/antennas".to_owned(),
        "/nowhere".to_owned(),
    ];
    let mut before = Vec::new();
    for path in &paths {
        before.push(whole(&bob, path).await);
    }
    for group in groups() {
        guest::add(&app, group).await;
    }
    assert_ne!(whole(&bob, "/api/v1/antennas").await, before[9], "they were on");
    for group in groups() {
        admin::disable(&app.plugins(), &model::Staff::operator(), group).await.unwrap();
        life::reload(&app.plugins(), group).await.unwrap();
    }
    for (path, before) in paths.iter().zip(before) {
        assert_eq!(whole(&bob, path).await, before, "{path}");
    }
}
