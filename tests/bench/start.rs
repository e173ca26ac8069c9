//! Start: its duration, the first page after it, and memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::Process;
use crate::site::Site;
use crate::targets::Targets;

/// Number of starts.
const STARTS: usize = 5;
/// Time within which the work queued by a start is done.
const QUIET: Duration = Duration::from_secs(2);

/// A single request: its duration and processor time.
#[derive(Clone, Copy, Debug)]
struct Single {
    time: Duration,
    cpu: Duration,
}

/// Starts the server a few times and prints medians: the time to the first response, and the first home page compared
/// with the tenth. Returns the last server, which still runs.
pub async fn measure(site: &Site<'_>, targets: &Arc<Targets>) -> Process {
    // The first start compiles plugins.
    site.start(&[]).await.stop();
    let (mut starts, mut firsts, mut tenths) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 1..STARTS {
        let server = site.start(&[]).await;
        starts.push(server.started_in);
        tokio::time::sleep(QUIET).await;
        let pages = pages(&server, targets).await;
        firsts.push(pages[0]);
        tenths.push(pages[9]);
        server.stop();
    }
    let server = site.start(&[]).await;
    tokio::time::sleep(QUIET).await;
    println!("start to the first answer: {:.0} ms", millis(median(starts.iter().copied())));
    let page = |pages: &[Single]| {
        let (time, cpu) = (median(pages.iter().map(|page| page.time)), median(pages.iter().map(|page| page.cpu)));
        format!("{:.2} ms, CPU {:.0} us", millis(time), millis(cpu) * 1000.0)
    };
    println!("home, 20, after a restart: first {}; tenth {}", page(&firsts), page(&tenths));
    println!("memory idle: {:.0} MiB\n", server.memory());
    server
}

/// The home page ten times, for one person.
async fn pages(server: &Process, targets: &Targets) -> Vec<Single> {
    let bytes = request("GET", "/api/v1/timelines/home?limit=20", &targets.host, Some(&targets.tokens[0]), None);
    let mut connection = Connection::open(server.address).await;
    let mut pages = Vec::new();
    for _ in 0..10 {
        let (begun, cpu) = (Instant::now(), server.cpu_now());
        connection.ask(&bytes).await;
        let time = begun.elapsed();
        // Includes the work after the response.
        tokio::time::sleep(Duration::from_millis(100)).await;
        pages.push(Single { time, cpu: server.cpu_now().saturating_sub(cpu) });
    }
    pages
}

pub fn median(times: impl Iterator<Item = Duration>) -> Duration {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    times[times.len() / 2]
}
