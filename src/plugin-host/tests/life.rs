//! The life cycle of a generation: load, grants, drain.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rookery_plugin_host::exports::routes::Output;
use rookery_plugin_host::{CallErrorKind, Engine, Export, Import};

use crate::harness::*;

/// After so long a test hangs.
const HANGS: Duration = Duration::from_secs(60);

#[tokio::test]
async fn plugin_answers_and_is_measured() {
    let plugin = load("quiet").await.unwrap();
    assert_eq!((plugin.name(), plugin.version()), ("guest", "1.2.3"));
    let expected = BTreeSet::from([Export::Routes, Export::Decorate, Export::Events]);
    assert_eq!(plugin.interfaces().exports, expected);
    assert_eq!(plugin.interfaces().imports, BTreeSet::new());
    let response = get(&plugin).await.unwrap();
    assert_eq!((response.status, response.output), (200, Output::Empty));
    assert_eq!(decorate(&plugin, 1).await.unwrap(), []);
    plugin.events(Quiet::new(), Vec::new()).await.unwrap();
    plugin.self_test(Quiet::new()).await.unwrap();
    let stats = plugin.stats();
    assert_eq!((stats.calls, stats.failures, stats.idle, stats.running), (3, 0, 1, 0));
    assert_eq!(stats.instantiated, 3, "one when it was loaded, one for the route, one kept for the hooks");
    assert!(stats.memory_peak >= 128 << 10 && stats.bytes_in_peak > 0, "{stats:?}");
}

#[tokio::test]
async fn draining_waits_then_cuts_off_then_refuses() {
    let plugin = load("ask_kv").await.unwrap();
    tokio::time::pause();
    let call = |delay| {
        let plugin = plugin.clone();
        let host = Quiet::slow(Duration::from_millis(delay));
        let given_up = Arc::clone(&host.given_up);
        (tokio::spawn(async move { plugin.route(host, request("index")).await }), given_up)
    };
    let (quick, slow) = (call(100), call(60_000));
    tokio::time::sleep(Duration::from_millis(30)).await;
    plugin.drain(Duration::from_millis(400)).await;
    quick.0.await.unwrap().unwrap();
    let cut = slow.0.await.unwrap().unwrap_err();
    assert_eq!((cut.kind, cut.message.as_str()), (CallErrorKind::Drained, "the plugin was replaced while it ran"));
    assert_eq!(slow.1.load(Ordering::SeqCst), 1);
    assert_eq!(get(&plugin).await.unwrap_err().kind, CallErrorKind::Drained);
    assert_eq!((plugin.stats().running, plugin.stats().idle), (0, 0));
}

#[tokio::test]
async fn draining_cuts_off_a_guest_that_spins() {
    let plugin = load_with("loop_calls", |limits| {
        limits.route_cpu = HANGS * 60;
        limits.route_wall = HANGS * 60;
    });
    let plugin = plugin.await.unwrap();
    let spinning = plugin.clone();
    let spinning = tokio::spawn(async move { get(&spinning).await });
    tokio::time::sleep(Duration::from_millis(30)).await;
    let began = Instant::now();
    plugin.drain(Duration::from_millis(50)).await;
    assert_eq!(spinning.await.unwrap().unwrap_err().kind, CallErrorKind::Drained);
    assert!(began.elapsed() < HANGS, "{:?}", began.elapsed());
}

#[tokio::test]
async fn running_request_may_finish_while_draining() {
    let plugin = load("quiet").await.unwrap();
    let pinned = plugin.clone();
    let draining = tokio::spawn(async move { plugin.drain(HANGS * 60).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    get(&pinned).await.unwrap();
    decorate(&pinned, 1).await.unwrap();
    assert_eq!(pinned.stats().idle, 0, "nothing is kept warm any more");
    let began = Instant::now();
    drop(pinned);
    draining.await.unwrap();
    assert!(began.elapsed() < HANGS, "ends when no call holds the pool");
}

#[tokio::test]
async fn only_granted_interfaces_are_linked() {
    let mut package = package("ask_kv");
    package.granted = BTreeSet::from([Import::Cache]);
    let fault = engine().load(package.clone(), Quiet::new()).await.unwrap_err();
    let expected = "grants: guest: imports rookery:plugin/kv without the permission `storage = [\"kv\"]`: add it to \
                    plugin.toml and grant it";
    assert_eq!(fault.to_string(), expected);
    package.granted = BTreeSet::from([Import::Kv]);
    let plugin = engine().load(package, Quiet::new()).await.unwrap();
    assert_eq!(plugin.interfaces().imports, BTreeSet::from([Import::Kv]));
}

#[tokio::test]
async fn plugin_outlives_last_engine_handle() {
    let options = rookery_plugin_host::EngineOptions { instances: 2, ..options() };
    let plugin = Engine::new(options).unwrap().load(package("loop_calls"), Quiet::new()).await.unwrap();
    assert_eq!(get(&plugin).await.unwrap_err().kind, CallErrorKind::Cpu);
}

#[tokio::test]
async fn warm_instances_of_one_plugin_make_room_for_another() {
    let options = rookery_plugin_host::EngineOptions { instances: 2, ..options() };
    let engine = Engine::new(options).unwrap();
    let mut plugins = Vec::new();
    for _ in 0..4 {
        plugins.push(engine.load(package("quiet"), Quiet::new()).await.unwrap());
    }
    for _ in 0..3 {
        for plugin in &plugins {
            decorate(plugin, 1).await.unwrap();
            get(plugin).await.unwrap();
        }
    }
    assert!(plugins.iter().map(|plugin| plugin.stats().idle).sum::<u64>() <= 2);
}
