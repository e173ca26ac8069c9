//! Generated requests to routes outside the core's table: routes of plugins, streams, and settings pages with a
//! session.

use axum::http::{StatusCode, header};

use super::{Target, Wild, World, draw, fault, parameters, requests};
use crate::harness::{Browser, COMPILED, TestApp, form_fields};
use crate::platform::contract;
use crate::platform::declarations::{plain, routed};
use crate::plugins::groups::ALL;
use crate::plugins::guest;

/// Fraction of the requests: each request to a plugin's routes costs a call.
const PART: u32 = 5;

fn report(faults: &[String], sent: u32) {
    let shown: Vec<_> = faults.iter().take(15).cloned().collect();
    assert!(faults.is_empty(), "{} of {sent} requests got a wrong answer:\n  {}", faults.len(), shown.join("\n  "));
}

fn told(wild: &Wild, fault: &str) -> String {
    let body: String = String::from_utf8_lossy(&wild.body).chars().take(300).collect();
    let path: String = wild.path.chars().take(300).collect();
    format!("{} {path}\n    {} {body:?}\n    -> {fault}", wild.method, wild.content_type)
}

#[tokio::test]
async fn generated_plugin_requests_are_answered() {
    let keys = [("ROOKERY_PLUGINS_EMBEDDED", "false"), COMPILED[0], COMPILED[1]];
    let app = TestApp::with(&keys).await;
    for group in ALL {
        guest::add(&app, group).await;
    }
    let world = World::on(app).await;
    let rows = contract::extensions().into_iter().filter(|row| ALL.contains(&row.group.as_str()));
    let targets = rows.map(|row| Target {
        method: row.method.clone(),
        path: plain(&row.path),
        parameters: parameters(&row.params).collect(),
    });
    let (mut faults, mut served, requests) = (Vec::new(), 0, super::cases() / PART);
    for wild in draw(requests_of(targets.collect(), &world), requests) {
        let Some(answer) = world.send(&wild).await else { continue };
        served += u32::from(answer.status == StatusCode::OK);
        faults.extend(fault(&wild, &answer).map(|fault| told(&wild, &fault)));
    }
    report(&faults, requests);
    assert!(served > requests / 40, "the requests reach too little: {served} of {requests}");
}

fn requests_of(targets: Vec<Target>, world: &World) -> impl proptest::strategy::Strategy<Value = Wild> + use<> {
    requests(targets, world.ids.clone())
}

#[tokio::test]
async fn generated_stream_requests_are_answered() {
    let world = World::new().await;
    let channels = [
        "",
        "/",
        "/health",
        "/user",
        "/user/notification",
        "/public",
        "/public/local",
        "/public/media",
        "/public/local/media",
        "/public/remote",
        "/public/remote/media",
        "/hashtag",
        "/hashtag/local",
        "/list",
        "/direct",
        "/antenna",
        "/:nothing",
    ];
    let targets = channels.map(|channel| Target {
        method: "GET".to_owned(),
        path: format!("/api/v1/streaming{channel}"),
        parameters: ["stream", "tag", "list", "antenna", "only_media", "access_token"].map(str::to_owned).into(),
    });
    let (mut faults, mut opened, requests) = (Vec::new(), 0, super::cases() / PART);
    for wild in draw(requests_of(targets.into(), &world), requests) {
        let Some(request) = world.request(&wild) else { continue };
        let response = world.app.open(request).await;
        // Streams do not end, so their bodies are not read.
        opened +=
            u32::from(response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream"));
        if response.status().is_server_error() {
            faults.push(told(&wild, response.status().as_str()));
        }
    }
    report(&faults, requests);
    assert!(opened > requests / 20, "the requests open too few streams: {opened} of {requests}");
}

#[tokio::test]
async fn generated_settings_requests_are_answered() {
    let world = World::new().await;
    let mut browser = Browser::signed_in(&world.app, "alice").await;
    let rows = contract::routes();
    let names = rows.iter().flat_map(|row| parameters(&row.params)).collect::<std::collections::BTreeSet<String>>();
    let forms = ["kind", "overwrite", "password", "password_confirmation", "id", "title", "csrf"].map(str::to_owned);
    let parameters: Vec<String> = names.into_iter().chain(forms).collect();
    let pages: Vec<Target> = routed()
        .iter()
        .filter_map(|name| name.split_once(' '))
        .filter(|(_, path)| path.starts_with("/settings"))
        .map(|(method, path)| Target { method: method.into(), path: path.into(), parameters: parameters.clone() })
        .collect();
    assert!(pages.len() > 15, "{pages:?}");
    let (mut faults, mut shown, requests) = (Vec::new(), 0, super::cases() / PART);
    let mut token = form_fields(&browser.get("/settings/transfer").await.text(), "/settings/transfer");
    for wild in draw(requests_of(pages, &world), requests) {
        let mut wild = wild;
        // With the token of the forms: its absence would hide all other errors.
        if wild.content_type == "application/x-www-form-urlencoded" {
            let hidden = url::form_urlencoded::Serializer::new("&".to_owned()).extend_pairs(&token).finish();
            wild.body.extend(hidden.into_bytes());
        }
        let Some(request) = world.request(&Wild { token: 0, ..wild.clone() }) else { continue };
        let answer = browser.carry(request).await;
        shown += u32::from(answer.status == StatusCode::OK);
        faults.extend(fault(&wild, &answer).map(|fault| told(&wild, &fault)));
        if answer.status == StatusCode::FOUND && answer.header("location").contains("sign_in") {
            browser = Browser::signed_in(&world.app, "alice").await;
            token = form_fields(&browser.get("/settings/transfer").await.text(), "/settings/transfer");
        }
    }
    report(&faults, requests);
    assert!(shown > requests / 20, "the requests reach too little: {shown} of {requests}");
}
