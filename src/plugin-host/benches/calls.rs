//! `cargo bench -p rookery-plugin-host`: the overhead of a call into a plugin and of a host function, in microseconds,
//! best of several runs.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "a table is what this is for")]
#![allow(dead_code, reason = "the tests' harness has more than is needed here")]

#[path = "../tests/harness.rs"]
mod harness;

use std::time::{Duration, Instant};

use harness::*;
use rookery_plugin_host::exports::events::{Event, Subject};
use rookery_plugin_host::imports::types::Status;
use rookery_plugin_host::{Engine, EngineOptions, InstancePolicy, Limits, Plugin};

/// Calls in one run, and number of runs.
const CALLS: u32 = 2_000;
const RUNS: u32 = 25;

async fn measure(what: &str, aim: &str, mut call: impl AsyncFnMut()) -> f64 {
    let mut best = Duration::MAX;
    for _ in 0..RUNS {
        let began = Instant::now();
        for _ in 0..CALLS {
            call().await;
        }
        best = best.min(began.elapsed() / CALLS);
    }
    let micros = best.as_secs_f64() * 1e6;
    println!("{what:<48} {micros:>8.2} µs   {aim}");
    micros
}

async fn optimised(name: &str, change: impl FnOnce(&mut Limits)) -> Plugin {
    let mut package = package(name);
    package.limits.host_calls = 100_000;
    change(&mut package.limits);
    let engine = Engine::new(EngineOptions { quick: false, ..options() }).unwrap();
    engine.load(package, Quiet::new()).await.unwrap()
}

/// A status of typical length.
fn status(id: i64) -> Status {
    Status {
        id,
        account: id + 1,
        domain: Some("elsewhere.example".to_owned()),
        uri: format!("https://elsewhere.example/users/someone/statuses/{id}"),
        created_at: 1_700_000_000_000,
        visibility: 0,
        searchability: "public".to_owned(),
        text: "Nothing to see here, only words. ".repeat(15),
        language: Some("en".to_owned()),
        sensitive: false,
        local: false,
        reply_to: None,
        reply_to_account: None,
        reblog_of: None,
        quote_of: None,
        tags: vec!["rookery".to_owned(), "birds".to_owned()],
        mentions: vec![id + 2, id + 3],
        media_count: 1,
        has_poll: false,
        extra: None,
    }
}

async fn all() {
    let pooled = |limits: &mut Limits| limits.route_policy = InstancePolicy::Pooled;
    let quiet = optimised("quiet", pooled).await;
    let fresh = optimised("quiet", |_| {}).await;
    let host = Quiet::new();
    measure("no-op call, pooled instance", "aim: under 5", async || {
        decorate_by(&quiet, host.clone(), 1).await.unwrap();
    })
    .await;
    measure("no-op route, pooled instance", "", async || {
        quiet.route(host.clone(), request("index")).await.unwrap();
    })
    .await;
    measure("no-op route, fresh instance", "aim: under 50", async || {
        fresh.route(host.clone(), request("index")).await.unwrap();
    })
    .await;
    let events: Vec<_> = (0..40).map(event).collect();
    measure("40 statuses handed over as events", "", async || {
        quiet.events(host.clone(), events.clone()).await.unwrap();
    })
    .await;
    let many = optimised("many_calls", |_| {}).await;
    let none = measure("a hook that asks nothing", "", async || {
        decorate_by(&many, host.clone(), 0).await.unwrap();
    })
    .await;
    let hundred = measure("the same, asking 100 times", "", async || {
        decorate_by(&many, host.clone(), 100).await.unwrap();
    })
    .await;
    println!("{:<48} {:>8.3} µs", "one call of the host", (hundred - none) / 100.0);
}

fn event(id: i64) -> Event {
    let (kind, subject) = ("status.created".to_owned(), Subject::Status(status(id)));
    Event { seq: 1, kind, at: 1_700_000_000_000, actor: Some(1), subject }
}

fn main() {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(all());
}
