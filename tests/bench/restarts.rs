//! Restarts under load: whether clients are notified and reconnect, and whether any acknowledged status is lost.
//!
//! A publisher publishes all the time, and followers listen by WebSocket. The server is stopped again and again, and
//! started at the same address. Clients reconnect as soon as they can.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::Db;
use tokio::io::BufReader;
use tokio::net::TcpStream;

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::free_address;
use crate::scratch;
use crate::site::Site;
use crate::sockets::{Frame, frame, shake_hands};
use crate::streams;

/// Number of restarts.
const RESTARTS: usize = 20;
/// Number of listening clients.
const CLIENTS: usize = 300;
/// Time for which the server runs before it is stopped again.
const RUNNING: Duration = Duration::from_millis(1_200);
/// Pause between statuses: few enough in all for a home feed to hold them.
const PAUSE: Duration = Duration::from_millis(60);
/// Pause before a client reconnects.
const AGAIN: Duration = Duration::from_millis(20);
/// Time limit within which all clients reconnect.
const PATIENCE: Duration = Duration::from_secs(30);

/// Observations of the clients.
#[derive(Default)]
struct Seen {
    connected: AtomicUsize,
    events: AtomicUsize,
    /// Events of a status that the same connection received before.
    twice: AtomicUsize,
    /// Events of a status that the client received before, on an earlier connection.
    again: AtomicUsize,
    /// Connections that ended without the close frame of a restart.
    untold: AtomicUsize,
    /// Times at which connections received the close frame of a restart.
    told: Mutex<Vec<Instant>>,
}

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    println!("\n{RESTARTS} restarts, with {CLIENTS} streams open and somebody who publishes\n");
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = streams::followers(db, &publisher.token).await;
    let address = free_address();
    let more = [&streams::LIMITS[..], &[("STREAMING_RESTART_SECONDS", "1")]].concat();
    let mut server = site.start_at(address, &more).await;
    let (seen, over) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    for number in 0..CLIENTS {
        tokio::spawn(listen(address, tokens[number % tokens.len()].clone(), Arc::clone(&seen)));
    }
    back(&seen).await;
    let publishing = tokio::spawn(publish(address, publisher.token.clone(), Arc::clone(&over)));
    let (mut stops, mut absences, mut spreads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RESTARTS {
        tokio::time::sleep(RUNNING).await;
        seen.told.lock().expect("a list").clear();
        let begun = Instant::now();
        stops.push(server.stop_meanwhile().await);
        server = site.start_at(address, &more).await;
        back(&seen).await;
        absences.push(begun.elapsed());
        let told = seen.told.lock().expect("a list");
        if let (Some(first), Some(last)) = (told.iter().min(), told.iter().max()) {
            spreads.push(*last - *first);
        }
    }
    over.store(true, Ordering::Relaxed);
    let acknowledged = publishing.await.expect("the publisher goes on");
    scratch::settle(db).await;
    report(&seen, &acknowledged, &mut stops, &mut absences, &mut spreads);
    lost(db, &acknowledged, &tokens[0]).await;
    server.stop();
}

fn report(
    seen: &Seen,
    acknowledged: &[i64],
    stops: &mut [Duration],
    absences: &mut [Duration],
    spreads: &mut [Duration],
) {
    let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
    for times in [&mut *stops, &mut *absences, &mut *spreads] {
        times.sort_unstable();
    }
    let middle = |times: &[Duration]| times.get(times.len() / 2).copied().map_or(0.0, millis);
    println!(
        "stops within {:.0} ms; all clients are back {:.0} ms after it was asked to",
        middle(stops),
        middle(absences)
    );
    println!(
        "clients are told over {:.0} ms; not told before the connection ended: {}",
        middle(spreads),
        count(&seen.untold)
    );
    println!(
        "{} statuses were acknowledged, {} events came; twice on one connection: {}, again on a later one: {}",
        acknowledged.len(),
        count(&seen.events),
        count(&seen.twice),
        count(&seen.again)
    );
}

/// Prints the number of acknowledged statuses that are lost, and that are missing in the home feed of the account
/// with `token`.
async fn lost(db: &Db, acknowledged: &[i64], token: &str) {
    let ids: Vec<String> = acknowledged.iter().map(ToString::to_string).collect();
    let ids = ids.join(",");
    let there = scratch::number(db, &format!("SELECT COUNT(*) FROM statuses WHERE id IN ({ids})")).await;
    let entered = format!(
        "SELECT COUNT(*) FROM feed_entries e JOIN oauth_tokens t ON t.account_id = e.owner_id
         WHERE t.token_hash = '{}' AND e.kind = 0 AND e.status_id IN ({ids})",
        crypto::hash(token)
    );
    let entered = scratch::number(db, &entered).await;
    let all = i64::try_from(acknowledged.len()).expect("a count");
    println!("acknowledged and lost: {}; missing in a follower's home feed: {}", all - there, all - entered);
}

/// Waits until all clients are connected.
async fn back(seen: &Seen) {
    let begun = Instant::now();
    while seen.connected.load(Ordering::Acquire) < CLIENTS {
        assert!(begun.elapsed() < PATIENCE, "{} clients are back", seen.connected.load(Ordering::Acquire));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Publishes until `over`, whether a server runs or not; returns the ids of acknowledged statuses.
async fn publish(address: SocketAddr, token: String, over: Arc<AtomicBool>) -> Vec<i64> {
    let mut acknowledged = Vec::new();
    let mut number = 0;
    let mut connection: Option<Connection> = None;
    while !over.load(Ordering::Relaxed) {
        tokio::time::sleep(PAUSE).await;
        number += 1;
        let body = serde_json::json!({ "status": format!("number {number}, whatever becomes of the server") });
        let asked = request("POST", "/api/v1/statuses", DOMAIN, Some(&token), Some(&body.to_string()));
        let mut open = match connection.take() {
            Some(open) => open,
            None => match Connection::try_open(address).await {
                Some(open) => open,
                None => continue,
            },
        };
        let Some(Ok(body)) = open.attempt(&asked).await else { continue };
        let status: serde_json::Value = serde_json::from_slice(&body).expect("a status");
        acknowledged.push(status["id"].as_str().and_then(|id| id.parse().ok()).expect("an id"));
        connection = Some(open);
    }
    acknowledged
}

/// Listens while the program runs.
async fn listen(address: SocketAddr, token: String, seen: Arc<Seen>) {
    let mut known: HashSet<String> = HashSet::new();
    loop {
        let stream = match TcpStream::connect(address).await {
            Ok(stream) => shake_hands(stream, &token).await,
            Err(error) => Err(error),
        };
        let Ok(stream) = stream else {
            tokio::time::sleep(AGAIN).await;
            continue;
        };
        seen.connected.fetch_add(1, Ordering::AcqRel);
        hold(stream, &mut known, &seen).await;
        seen.connected.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Records the messages of a connection until it ends.
async fn hold(stream: TcpStream, known: &mut HashSet<String>, seen: &Seen) {
    let mut stream = BufReader::with_capacity(4096, stream);
    let mut here: HashSet<String> = HashSet::new();
    loop {
        match frame(&mut stream).await {
            Ok(Frame::Text(text)) => {
                let Some(id) = updated(&text) else { continue };
                seen.events.fetch_add(1, Ordering::Relaxed);
                if !here.insert(id.clone()) {
                    seen.twice.fetch_add(1, Ordering::Relaxed);
                } else if !known.insert(id) {
                    seen.again.fetch_add(1, Ordering::Relaxed);
                }
            }
            Ok(Frame::Close(1012, _)) => {
                seen.told.lock().expect("a list").push(Instant::now());
                return;
            }
            Ok(Frame::Ping | Frame::Other) => {}
            Ok(Frame::Close(..)) | Err(_) => {
                seen.untold.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Id of the status in an `update` event.
pub fn updated(text: &[u8]) -> Option<String> {
    let event: serde_json::Value = serde_json::from_slice(text).ok()?;
    if event["event"] != "update" {
        return None;
    }
    let status: serde_json::Value = serde_json::from_str(event["payload"].as_str()?).ok()?;
    status["id"].as_str().map(str::to_owned)
}
