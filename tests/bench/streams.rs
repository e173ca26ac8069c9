//! Streams: what idle connections take, how soon the last of many has a new status, and what that costs.
//!
//! Every connection is a WebSocket of a follower of the publisher, subscribed to `user`. The client runs on the same machine
//! and reads all of them, so that the times are those of both.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use store::Db;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::site::Site;

/// How many connections are open.
const SIZES: [usize; 2] = [1_000, 10_000];
/// How many statuses are published in each round.
const STATUSES: usize = 20;
/// Between one status and the next.
const PAUSE: Duration = Duration::from_millis(500);
/// How long the last connection may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Measures on a site with a filled database, whose server is off.
pub async fn measure(site: &Site<'_>, db: &Db, data: &Data) {
    println!("\nStreams to the followers of one who publishes\n");
    let publisher = data.targets.publishers.iter().max_by_key(|one| one.followers).expect("a publisher");
    let tokens = followers(db, &publisher.token).await;
    for size in SIZES {
        let limits = ["STREAMING_MAX_CONNECTIONS", "STREAMING_MAX_PER_ADDRESS", "CONNECTIONS_MAX_PER_ADDRESS"];
        let limits = limits.map(|name| (name, "20000"));
        let server = site.start(&[&limits[..], &[("CONNECTIONS_MAX", "20000")]].concat()).await;
        let before = server.own_memory();
        let received = Arc::new(AtomicUsize::new(0));
        let begun = Instant::now();
        let mut open = Vec::with_capacity(size);
        for number in 0..size {
            open.push(connect(server.address, &tokens[number % tokens.len()], &received).await);
        }
        let opened = begun.elapsed();
        let taken = (server.own_memory() - before) * 1024.0 / size as f64;
        println!("{size} connections in {:.1} s, {taken:.1} KiB each", opened.as_secs_f64());
        round(server.address, server.id(), &publisher.token, &received, size).await;
        open.iter().for_each(JoinHandle::abort);
        server.stop();
    }
}

/// Tokens of the followers of the person with `token`.
async fn followers(db: &Db, token: &str) -> Vec<String> {
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
             SELECT {number} + 1, '{hash}', 'bench', {account}, 'read', created_at, created_at FROM accounts WHERE id = {account}"
        );
        db.execute_raw(&made).await.expect("a token");
        tokens.push(token);
    }
    tokens
}

/// Publishes, and prints when the first and the last connection had each status.
async fn round(address: SocketAddr, server: u32, token: &str, received: &AtomicUsize, size: usize) {
    let mut connection = Connection::open(address).await;
    let (mut last, mut answered) = (Vec::new(), Vec::new());
    // Whatever the first needs is there for the others.
    publish(&mut connection, token, 0).await;
    wait(received, size).await;
    let cpu = crate::process::cpu_of(server);
    for number in 1..=STATUSES {
        tokio::time::sleep(PAUSE).await;
        received.store(0, Ordering::Release);
        let begun = Instant::now();
        publish(&mut connection, token, number).await;
        answered.push(begun.elapsed());
        wait(received, size).await;
        last.push(begun.elapsed());
    }
    let cpu = (crate::process::cpu_of(server) - cpu) / u32::try_from(STATUSES).unwrap_or(1);
    last.sort_unstable();
    answered.sort_unstable();
    let middle = |times: &[Duration]| millis(times[times.len() / 2]);
    println!(
        "answer after {:.1} ms, last connection after {:.1} ms (most {:.1}), CPU of the server {:.1} ms a status",
        middle(&answered),
        middle(&last),
        millis(last[last.len() - 1]),
        millis(cpu)
    );
}

async fn publish(connection: &mut Connection, token: &str, number: usize) {
    let body = serde_json::json!({ "status": format!("To all who listen: number {number} of the rooks is back") });
    connection.ask(&request("POST", "/api/v1/statuses", DOMAIN, Some(token), Some(&body.to_string()))).await;
}

async fn wait(received: &AtomicUsize, size: usize) {
    let begun = Instant::now();
    while received.load(Ordering::Acquire) < size {
        assert!(begun.elapsed() < PATIENCE, "only {} of {size} had it", received.load(Ordering::Acquire));
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

/// Opens a WebSocket (RFC 6455) that counts text frames in `received`.
async fn connect(address: SocketAddr, token: &str, received: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let request = format!(
        "GET /api/v1/streaming?stream=user HTTP/1.1\r\nHost: {DOMAIN}\r\nAuthorization: Bearer {token}\r\nConnection: Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.expect("a request is sent");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("an answer"));
    }
    assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
    let received = Arc::clone(received);
    tokio::spawn(async move {
        let mut stream = BufReader::with_capacity(4096, stream);
        while let Ok(text) = frame(&mut stream).await {
            received.fetch_add(usize::from(text), Ordering::AcqRel);
        }
    })
}

/// Reads a frame of the server, which is not masked; true for text.
async fn frame(stream: &mut BufReader<TcpStream>) -> std::io::Result<bool> {
    let first = stream.read_u8().await?;
    let length = match stream.read_u8().await? & 0x7f {
        126 => u64::from(stream.read_u16().await?),
        127 => stream.read_u64().await?,
        short => u64::from(short),
    };
    let mut payload = stream.take(length);
    tokio::io::copy(&mut payload, &mut tokio::io::sink()).await?;
    Ok(first & 0x0f == 1)
}
