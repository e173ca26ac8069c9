//! Effect of a guest that computes for a tenth of the time: the p99 of a core route, with and without it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::data::{DOMAIN, Data};
use crate::load::{self, Amount, Connection, request};
use crate::measure::millis;
use crate::process::Process;
use crate::start::median;

/// Duration and period of the guest's computations.
const BURST: Duration = Duration::from_millis(10);
const PERIOD: Duration = Duration::from_millis(100);
/// Connections of other clients.
const CONNECTIONS: usize = 4;
/// Runs of each, of which the median counts.
const RUNS: usize = 5;
const TIME: Duration = Duration::from_secs(4);

/// Measures on a server with the plugin `mirror` of the tests.
pub async fn measure(server: &Process, data: &Data) {
    let rounds = rounds(server).await;
    let (mut without, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        without.push(p99(server, data).await);
        let stop = Arc::new(AtomicBool::new(false));
        let spinning = tokio::spawn(spin(server.address, rounds, Arc::clone(&stop)));
        beside.push(p99(server, data).await);
        stop.store(true, Ordering::Relaxed);
        spinning.await.expect("a guest that spins");
    }
    let (without, beside) = (median(without.into_iter()), median(beside.into_iter()));
    println!(
        "verify_credentials beside a guest that computes {:.0} of {:.0} ms: p99 {:.2} ms, without {:.2} ms: {:+.0} %",
        millis(BURST),
        millis(PERIOD),
        millis(beside),
        millis(without),
        (millis(beside) / millis(without) - 1.0) * 100.0
    );
}

fn burst(rounds: u64) -> Vec<u8> {
    let body = format!("{{\"json\":\"1\",\"rounds\":{rounds}}}");
    request("POST", "/api/v1/mirror/answer", DOMAIN, None, Some(&body))
}

/// Number of rounds that take as long as a burst.
async fn rounds(server: &Process) -> u64 {
    const SOME: u64 = 10_000_000;
    let mut connection = Connection::open(server.address).await;
    let mut times = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        connection.ask(&burst(SOME)).await;
        times.push(begun.elapsed());
    }
    let rounds = SOME as f64 * BURST.as_secs_f64() / median(times.into_iter()).as_secs_f64();
    rounds as u64
}

async fn spin(address: std::net::SocketAddr, rounds: u64, stop: Arc<AtomicBool>) {
    let mut connection = Connection::open(address).await;
    let mut clock = tokio::time::interval(PERIOD);
    while !stop.load(Ordering::Relaxed) {
        clock.tick().await;
        connection.ask(&burst(rounds)).await;
    }
}

async fn p99(server: &Process, data: &Data) -> Duration {
    let bytes = request("GET", "/api/v1/accounts/verify_credentials", DOMAIN, Some(data.tokens()[0]), None);
    let requests: load::Requests = Arc::new(move |_| bytes.clone());
    let amount = Amount { requests: usize::MAX, time: TIME };
    load::run(server.address, CONNECTIONS, amount, &requests, &Arc::default()).await.p99
}
