//! Killed while people post: what was acknowledged is there, once, and queued work is done after the next start.
//!
//! Speaks to the real program, which is ended by SIGKILL. `KILL_ROUNDS` says how often; 3 without it.

use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use store::Db;
use store::db::{Engine, Options};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::TestDatabase;
use crate::seed::Seed;

const TOKEN: &str = "a-token-of-the-crash-test";
/// How many post at the same time.
const WRITERS: usize = 4;

/// Key of the request, and the id of the status when it was acknowledged.
type Posts = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// The real program.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// A command of the program on this folder and database.
pub fn program(folder: &std::path::Path, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    command.env_clear().current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    for (key, value) in [
        ("SERVER_LOCAL_DOMAIN", "example.test"),
        ("STORAGE_DATA_DIR", folder.to_str().unwrap()),
        ("DATABASE_URL", url),
        ("RATE_LIMITS_ENABLED", "false"),
    ] {
        command.env(format!("ROOKERY_{key}"), value);
    }
    command
}

impl Server {
    pub async fn start(folder: &std::path::Path, url: &str) -> Self {
        let server = Self::spawn(program(folder, url));
        assert!(server.answers(Duration::from_secs(30)).await, "the server did not start");
        server
    }

    /// A server that may not answer yet.
    pub fn spawn(mut program: Command) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = program.arg("serve").env("ROOKERY_SERVER_LISTEN", address.to_string()).spawn().unwrap();
        Self { child, address }
    }

    /// True once it takes connections; false when it does not within `limit`.
    pub async fn answers(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if TcpStream::connect(self.address).await.is_ok() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Posts a status whose text is its key; the id if the server acknowledged it.
pub async fn publish(address: SocketAddr, key: &str) -> Option<String> {
    let body = format!("{{\"status\":\"{key}\"}}");
    let request = format!(
        "POST /api/v1/statuses HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nAuthorization: Bearer {TOKEN}\r\n\
         Idempotency-Key: {key}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.ok()?;
    stream.write_all(request.as_bytes()).await.ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.ok()?;
    let answer = String::from_utf8(answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
    // A body that broke off is no acknowledgement.
    let status: serde_json::Value = serde_json::from_str(body).ok()?;
    Some(status["id"].as_str()?.to_owned())
}

async fn post_until_killed(address: SocketAddr, writer: usize, round: usize, posts: Posts) {
    for number in 0.. {
        let key = format!("r{round}w{writer}n{number}");
        let id = publish(address, &key).await;
        let went = id.is_some();
        posts.lock().unwrap().push((key, id));
        if !went {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test's environment says how long to go on")]
pub fn rounds() -> usize {
    std::env::var("KILL_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(3)
}

pub async fn prepare(url: &str) -> Db {
    let options = Options {
        url: url.to_owned(),
        max_connections: 2,
        acquire_timeout: Duration::from_secs(30),
        plugin_connections: 2,
    };
    let db = Db::open(&options).await.unwrap();
    store::migrate::run(&db).await.unwrap();
    let mut seed = Seed::new(db.engine(), "example.test");
    let author = seed.account("alice", None);
    for n in 0..20 {
        let follower = seed.account(&format!("follower{n}"), None);
        seed.follow(follower, author);
        if n % 4 == 0 {
            let list = seed.list(follower, "list");
            seed.list_member(list, author);
        }
    }
    seed.token(author, &crypto::hash(TOKEN), "read write");
    seed.write(&db).await;
    // Nobody writes feeds for people who stayed away for weeks.
    db.execute_raw(&format!("UPDATE users SET last_active_at = {}", now(&db))).await.unwrap();
    db
}

pub fn now(db: &Db) -> String {
    let micros = model::clock::Clock::system().now().timestamp_micros();
    match db.engine() {
        Engine::Sqlite => micros.to_string(),
        Engine::Postgres => format!("to_timestamp({micros} / 1000000.0)"),
    }
}

/// Waits until everything that is due is done; dead jobs are a failure.
pub async fn settle(db: &Db) {
    for _ in 0..600 {
        let now = now(db);
        let due = format!("SELECT COUNT(*) FROM jobs WHERE state = 'running' OR (state = 'ready' AND run_at <= {now})");
        if db.fetch_raw::<(i64,)>(&due).await.unwrap()[0].0 == 0 {
            let dead: Vec<(String,)> = db.fetch_raw("SELECT kind FROM jobs WHERE state = 'dead'").await.unwrap();
            assert!(dead.is_empty(), "dead jobs: {dead:?}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let kinds: Vec<(String, String)> = db.fetch_raw("SELECT kind, state FROM jobs").await.unwrap();
    panic!("work was left: {kinds:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_while_people_post_nothing_acknowledged_is_lost_or_doubled() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = prepare(&database.url).await;
    let posts = Posts::default();
    for round in 0..rounds() {
        let mut server = Server::start(folder.path(), &database.url).await;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(post_until_killed(server.address, writer, round, Arc::clone(&posts))))
            .collect();
        tokio::time::sleep(Duration::from_millis(150 + (round as u64 * 97) % 350)).await;
        server.kill();
        for writer in writers {
            writer.await.unwrap();
        }
    }
    // Several servers may share a PostgreSQL, so what ran there is put back when its lease ends. Five minutes go by.
    db.execute_raw(&format!("UPDATE jobs SET lease_until = {} WHERE state = 'running'", now(&db))).await.unwrap();
    let server = Server::start(folder.path(), &database.url).await;
    let posts = std::mem::take(&mut *posts.lock().unwrap());
    let acknowledged = posts.iter().filter(|(_, id)| id.is_some()).count();
    for (key, id) in &posts {
        let again = publish(server.address, key).await.expect("the server answers");
        assert!(id.as_ref().is_none_or(|id| *id == again), "{key} was acknowledged as {id:?} and is {again} now");
    }
    settle(&db).await;
    let doubled: Vec<(String, i64)> =
        db.fetch_raw("SELECT text, COUNT(*) FROM statuses GROUP BY text HAVING COUNT(*) > 1").await.unwrap();
    assert!(doubled.is_empty(), "posted more than once: {doubled:?}");
    let count: Vec<(i64,)> = db.fetch_raw("SELECT COUNT(*) FROM statuses").await.unwrap();
    assert_eq!(usize::try_from(count[0].0).unwrap(), posts.len(), "each key is one status");
    // Fan-out went on where it was cut off: followers and author have every one.
    let feeds: Vec<(i64, i64)> = db
        .fetch_raw("SELECT owner_id, COUNT(*) FROM feed_entries WHERE kind IN (0, 1) GROUP BY kind, owner_id")
        .await
        .unwrap();
    assert!(acknowledged > rounds(), "only {acknowledged} posts were acknowledged");
    assert!(feeds.len() >= 25, "{} feeds of 20 people and 5 lists", feeds.len());
    for (owner, entries) in feeds {
        assert!(
            entries >= i64::try_from(posts.len()).unwrap().min(400),
            "{owner} has {entries} of {} posts",
            posts.len()
        );
    }
    drop(server);
    db.close().await;
}
