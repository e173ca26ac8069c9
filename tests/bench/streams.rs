//! Streams: memory of idle connections, the delay until the last of many receives a new status, and its cost.
//!
//! Every connection is a WebSocket of a follower of the publisher, subscribed to `user`. The client runs on the same
//! machine and reads all of them, so that the times include both.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use database::Db;
use tokio::task::JoinHandle;

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::Process;
use crate::site::Site;
use crate::sockets::connect;

/// Number of open connections.
const SIZES: [usize; 2] = [1_000, 10_000];
/// Number of statuses published in each round.
const STATUSES: usize = 20;
/// Pause between statuses.
const PAUSE: Duration = Duration::from_millis(500);
/// Time limit of the last connection.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    println!("\nStreams to the followers of one who publishes\n");
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = followers(db, &publisher.token).await;
    for size in SIZES {
        let server = start(site, &[]).await;
        let received = Arc::new(AtomicUsize::new(0));
        let open = open(&server, &tokens, size, &received).await;
        let round = round(&server, &publisher.token, &received, size, STATUSES).await;
        println!("{}", round.line());
        open.iter().for_each(JoinHandle::abort);
        server.stop();
    }
}

/// Starts a server that accepts all connections, with additional configuration.
pub async fn start(site: &Site<'_>, more: &[(&str, &str)]) -> Process {
    site.start(&[&LIMITS[..], more].concat()).await
}

/// Enough for all clients, which have one address.
pub const LIMITS: [(&str, &str); 5] = [
    ("STREAMING_MAX_CONNECTIONS", "20000"),
    ("STREAMING_MAX_PER_ADDRESS", "20000"),
    ("STREAMING_MAX_PER_PERSON", "1000"),
    ("CONNECTIONS_MAX_PER_ADDRESS", "20000"),
    ("CONNECTIONS_MAX", "20000"),
];

/// Opens `size` connections that count received messages, and prints the memory of each.
pub async fn open(
    server: &Process,
    tokens: &[String],
    size: usize,
    received: &Arc<AtomicUsize>,
) -> Vec<JoinHandle<()>> {
    let (before, begun) = (server.own_memory(), Instant::now());
    let mut open = Vec::with_capacity(size);
    for number in 0..size {
        open.push(connect(server.address, &tokens[number % tokens.len()], received).await);
    }
    let opened = begun.elapsed();
    let taken = (server.own_memory() - before) * 1024.0 / size as f64;
    println!("{size} connections in {:.1} s, {taken:.1} KiB each", opened.as_secs_f64());
    open
}

/// Tokens of the followers of the account with `token`.
pub async fn followers(db: &Db, token: &str) -> Vec<String> {
    let hash = crypto::hash(token);
    let of = format!(
        "SELECT f.account_id FROM follows f JOIN oauth_tokens t ON t.account_id = f.target_account_id WHERE t.token_hash = '{hash}'"
    );
    let followers = db.fetch_raw::<(i64,)>(&of).await.expect("followers");
    let mut tokens = Vec::new();
    for (number, (account,)) in followers.into_iter().enumerate() {
        let token = format!("bench-stream-{number}");
        let hash = crypto::hash(&token);
        let made = format!(
            "INSERT INTO oauth_tokens (id, token_hash, nonce, account_id, scopes, created_at, last_used_at)
             SELECT {number} + 1, '{hash}', 'bench', {account}, 'read', created_at, created_at FROM accounts WHERE id = {account}
             ON CONFLICT DO NOTHING"
        );
        db.execute_raw(&made).await.expect("a token");
        tokens.push(token);
    }
    tokens
}

/// Delays of statuses, and their cost for the server.
pub struct Round {
    answered: Duration,
    pub last: Duration,
    most: Duration,
    cpu: Duration,
}

impl Round {
    pub fn line(&self) -> String {
        format!(
            "answer after {:.1} ms, last connection after {:.1} ms (most {:.1}), CPU of the server {:.1} ms a status",
            millis(self.answered),
            millis(self.last),
            millis(self.most),
            millis(self.cpu)
        )
    }
}

/// Publishes this many statuses, after one that is not counted: the time at which the last of `size` connections
/// received each.
pub async fn round(server: &Process, token: &str, received: &AtomicUsize, size: usize, statuses: usize) -> Round {
    let mut connection = Connection::open(server.address).await;
    let (mut last, mut answered) = (Vec::new(), Vec::new());
    // The first status fills the caches.
    received.store(0, Ordering::Release);
    publish(&mut connection, token, 0).await;
    wait(received, size).await;
    let cpu = server.cpu();
    for number in 1..=statuses {
        tokio::time::sleep(PAUSE).await;
        received.store(0, Ordering::Release);
        let begun = Instant::now();
        publish(&mut connection, token, number).await;
        answered.push(begun.elapsed());
        wait(received, size).await;
        last.push(begun.elapsed());
    }
    let cpu = (server.cpu() - cpu) / u32::try_from(statuses).unwrap_or(1);
    last.sort_unstable();
    answered.sort_unstable();
    let middle = |times: &[Duration]| times[times.len() / 2];
    Round { answered: middle(&answered), last: middle(&last), most: last[last.len() - 1], cpu }
}

pub async fn publish(connection: &mut Connection, token: &str, number: usize) {
    let body = serde_json::json!({ "status": format!("To all who listen: number {number} of the rooks is back") });
    connection.ask(&request("POST", "/api/v1/statuses", DOMAIN, Some(token), Some(&body.to_string()))).await;
}

pub async fn wait(received: &AtomicUsize, size: usize) {
    let begun = Instant::now();
    while received.load(Ordering::Acquire) < size {
        assert!(begun.elapsed() < PATIENCE, "only {} of {size} had it", received.load(Ordering::Acquire));
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}
