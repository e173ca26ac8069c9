//! The table: each route at 1, 16 and 64 connections, next to the floor at as many.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::floor::{Floor, Share};
use crate::routes::Route;
use crate::subject::{Cost, Subject};

const CONNECTIONS: [usize; 3] = [1, 16, 64];

/// Measures `routes` and prints a line for each number of connections.
pub async fn table(subject: &Subject, routes: Vec<Route>) {
    let (floor, routes) = Floor::start(subject.address, routes).await;
    println!(
        "{:<26}{:>9}{:>7}{:>10}{:>9}{:>9}{:>10}{:>10}{:>8}{:>8}",
        "", "bytes", "conn.", "req/s", "p50 ms", "p99 ms", "CPU us", "with DB", "floor", "ratio"
    );
    for (route, share) in &routes {
        if share.bytes < route.least_bytes() {
            println!("{}: {} bytes are no full page, so what follows says nothing", route.name, share.bytes);
        }
        // Writes continue where they stopped: the first was used for the floor.
        let next = Arc::new(AtomicUsize::new(1));
        subject.warm(route, &next).await;
        for connections in CONNECTIONS {
            let cost = subject.load(route, route.amount, connections, &next).await;
            let floor = floor.load(share, connections).await;
            println!("{}", line(route, share, connections, &cost, &floor));
        }
    }
    floor.stop();
}

fn line(route: &Route, share: &Share, connections: usize, cost: &Cost, floor: &Cost) -> String {
    let (name, bytes) = match connections {
        1 => (route.name.as_str(), share.bytes.to_string()),
        _ => ("", String::new()),
    };
    let (total, least) = (cost.total(), floor.server);
    let ratio = total.zip(least).map_or("-".to_owned(), |(total, least)| format!("{:.1}x", total / least));
    format!(
        "{name:<26}{bytes:>9}{connections:>7}{:>10.0}{:>9.2}{:>9.2}{:>10}{:>10}{:>8}{ratio:>8}",
        cost.run.per_second(),
        millis(cost.run.p50),
        millis(cost.run.p99),
        micros(cost.server),
        micros(total),
        micros(least),
    )
}

/// Microseconds, with a decimal where it is significant.
fn micros(time: Option<f64>) -> String {
    match time {
        Some(time) if time < 100.0 => format!("{time:.1}"),
        Some(time) => format!("{time:.0}"),
        None => "-".to_owned(),
    }
}

pub fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
