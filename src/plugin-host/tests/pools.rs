//! The instance pool: isolation between calls, recycling, the queue; and the circuit breaker.
//!
//! A test that pauses time does so once its plugin is loaded, since compiling takes real time.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rookery_plugin_host::exports::routes::Output;
use rookery_plugin_host::{BreakerState, CallErrorKind, Part};

use crate::harness::*;

#[tokio::test]
async fn trap_does_not_affect_next_call() {
    let plugin = load("trap_for_13").await.unwrap();
    for account in 1..40 {
        let unlucky = account == 13;
        assert_eq!(decorate(&plugin, account).await.is_err(), unlucky, "account {account}");
    }
    let stats = plugin.stats();
    assert_eq!((stats.calls, stats.failures, stats.instantiated, stats.discarded), (39, 1, 3, 1));
}

#[tokio::test]
async fn shared_instance_keeps_answers_apart() {
    let plugin = load_with("who", one_pooled).await.unwrap();
    let hosts = [Quiet::with_name("alice"), Quiet::with_name("bob")];
    for turn in 0..10_000 {
        let (host, name) = (&hosts[turn % 2], ["\"alice\"", "\"bob\""][turn % 2]);
        let response = plugin.route(Arc::<Quiet>::clone(host), request("index")).await.unwrap();
        assert_eq!(response.output, Output::Json(name.to_owned()), "turn {turn}");
    }
    assert_eq!(Arc::strong_count(&hosts[0]), 1, "an instance that waits holds nothing of the last call");
    assert!(plugin.stats().recycled >= 9, "recycled after 1,000 calls each");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_concurrent_callers_share_few_instances() {
    let plugin = load_with("who", |limits| {
        limits.route_policy = rookery_plugin_host::InstancePolicy::Pooled;
        limits.queue_wait = Duration::from_secs(30);
    });
    let plugin = plugin.await.unwrap();
    let callers: Vec<_> = (0..32)
        .map(|caller| {
            let (plugin, host) = (plugin.clone(), Quiet::with_name(&format!("caller {caller}")));
            tokio::spawn(async move {
                for _ in 0..50 {
                    let response = plugin.route(Arc::<Quiet>::clone(&host), request("index")).await.unwrap();
                    assert_eq!(response.output, Output::Json(format!("\"caller {caller}\"")));
                }
            })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    let stats = plugin.stats();
    assert_eq!((stats.calls, stats.failures, stats.running, stats.waiting), (1600, 0, 0, 0));
    assert!(stats.idle <= 4, "{stats:?}");
}

#[tokio::test]
async fn instances_retire_by_age_and_memory() {
    let plugin = load_with("quiet", |limits| limits.recycle_age = Duration::from_millis(30)).await.unwrap();
    decorate(&plugin, 1).await.unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    decorate(&plugin, 1).await.unwrap();
    assert!(plugin.stats().recycled >= 1);

    let plugin = load_with("memory_hoard", |limits| limits.memory = 1 << 20).await.unwrap();
    for _ in 0..100 {
        decorate(&plugin, 1).await.unwrap();
    }
    let stats = plugin.stats();
    assert!(stats.recycled >= 7, "{stats:?}");
    assert!(stats.memory_peak <= 1 << 20, "{stats:?}");
}

#[tokio::test]
async fn full_pool_queues_and_then_refuses() {
    let plugin = load_with("ask_kv", |limits| {
        limits.instances = 1;
        limits.queue = 1;
        limits.queue_wait = Duration::from_millis(100);
    });
    let plugin = plugin.await.unwrap();
    tokio::time::pause();
    let host = Quiet::slow(Duration::from_millis(400));
    let calls: Vec<_> = (0..3)
        .map(|_| {
            let (plugin, host) = (plugin.clone(), Arc::<Quiet>::clone(&host));
            tokio::spawn(async move { plugin.route(host, request("index")).await })
        })
        .collect();
    let mut ended = Vec::new();
    for call in calls {
        ended.push(call.await.unwrap().map_err(|error| (error.kind, error.message)).map(|_| ()));
    }
    assert_eq!(ended.iter().filter(|ended| ended.is_ok()).count(), 1);
    let busy = |message: &str| Err((CallErrorKind::Busy, message.to_owned()));
    assert!(ended.contains(&busy("queue: 1 calls wait already")), "{ended:?}");
    assert!(ended.contains(&busy("queue: none of 1 places came free in 100 ms")), "{ended:?}");
    *host.delay.lock().unwrap() = Duration::ZERO;
    plugin.route(host, request("index")).await.unwrap();
}

#[tokio::test]
async fn slow_routes_leave_the_instances_of_hooks_alone() {
    let plugin = load_with("ask_kv", |limits| limits.queue_wait = Duration::from_millis(100)).await.unwrap();
    tokio::time::pause();
    let slow = Quiet::slow(Duration::from_secs(60));
    let routes: Vec<_> = (0..4)
        .map(|_| {
            let (plugin, host) = (plugin.clone(), Arc::<Quiet>::clone(&slow));
            tokio::spawn(async move { plugin.route(host, request("index")).await })
        })
        .collect();
    while plugin.stats().running < 4 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(get(&plugin).await.unwrap_err().kind, CallErrorKind::Busy, "no place is left for a route");
    decorate(&plugin, 1).await.expect("hooks have places of their own");
    routes.iter().for_each(tokio::task::JoinHandle::abort);
}

#[tokio::test]
async fn part_that_keeps_the_database_busy_is_not_called_for_a_while() {
    let plugin = load_with("quiet", |limits| limits.database = Duration::from_secs(2)).await.unwrap();
    plugin.used_database(Part::Routes, Duration::from_secs(2));
    get(&plugin).await.unwrap();
    plugin.used_database(Part::Routes, Duration::from_millis(1));
    let refused = get(&plugin).await.unwrap_err();
    assert_eq!(refused.kind, CallErrorKind::Open);
    let limit = "db-time: routes used more than 2000 ms within a minute: open for another ";
    assert!(refused.message.starts_with(limit), "{}", refused.message);
    decorate(&plugin, 1).await.expect("hooks have a budget of their own");
    assert!(plugin.check_database(Part::Filters).is_ok() && plugin.check_database(Part::Jobs).is_ok());
    plugin.self_test(Quiet::new()).await.expect("a candidate is tested all the same");
    assert_eq!(plugin.stats().database, Duration::from_millis(2001));
    let report = plugin.breakers().into_iter().find(|breaker| breaker.kind == "database").unwrap();
    assert_eq!((report.name.as_str(), report.state, report.openings), ("routes", BreakerState::Open, 1));
}

#[tokio::test]
async fn cancelled_caller_frees_its_place() {
    let plugin = load_with("ask_kv", one_pooled).await.unwrap();
    tokio::time::pause();
    let host = Quiet::slow(Duration::from_secs(60));
    let call = plugin.route(Arc::<Quiet>::clone(&host), request("index"));
    tokio::time::timeout(Duration::from_millis(50), call).await.unwrap_err();
    assert_eq!(host.given_up.load(Ordering::SeqCst), 1);
    assert_eq!((plugin.stats().running, plugin.stats().idle), (0, 0));
    get(&plugin).await.unwrap();
}

#[tokio::test]
async fn breaker_opens_on_failures_and_closes_again() {
    let plugin = load("trap_for_13").await.unwrap();
    let unlucky = Quiet::new();
    unlucky.version.store(13, Ordering::SeqCst);
    for _ in 0..20 {
        let error = plugin.route(Arc::<Quiet>::clone(&unlucky), request("index")).await.unwrap_err();
        assert_eq!(error.kind, CallErrorKind::Trap);
    }
    let refused = get(&plugin).await.unwrap_err();
    assert_eq!(refused.kind, CallErrorKind::Open);
    assert!(refused.message.starts_with("breaker: open for another "), "{}", refused.message);
    plugin.route(Quiet::new(), request("another")).await.unwrap();
    decorate(&plugin, 1).await.unwrap();
    let reports = plugin.breakers();
    let states: Vec<_> = reports.iter().map(|report| (report.kind, report.name.as_str(), report.state)).collect();
    let expected = [
        ("hook", "decorate", BreakerState::Closed),
        ("route", "another", BreakerState::Closed),
        ("route", "index", BreakerState::Open),
    ];
    assert_eq!(states, expected);
    assert!(reports.iter().all(|report| !report.needs_quarantine));

    tokio::time::sleep(Duration::from_millis(5_050)).await;
    get(&plugin).await.unwrap();
    get(&plugin).await.unwrap();
    assert!(plugin.breakers().iter().all(|report| report.state == BreakerState::Closed));
}

#[tokio::test]
async fn failures_of_the_guest_count_from_500_on() {
    let plugin = load("fail_500").await.unwrap();
    for _ in 0..20 {
        let error = get(&plugin).await.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (CallErrorKind::Failure, "failure 500 test: oh no"));
        assert_eq!(error.failure.unwrap().status, 500);
    }
    assert_eq!(get(&plugin).await.unwrap_err().kind, CallErrorKind::Open);
}
