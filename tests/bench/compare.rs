//! `cargo bench -- --compare OLD NEW`: processor time per request of two programs, side by side.
//!
//! Both serve a copy of the same data, one after the other, five times, so that a change of the machine's speed
//! affects both. The output has the medians, their ratio, and the spread of the five runs of one program: a smaller
//! difference between the two is not significant. The data has the schema of the old program; the new one migrates
//! its copy. `--no-plugins` disables the embedded plugins, to measure the cost of the platform itself.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use crate::data::{self, Data, Size};
use crate::options::Options;
use crate::routes::{self, Route};
use crate::scratch::{self, Scratch};
use crate::site::Site;
use crate::subject::Subject;

const ROUNDS: usize = 5;
const CONNECTIONS: usize = 16;

/// Measures both programs on SQLite, and on PostgreSQL if configured, and prints a table for each.
pub async fn compare(programs: &[String; 2], options: &Options) {
    for server in std::iter::once(None).chain(scratch::postgres().map(Some)) {
        let seeded = Scratch::new(server.as_deref()).await;
        let data = data::prepare(&Site::new(&programs[0], &seeded, options.plugins), Size::MAIN).await;
        println!("\n{}", if server.is_some() { "PostgreSQL, its processor time included" } else { "SQLite" });
        tables(programs, options, &seeded, &data).await;
        seeded.remove().await;
    }
}

async fn tables(programs: &[String; 2], options: &Options, seeded: &Scratch, data: &Data) {
    let mut routes = routes::all(&data.targets);
    routes.retain(|route| options.wants(&route.name));
    let mut measured = [vec![Vec::new(); routes.len()], vec![Vec::new(); routes.len()]];
    for round in 0..ROUNDS {
        for (program, all) in programs.iter().zip(&mut measured) {
            println!("round {} of {ROUNDS}: {program}", round + 1);
            let copy = seeded.copy().await;
            let costs = measure(&Site::new(program, &copy, options.plugins), &routes).await;
            all.iter_mut().zip(costs).for_each(|(all, cost)| all.push(cost));
            copy.remove().await;
        }
    }
    println!("{:<26}{:>10}{:>10}{:>8}{:>12}{:>12}", "CPU us/req", "old", "new", "ratio", "old apart", "new apart");
    let [old, new] = measured;
    for ((route, mut old), mut new) in routes.iter().zip(old).zip(new) {
        let ((before, wide), (after, width)) = (median(&mut old), median(&mut new));
        let ratio = after / before;
        println!("{:<26}{before:>10.0}{after:>10.0}{ratio:>7.2}x{wide:>11.0}%{width:>11.0}%", route.name);
    }
}

/// The median of `runs`, and the spread between the lowest and the highest, in percent of it.
fn median(runs: &mut [f64]) -> (f64, f64) {
    runs.sort_by(f64::total_cmp);
    let middle = runs[runs.len() / 2];
    (middle, (runs[runs.len() - 1] - runs[0]) * 100.0 / middle)
}

/// Processor time per request to each of `routes`, in microseconds.
async fn measure(site: &Site<'_>, routes: &[Route]) -> Vec<f64> {
    let server = site.start(&[]).await;
    let db = scratch::open(site.url).await;
    let subject = Subject::new(server.address, server.id(), &db);
    let mut costs = Vec::new();
    for route in routes {
        let next = Arc::new(AtomicUsize::new(0));
        subject.warm(route, &next).await;
        let cost = subject.load(route, route.amount, CONNECTIONS, &next).await;
        costs.push(cost.total().expect("a process of ours"));
    }
    db.close().await;
    server.stop();
    costs
}
