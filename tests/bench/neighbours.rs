//! Other servers for the benchmark: accounts of theirs in the database, requests that they sign, and one receiver that
//! stands for all their hosts.
//!
//! A host is an address of the loopback network with the port of the receiver. HTTP is written by hand, so that the
//! receiver costs little.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crypto::key_pair;
use crypto::rsa::SigningKey;
use database::Db;
use model::clock::Clock;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::data::DOMAIN;
use crate::scratch;

/// Configuration of a server that talks to neighbours.
pub const KEYS: [(&str, &str); 2] = [("SERVER_SCHEME", "http"), ("FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8")];
/// Ids of the first account and of the first follow: of a time before all seeded ones.
const FIRST: i64 = 1_000_000;

/// How a host answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Accept,
    /// 503.
    Fail,
    /// Nothing.
    Hang,
}

/// What the receiver accepted: the number of times of each activity at each host.
#[derive(Default)]
struct Received {
    accepted: AtomicUsize,
    failed: AtomicUsize,
    times: Mutex<HashMap<(String, String), usize>>,
}

/// A receiver of deliveries.
#[derive(Clone)]
pub struct Receiver {
    port: u16,
    received: Arc<Received>,
}

impl Receiver {
    /// Listens on every address; `judge` decides by the host.
    pub async fn start(judge: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("0.0.0.0:0").await.expect("a port");
        let receiver = Self { port: listener.local_addr().expect("an address").port(), received: Arc::default() };
        let (serving, judge) = (receiver.clone(), Arc::new(judge));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (serving, judge) = (serving.clone(), Arc::clone(&judge));
                tokio::spawn(async move { drop(serving.serve(stream, &*judge).await) });
            }
        });
        receiver
    }

    /// The name of a host, by its number.
    pub fn host(&self, number: usize) -> String {
        format!("127.1.{}.{}:{}", number / 250, number % 250 + 1, self.port)
    }

    /// Number of accepted deliveries.
    pub fn accepted(&self) -> usize {
        self.received.accepted.load(Ordering::Relaxed)
    }

    /// Number of deliveries that were answered with 503.
    pub fn failed(&self) -> usize {
        self.received.failed.load(Ordering::Relaxed)
    }

    /// Number of activities that arrived, counted once for each host, and how many of them more than once.
    pub fn distinct(&self) -> (usize, usize) {
        let times = self.received.times.lock().expect("a map");
        (times.len(), times.values().filter(|times| **times > 1).count())
    }

    async fn serve(&self, mut stream: TcpStream, judge: &(impl Fn(&str) -> Answer + Sync)) -> std::io::Result<()> {
        stream.set_nodelay(true)?;
        let mut buffer: Vec<u8> = Vec::with_capacity(16 * 1024);
        loop {
            let end = loop {
                if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                    break end + 4;
                }
                if stream.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
            };
            let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
            let field = |name: &str| {
                head.lines()
                    .filter_map(|line| line.split_once(": "))
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| value)
            };
            let (host, length) = (field("host").unwrap_or_default().to_owned(), field("content-length"));
            let length: usize = length.and_then(|length| length.parse().ok()).unwrap_or_default();
            while buffer.len() < end + length {
                if stream.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
            }
            let body = buffer[end..end + length].to_vec();
            buffer.drain(..end + length);
            let status = match judge(&host) {
                Answer::Accept => {
                    self.note(host, &body);
                    "202 Accepted"
                }
                Answer::Fail => {
                    self.received.failed.fetch_add(1, Ordering::Relaxed);
                    "503 Busy"
                }
                // Until the client goes away.
                Answer::Hang => return stream.read(&mut [0]).await.map(drop),
            };
            stream.write_all(format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n").as_bytes()).await?;
        }
    }

    fn note(&self, host: String, body: &[u8]) {
        let activity: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let id = activity["id"].as_str().unwrap_or_default().to_owned();
        *self.received.times.lock().expect("a map").entry((host, id)).or_default() += 1;
        self.received.accepted.fetch_add(1, Ordering::Relaxed);
    }
}

/// An account of a neighbour, which signs.
pub struct Neighbour {
    pub id: i64,
    pub uri: String,
    key: SigningKey,
}

impl Neighbour {
    /// Inserts the account with this number, of `host`, without followers.
    pub async fn new(db: &Db, number: usize, host: &str) -> Self {
        let (public, private) = key_pair::generate().expect("a key");
        let (id, uri) = insert(db, number, host, &format!("'{public}'")).await;
        Self { id, uri, key: SigningKey::parse(&private).expect("a key") }
    }

    /// A request to the shared inbox that this account signs now.
    pub fn post(&self, body: &str) -> Vec<u8> {
        let digest = format!("SHA-256={}", STANDARD.encode(crypto::digest_sha256(body.as_bytes())));
        let date = Clock::system().now().format("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let kind = "application/activity+json";
        let text = format!(
            "(request-target): post /inbox\nhost: {DOMAIN}\ndate: {date}\ndigest: {digest}\ncontent-type: {kind}"
        );
        let signature = STANDARD.encode(self.key.sign(text.as_bytes()).expect("a signature"));
        format!(
            "POST /inbox HTTP/1.1\r\nHost: {DOMAIN}\r\nDate: {date}\r\nDigest: {digest}\r\nContent-Type: {kind}\r\n\
             Signature: keyId=\"{}#main-key\",algorithm=\"rsa-sha256\",headers=\"(request-target) host date digest \
             content-type\",signature=\"{signature}\"\r\nContent-Length: {}\r\n\r\n{body}",
            self.uri,
            body.len()
        )
        .into_bytes()
    }
}

/// Inserts a remote account; returns its id and URI. `key`: as SQL.
async fn insert(db: &Db, number: usize, host: &str, key: &str) -> (i64, String) {
    let id = FIRST + i64::try_from(number).expect("a small number");
    let uri = format!("http://{host}/users/n{number}");
    let now = scratch::now(db);
    let insert = format!(
        "INSERT INTO accounts (id, username, domain, uri, url, actor_type, display_name, note, note_html, fields, locked,
             indexable, searchability, memorial, also_known_as, other_settings, inbox_url, shared_inbox_url, followers_url,
             public_key, followers_count, following_count, statuses_count, created_at, updated_at, fetched_at, version)
         VALUES ({id}, 'n{number}', '{host}', '{uri}', '{uri}', 'Person', 'n{number}', '', '', '[]', FALSE, TRUE, 'public',
             FALSE, '[]', '{{}}', '{uri}/inbox', 'http://{host}/inbox', '{uri}/followers', {key}, 0, 0, 0, {now}, {now},
             {now}, 1)"
    );
    db.execute_raw(&insert).await.expect("an account");
    (id, uri)
}

/// Makes one account of each of `hosts` follow `account`.
pub async fn follow(db: &Db, hosts: impl Iterator<Item = String>, account: i64) {
    for (number, host) in (1_000..).zip(hosts) {
        let (follower, _) = insert(db, number, &host, "NULL").await;
        let now = scratch::now(db);
        let follow = format!(
            "INSERT INTO follows (id, account_id, target_account_id, created_at, show_reblogs, notify)
             VALUES ({follower}, {follower}, {account}, {now}, TRUE, FALSE)"
        );
        db.execute_raw(&follow).await.expect("a follow");
    }
}

/// Queues the job that generates the key of `account`, and waits until it has one.
pub async fn key_of(db: &Db, account: i64) {
    let now = scratch::now(db);
    let job = format!(
        "INSERT INTO jobs (id, lane, kind, payload, state, attempts, run_at, created_at)
         VALUES ({account}, 'background', 'generate_key', '{{\"account\":\"{account}\"}}', 'ready', 0, {now}, {now})"
    );
    db.execute_raw(&job).await.expect("a job");
    let has = format!("SELECT COUNT(*) FROM accounts WHERE id = {account} AND private_key IS NOT NULL");
    while scratch::number(db, &has).await == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
