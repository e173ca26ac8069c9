//! Two nodes on one PostgreSQL: the delay until statuses published on one reach the streams of the other, and the
//! fate of the streams of a node that was away for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::Db;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::Process;
use crate::restarts::updated;
use crate::site::Site;
use crate::sockets::{Frame, PONG, frame, shake_hands};
use crate::streams;

/// Streams of each node.
const CLIENTS: usize = 500;
/// Statuses that are published on each node.
const STATUSES: usize = 20;
/// Pause between statuses.
const PAUSE: Duration = Duration::from_millis(200);
/// Outages of a node: one during which others still write for it, and one during which they do not.
const AWAY: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(36)];
/// Time limit of expected events.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time until all nodes know each other.
const KNOWN: Duration = Duration::from_secs(6);

/// Messages received on the streams of one node.
#[derive(Default)]
struct Told {
    /// Number of events, by the id of the status.
    events: HashMap<String, usize>,
    /// Streams that ended, by the code of the close frame; 0 without one.
    ended: HashMap<u16, usize>,
}

/// A node with its streams.
struct Node {
    server: Process,
    told: Arc<Mutex<Told>>,
    open: Vec<JoinHandle<()>>,
}

/// Measures on a PostgreSQL with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    println!("\nTwo nodes on one database, with {CLIENTS} streams each\n");
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = streams::followers(db, &publisher.token).await;
    // A stopped node would keep the jobs locked that it has claimed.
    let no_jobs = [("JOBS_WORKERS", "0")];
    let nodes = [Node::start(site, &tokens, &[]).await, Node::start(site, &tokens, &no_jobs).await];
    tokio::time::sleep(KNOWN).await;
    for (name, from, to) in [("the first", 0, 1), ("the second", 1, 0)] {
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for _ in 0..STATUSES {
            tokio::time::sleep(PAUSE).await;
            let begun = Instant::now();
            let id = publish(&nodes[from], &publisher.token).await;
            let (here, there) = tokio::join!(nodes[from].all_told(&id), nodes[to].all_told(&id));
            own.push(here - begun);
            other.push(there - begun);
        }
        own.sort_unstable();
        other.sort_unstable();
        println!(
            "published on {name} node: last stream there after {:.1} ms, last of the other after {:.1} ms (most {:.1})",
            millis(own[STATUSES / 2]),
            millis(other[STATUSES / 2]),
            millis(other[STATUSES - 1])
        );
    }
    for away in AWAY {
        nodes[1].server.signal("STOP");
        tokio::time::sleep(away / 2).await;
        let mut ids = Vec::new();
        for _ in 0..5 {
            ids.push(publish(&nodes[0], &publisher.token).await);
        }
        tokio::time::sleep(away / 2).await;
        // A status that is published this late is not written for a node after a long outage.
        ids.push(publish(&nodes[0], &publisher.token).await);
        nodes[0].all_told(&ids[5]).await;
        nodes[1].server.signal("CONT");
        let begun = Instant::now();
        let caught_up = nodes[1].settled(&ids).await;
        println!(
            "away for {:.0} s: {} of {CLIENTS} streams have all {} statuses, {} were told to read again (1013), after {:.1} s",
            away.as_secs_f64(),
            caught_up,
            ids.len(),
            nodes[1].ended(1013),
            begun.elapsed().as_secs_f64()
        );
    }
    for node in nodes {
        let told = node.told.lock().expect("what was told");
        let twice: usize = told.events.values().map(|count| count.saturating_sub(CLIENTS)).sum();
        println!(
            "{} statuses were told, {twice} events twice on one stream; ended: {:?}",
            told.events.len(),
            told.ended
        );
        drop(told);
        node.open.iter().for_each(JoinHandle::abort);
        node.server.stop();
    }
}

async fn publish(node: &Node, token: &str) -> String {
    let body = serde_json::json!({ "status": "To all nodes: the rooks are back" }).to_string();
    let asked = request("POST", "/api/v1/statuses", DOMAIN, Some(token), Some(&body));
    let answer = Connection::open(node.server.address).await.ask(&asked).await;
    let status: serde_json::Value = serde_json::from_slice(&answer).expect("a status");
    status["id"].as_str().expect("an id").to_owned()
}

impl Node {
    async fn start(site: &Site<'_>, tokens: &[String], keys: &[(&str, &str)]) -> Self {
        let server = streams::start(site, keys).await;
        let told: Arc<Mutex<Told>> = Arc::default();
        let mut open = Vec::with_capacity(CLIENTS);
        for number in 0..CLIENTS {
            let stream = TcpStream::connect(server.address).await.expect("the node listens");
            let stream = shake_hands(stream, &tokens[number % tokens.len()]).await.expect("the node lets everybody in");
            open.push(tokio::spawn(hold(stream, Arc::clone(&told))));
        }
        Self { server, told, open }
    }

    /// Waits until every stream has the status; returns the time.
    async fn all_told(&self, id: &str) -> Instant {
        let begun = Instant::now();
        while self.count(id) < CLIENTS {
            assert!(begun.elapsed() < PATIENCE, "{} of {CLIENTS} streams have the status", self.count(id));
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        Instant::now()
    }

    /// Waits until every stream has all of `ids` or was closed to reconnect; returns the number of streams with all
    /// of them.
    async fn settled(&self, ids: &[String]) -> usize {
        let begun = Instant::now();
        loop {
            let least = ids.iter().map(|id| self.count(id)).min().unwrap_or_default();
            if least + self.ended(1013) >= CLIENTS || begun.elapsed() > PATIENCE {
                return least;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn count(&self, id: &str) -> usize {
        self.told.lock().expect("what was told").events.get(id).copied().unwrap_or_default()
    }

    fn ended(&self, code: u16) -> usize {
        self.told.lock().expect("what was told").ended.get(&code).copied().unwrap_or_default()
    }
}

/// Records the messages of a connection until it ends.
async fn hold(stream: TcpStream, told: Arc<Mutex<Told>>) {
    let mut stream = BufReader::with_capacity(4096, stream);
    loop {
        let code = match frame(&mut stream).await {
            Ok(Frame::Text(text)) => {
                if let Some(id) = updated(&text) {
                    *told.lock().expect("what was told").events.entry(id).or_default() += 1;
                }
                continue;
            }
            // Clients that do not respond are disconnected within a minute.
            Ok(Frame::Ping) => match stream.get_mut().write_all(&PONG).await {
                Ok(()) => continue,
                Err(_) => 0,
            },
            Ok(Frame::Other) => continue,
            Ok(Frame::Close(code, _)) => code,
            Err(_) => 0,
        };
        *told.lock().expect("what was told").ended.entry(code).or_default() += 1;
        return;
    }
}
