//! Clients that never read, next to many that do: whether they delay the others, and whether they receive the reason
//! when they are disconnected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use database::Db;
use tokio::net::TcpStream;
use tokio::task::{JoinHandle, JoinSet};

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::free_address;
use crate::site::Site;
use crate::sockets::{Frame, connect_narrowly, frame};
use crate::streams;

/// One slow client for this many quick ones.
const QUICK_FOR_EACH: usize = 10;
/// Length of a client's queue: short, so that fewer statuses are needed.
const QUEUE: &str = "16";
/// Number of statuses published before slow clients connect, next to them, and after they are disconnected.
const STATUSES: usize = 10;
/// Number of statuses after which slow clients must be disconnected.
const MOST: usize = 200;
/// Time limit for a disconnected client to read the reason.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures with `quick` reading clients, on a site with a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data, quick: usize) {
    let slow = quick / QUICK_FOR_EACH;
    println!("\n{quick} quick clients of streams, and {slow} beside them who read nothing\n");
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = streams::followers(db, &publisher.token).await;
    let metrics = free_address();
    let server = streams::start(site, &[("STREAMING_QUEUE", QUEUE), ("METRICS_LISTEN", &metrics.to_string())]).await;
    let received = Arc::new(AtomicUsize::new(0));
    let open = streams::open(&server, &tokens, quick, &received).await;
    let alone = streams::round(&server, &publisher.token, &received, quick, STATUSES).await;
    println!("{:<20}{}", "without slow ones:", alone.line());

    let mut slow_ones = Vec::with_capacity(slow);
    for number in 0..slow {
        slow_ones.push(connect_narrowly(server.address, &tokens[number % tokens.len()]).await);
    }
    let beside = streams::round(&server, &publisher.token, &received, quick, STATUSES).await;
    println!("{:<20}{}", "beside them:", beside.line());

    let mut connection = Connection::open(server.address).await;
    let mut statuses = STATUSES + 1;
    while cut_off(metrics).await < slow {
        assert!(statuses < MOST, "{} of {slow} are cut off after {MOST} statuses", cut_off(metrics).await);
        received.store(0, Ordering::Release);
        streams::publish(&mut connection, &publisher.token, statuses).await;
        streams::wait(&received, quick).await;
        statuses += 1;
    }
    let told = told_why(slow_ones).await;
    println!(
        "{slow} are cut off after {statuses} statuses, {told} of them read why; memory {:.0} MiB",
        server.memory()
    );
    let after = streams::round(&server, &publisher.token, &received, quick, STATUSES).await;
    println!("{:<20}{}", "when they are off:", after.line());
    println!("last connection beside slow ones, as a multiple: {:.2}", millis(beside.last) / millis(alone.last));
    open.iter().for_each(JoinHandle::abort);
    server.stop();
}

/// Number of disconnected clients, from the server's metrics.
async fn cut_off(metrics: std::net::SocketAddr) -> usize {
    let text = Connection::open(metrics).await.ask(&request("GET", "/metrics", DOMAIN, None, None)).await;
    let text = String::from_utf8(text).expect("text");
    let line = text.lines().find_map(|line| line.strip_prefix("rookery_streaming_slow_total "));
    line.map_or(0, |count| count.trim().parse::<f64>().expect("a count") as usize)
}

/// Number of these clients that then read a close frame with the reason.
async fn told_why(clients: Vec<TcpStream>) -> usize {
    let mut reading = JoinSet::new();
    for mut client in clients {
        reading.spawn(tokio::time::timeout(PATIENCE, async move {
            loop {
                match frame(&mut client).await {
                    Ok(Frame::Close(code, reason)) => return code == 1008 && reason.contains("not taken in time"),
                    Ok(Frame::Text(_) | Frame::Ping | Frame::Other) => {}
                    Err(_) => return false,
                }
            }
        }));
    }
    let read = reading.join_all().await;
    read.into_iter().filter(|told| matches!(told, Ok(true))).count()
}
