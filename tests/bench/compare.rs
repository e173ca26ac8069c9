//! `cargo bench -- --compare OLD NEW`: the processor time for a request of two programs, side by side.
//!
//! Both serve a copy of the same data, one after the other, five times, so that a change of the machine's speed meets both.
//! Printed are the medians, their ratio, and how far the five runs of one program lie apart: a smaller difference between the
//! two means nothing. `--no-plugins` switches the embedded plugins off, to see what the platform itself costs.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use super::load::{self, Amount, Requests};
use super::{Route, data, routes, start};

const ROUNDS: usize = 5;
/// Connections.
const CONCURRENCY: usize = 16;

/// Measures both programs and prints the table.
pub async fn compare(programs: [&str; 2], plugins: bool) {
    let folder = tempfile::tempdir().expect("a folder");
    let seeded = folder.path().join("seeded.db");
    let data = Arc::new(data::fill(&format!("sqlite://{}", seeded.display())).await);
    let names: Vec<&str> = routes(&data).iter().map(|route| route.name).collect();
    let mut measured = [vec![Vec::new(); names.len()], vec![Vec::new(); names.len()]];
    for round in 0..ROUNDS {
        for (program, all) in programs.iter().zip(&mut measured) {
            println!("round {} of {ROUNDS}: {program}", round + 1);
            let costs = measure(program, plugins, &seeded, &routes(&data)).await;
            all.iter_mut().zip(costs).for_each(|(all, cost)| all.push(cost));
        }
    }
    println!("{:<26}{:>10}{:>10}{:>8}{:>12}{:>12}", "CPU µs/req", "old", "new", "ratio", "old apart", "new apart");
    let [old, new] = measured;
    for ((name, mut old), mut new) in names.into_iter().zip(old).zip(new) {
        let ((before, wide), (after, width)) = (median(&mut old), median(&mut new));
        println!("{name:<26}{before:>10.0}{after:>10.0}{:>7.2}x{wide:>11.0}%{width:>11.0}%", after / before);
    }
}

/// The median of `runs`, and how far the lowest and the highest lie apart, in percent of it.
fn median(runs: &mut [f64]) -> (f64, f64) {
    runs.sort_by(f64::total_cmp);
    let middle = runs[runs.len() / 2];
    (middle, (runs[runs.len() - 1] - runs[0]) * 100.0 / middle)
}

/// The processor time for a request to each of `routes`, in microseconds, of `program` on a copy of `seeded`.
async fn measure(program: &str, plugins: bool, seeded: &Path, routes: &[Route]) -> Vec<f64> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bench.db");
    std::fs::copy(seeded, &file).expect("a copy of the data");
    let url = format!("sqlite://{}", file.display());
    let server =
        start(program, &url, folder.path(), &[("PLUGINS_EMBEDDED", if plugins { "true" } else { "false" })]).await;
    let db = data::open(&url).await;
    let mut costs = Vec::new();
    for route in routes {
        let (next, requests) = (Arc::new(AtomicUsize::new(0)), &route.requests);
        let run = |requests: &Requests, amount| {
            let (requests, next) = (Arc::clone(requests), Arc::clone(&next));
            async move { load::run(server.address, CONCURRENCY, amount, &requests, &next).await }
        };
        run(requests, Amount { requests: 50, time: Duration::from_secs(2) }).await;
        data::settle(&db).await;
        let before = server.cpu();
        let count = run(requests, route.amount).await.requests;
        data::settle(&db).await;
        costs.push((server.cpu() - before).as_secs_f64() * 1e6 / count.max(1) as f64);
    }
    db.close().await;
    server.stop();
    costs
}
