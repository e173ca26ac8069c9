//! Resource exhaustion: each call that exceeds a limit ends with the limit's name, and the plugin answers again.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rookery_plugin_host::{CallError, CallErrorKind, Limits, Stage};

use crate::harness::*;

/// How a call ended, and its message.
fn failure<T: std::fmt::Debug>(result: Result<T, CallError>) -> (CallErrorKind, String) {
    let error = result.unwrap_err();
    (error.kind, error.message)
}

fn limit(message: &str) -> (CallErrorKind, String) {
    (CallErrorKind::Limit, message.to_owned())
}

#[tokio::test]
async fn loops_end_with_their_budget() {
    let plugin = load("loop_calls").await.unwrap();
    assert_eq!(failure(get(&plugin).await), (CallErrorKind::Cpu, "cpu: used its 50 ms of guest time".to_owned()));
    assert_eq!(
        failure(decorate(&plugin, 1).await),
        (CallErrorKind::Cpu, "cpu: used its 20 ms of guest time".to_owned())
    );
}

#[tokio::test]
async fn loops_before_the_first_call_end_too() {
    for guest in ["loop_init", "loop_start"] {
        let fault = load(guest).await.unwrap_err();
        assert_eq!(fault.stage, Stage::Instantiate, "{guest}");
        let expected = "guest: does not start: cpu: used its 50 ms of guest time";
        assert!(fault.message.starts_with(expected), "{guest}: {}", fault.message);
    }
    let plugin = load("loop_realloc").await.unwrap();
    assert_eq!(failure(get(&plugin).await).0, CallErrorKind::Cpu);
    let patient = |limits: &mut Limits| (limits.route_cpu, limits.route_wall) = (HOUR, HOUR);
    let plugin = load_with("loop_self_test", patient).await.unwrap();
    let expected = (CallErrorKind::Cpu, "cpu: used its 2000 ms of guest time".to_owned());
    assert_eq!(failure(plugin.self_test(Quiet::new()).await), expected, "whatever its manifest says");
    let fault = load_with("loop_init", patient).await.unwrap_err();
    assert!(fault.message.contains("used its 2000 ms"), "{fault}");
}

const HOUR: Duration = Duration::from_secs(3_600);

#[tokio::test]
async fn refusal_to_start_is_one_line() {
    let fault = load("refuse_init").await.unwrap_err();
    assert_eq!(fault.to_string(), "instantiate: guest: does not start: init refused: no configured");
}

/// The runtime has one thread here, on which the guest spins: the timer only runs when the guest yields after a time
/// slice.
#[tokio::test]
async fn timer_runs_while_guest_spins() {
    let plugin = load_with("loop_calls", |limits| limits.route_cpu = Duration::from_secs(1)).await.unwrap();
    let spinning = tokio::spawn(async move { failure(get(&plugin).await).0 });
    let mut timers = 0;
    while !spinning.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
        timers += 1;
    }
    assert_eq!(spinning.await.unwrap(), CallErrorKind::Cpu);
    assert!(timers > 10, "{timers} timers of 1 ms while a guest span for 1 s in slices of 2 ms");
}

/// The runtime has one worker thread, which the guest gives up by `block_in_place`: other tasks run at the same time
/// and not only between its time slices.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn others_go_on_beside_a_guest_that_spins() {
    let plugin = load_with("loop_calls", |limits| limits.route_cpu = Duration::from_millis(500)).await.unwrap();
    let spinning = tokio::spawn(async move { failure(get(&plugin).await).0 });
    let turns = tokio::spawn(async move {
        let mut turns = 0_u32;
        while !spinning.is_finished() {
            tokio::task::yield_now().await;
            turns += 1;
        }
        (spinning.await.unwrap(), turns)
    });
    let (ended, turns) = turns.await.unwrap();
    println!("another task had {turns} turns while a guest span");
    assert_eq!(ended, CallErrorKind::Cpu);
    assert!(turns > 400, "{turns}: one for each slice would be at most 250");
}

#[tokio::test]
async fn bombs_end_with_their_limit() {
    let generous = |limits: &mut rookery_plugin_host::Limits| {
        limits.route_cpu = Duration::from_secs(10);
        limits.hook_cpu = Duration::from_secs(10);
        limits.memory = 160 << 20;
    };
    let memory = load_with("memory_bomb", |limits| limits.route_cpu = Duration::from_secs(10)).await.unwrap();
    assert_eq!(failure(get(&memory).await), limit("memory: asked for 32896 of 32768 KiB"));
    let table = load("table_bomb").await.unwrap();
    assert_eq!(failure(get(&table).await), limit("table: asked for 20001 of 20000 elements"));
    let stack = load("recursion_bomb").await.unwrap();
    assert_eq!(failure(get(&stack).await), limit("stack: used its 512 KiB"));
    let calls = load("call_bomb").await.unwrap();
    assert_eq!(failure(get(&calls).await), limit("host-calls: used its 1000 units, at system.now"));
    let long = load_with("long_string", generous).await.unwrap();
    assert_eq!(failure(get(&long).await), limit("bytes-out: handed over more than 4096 KiB, at once"));
    assert_eq!(failure(decorate(&long, 1).await), limit("bytes-out: handed over more than 4096 KiB, at log.emit"));
    let response = load_with("huge_response", generous).await.unwrap();
    assert_eq!(failure(get(&response).await), limit("bytes-out: handed over more than 4096 KiB, at once"));
}

#[tokio::test]
async fn log_lines_are_cut_to_thousand() {
    let plugin = load("log_bomb").await.unwrap();
    let host = Quiet::new();
    let ended = failure(plugin.route(Arc::<Quiet>::clone(&host), request("index")).await);
    assert_eq!(ended, limit("host-calls: used its 1000 units, at log.emit"));
    assert_eq!(host.lines.load(Ordering::SeqCst), 1000);
}

#[tokio::test]
async fn open_handles_are_limited() {
    let plugin = load("many_handles").await.unwrap();
    assert_eq!(failure(get(&plugin).await), limit("handles: has 64 already"));
}

#[tokio::test]
async fn too_much_from_the_host_is_refused() {
    let plugin = load_with("quiet", |limits| limits.bytes_in = 10_000).await.unwrap();
    let mut large = request("index");
    large.path = "a".repeat(10_000);
    let ended = failure(plugin.route(Quiet::new(), large).await);
    assert_eq!(ended, limit("bytes-in: the call brings more than 9 KiB"));

    let plugin = load_with("who", |limits| limits.bytes_in = 10_000).await.unwrap();
    let ended = failure(plugin.route(Quiet::with_name(&"a".repeat(10_000)), request("index")).await);
    assert_eq!(ended, limit("bytes-in: the answer of config.get goes beyond 9 KiB for each call"));

    // A function that can fail returns a failure, and the guest goes on.
    let plugin = load_with("ask_kv", |limits| limits.bytes_in = 10_000).await.unwrap();
    let host = Quiet::new();
    *host.value.lock().unwrap() = vec![1; 10_000];
    decorate_by(&plugin, host, 1).await.unwrap();
    assert!(plugin.stats().bytes_in_peak < 1_000, "{:?}", plugin.stats());
}

#[tokio::test]
async fn byte_budget_covers_whole_call() {
    // Three lines and the answer are 240 KiB: each fits, and all of them together do not.
    let plugin = load_with("both_ways", |limits| limits.bytes_out = 220 << 10).await.unwrap();
    assert_eq!(failure(get(&plugin).await), limit("bytes-out: handed over more than 220 KiB, at its answer"));
    let plugin = load_with("both_ways", |limits| limits.bytes_out = 250 << 10).await.unwrap();
    let host = Quiet::new();
    *host.value.lock().unwrap() = vec![1; 10_000];
    plugin.route(Arc::<Quiet>::clone(&host), request("index")).await.unwrap();
    // The host receives the remaining size before it builds a result: reduced by earlier results.
    let allowed = host.allowed.lock().unwrap().clone();
    assert!(allowed[0] < Limits::default().bytes_in && allowed[0] - allowed[1] >= 10_000, "{allowed:?}");
}

#[tokio::test]
async fn waiting_ends_with_the_wall() {
    let plugin = load_with("ask_kv", |limits| limits.route_wall = Duration::from_secs(50)).await.unwrap();
    tokio::time::pause();
    let host = Quiet::slow(Duration::from_secs(60));
    let ended = failure(plugin.route(Arc::<Quiet>::clone(&host), request("index")).await);
    assert_eq!(ended, (CallErrorKind::Wall, "wall: used its 50000 ms".to_owned()));
    assert_eq!(host.given_up.load(Ordering::SeqCst), 1, "the work of the host is cancelled");
    get(&plugin).await.unwrap();
}

/// The guest's budget of CPU time is a fifth of the time that it waits for.
#[tokio::test]
async fn waiting_in_a_host_function_costs_no_cpu_time() {
    let plugin = load_with("ask_kv", |limits| limits.route_cpu = Duration::from_millis(200)).await.unwrap();
    plugin.route(Quiet::slow(Duration::from_secs(1)), request("index")).await.unwrap();
}

#[tokio::test]
async fn server_panic_ends_only_the_call() {
    let plugin = load("ask_kv").await.unwrap();
    let error = decorate_by(&plugin, Quiet::slow(PANIC), 1).await.unwrap_err();
    assert_eq!(error.kind, CallErrorKind::Trap);
    assert!(error.message.contains("a bug in the server"), "{}", error.message);
    decorate(&plugin, 1).await.unwrap();
}

#[tokio::test]
async fn trap_names_its_place() {
    let plugin = load("trap_for_13").await.unwrap();
    let error = decorate(&plugin, 13).await.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (CallErrorKind::Trap, "wasm `unreachable` instruction executed"));
    assert_eq!(error.backtrace[0], "plugin::unlucky");
    assert_eq!(error.backtrace.len(), 2);
}

/// Memory is released: five rounds of the largest bombs leave less than one of them allocates.
#[tokio::test]
async fn memory_returns() {
    let roomy = |limits: &mut rookery_plugin_host::Limits| {
        limits.route_cpu = Duration::from_secs(10);
        limits.memory = 160 << 20;
    };
    let bombs = [
        load_with("memory_bomb", roomy).await.unwrap(),
        load_with("long_string", roomy).await.unwrap(),
        load_with("huge_response", roomy).await.unwrap(),
    ];
    let quiet = load("quiet").await.unwrap();
    let round = async || {
        for bomb in &bombs {
            assert_eq!(failure(get(bomb).await).0, CallErrorKind::Limit);
        }
        get(&quiet).await.unwrap();
    };
    round().await;
    let before = resident();
    for _ in 0..5 {
        round().await;
    }
    let grown = resident().saturating_sub(before);
    println!("five rounds of three bombs of 160 MiB left {} KiB more in memory", grown >> 10);
    // Other tests run in the same process, and some tens of MiB are theirs.
    assert!(grown < 100 << 20, "{grown}");
}
