//! Kills under load: acknowledged statuses exist exactly once, and queued jobs are done after the next start; what was
//! owed to another server arrives there.
//!
//! Runs the real binary and ends it with SIGKILL. `KILL_ROUNDS` sets the number of kills; 3 by default.

use std::collections::HashSet;
use std::net::{SocketAddr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use database::db::Engine;
use database::{Db, Options};
use model::{Json, ScheduledStatus};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::liar::Reply;
use crate::harness::{COMPILED, Liar, TestDatabase};
use crate::seed::{Seed, Status};

const TOKEN: &str = "a-token-of-the-crash-test";
/// Number of concurrent writers.
const WRITERS: usize = 4;
/// Time limit of one step, much longer than it takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Key of the request, and the id of the status when it was acknowledged.
type Posts = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// The real binary.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

/// A command of the binary with this folder and database.
pub fn program(folder: &std::path::Path, url: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rookery"));
    command.env_clear().current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null());
    for (key, value) in [
        ("SERVER_LOCAL_DOMAIN", "example.test"),
        ("STORAGE_DATA_DIR", folder.to_str().unwrap()),
        ("DATABASE_URL", url),
        ("RATE_LIMITS_ENABLED", "false"),
        // Other servers are in the process of the test.
        ("SERVER_SCHEME", "http"),
        ("FEDERATION_ALLOW_PRIVATE_ADDRESSES", "127.0.0.0/8"),
    ] {
        command.env(format!("ROOKERY_{key}"), value);
    }
    // Tests share compiled plugins: compiling six plugins takes a minute on a busy machine.
    command.envs(COMPILED);
    command
}

impl Server {
    pub async fn start(folder: &std::path::Path, url: &str) -> Self {
        let server = Self::spawn(program(folder, url));
        assert!(server.answers(PATIENCE).await, "the server did not start");
        server
    }

    /// Starts a server, which may not respond yet.
    pub fn spawn(mut program: Command) -> Self {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let child = program.arg("serve").env("ROOKERY_SERVER_LISTEN", address.to_string()).spawn().unwrap();
        Self { child, address }
    }

    /// True once it is ready; false if it is not within `limit`.
    pub async fn answers(&self, limit: Duration) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if self.is_ready().await.unwrap_or_default() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    async fn is_ready(&self) -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\r\n").await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        Ok(answer.starts_with(b"HTTP/1.1 200"))
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

/// Posts a status whose text is its key; returns the id if the server acknowledged it.
pub async fn publish(address: SocketAddr, key: &str) -> Option<String> {
    let body = format!("{{\"status\":\"{key}\"}}");
    let status = post(address, "/api/v1/statuses", TOKEN, key, &body).await?;
    Some(status["id"].as_str()?.to_owned())
}

/// Posts `body` as JSON; returns the response, if there is one.
async fn post(address: SocketAddr, path: &str, token: &str, key: &str, body: &str) -> Option<serde_json::Value> {
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
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
    // A truncated body is not an acknowledgement.
    serde_json::from_str(body).ok()
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
    database::migrate::run(&db).await.unwrap();
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
    // Fan-out skips accounts that were inactive for weeks.
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

/// Kills a server under load, some time after it `acknowledged` a few more writes: on a busy machine the first takes
/// long.
async fn kill_amid(server: &mut Server, round: usize, acknowledged: impl Fn() -> usize) {
    let before = acknowledged();
    let patience = Instant::now() + PATIENCE;
    while acknowledged() < before + 2 && Instant::now() < patience {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tokio::time::sleep(Duration::from_millis(50 + (round as u64 * 97) % 350)).await;
    server.kill();
}

/// Waits until all due jobs are done; dead jobs are a failure.
pub async fn settle(db: &Db) {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
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

/// Gives the author of the posts a key, and a follower on the server of `liar`.
async fn prepare_deliveries(db: &Db, liar: &Liar) {
    let (host, now) = (&liar.domain, now(db));
    liar.put("/inbox", Reply::status(202, ""));
    let uri = format!("http://{host}/users/carol");
    let follower = format!(
        "INSERT INTO accounts (id, username, domain, uri, actor_type, display_name, note, note_html, fields, locked,
             indexable, searchability, memorial, also_known_as, other_settings, inbox_url, shared_inbox_url,
             followers_count, following_count, statuses_count, created_at, updated_at, fetched_at, version)
         VALUES (1, 'carol', '{host}', '{uri}', 'Person', '', '', '', '[]', FALSE, TRUE, 'public', FALSE, '[]', '{{}}',
             '{uri}/inbox', 'http://{host}/inbox', 0, 0, 0, {now}, {now}, {now}, 1)"
    );
    let author = "(SELECT id FROM accounts WHERE username = 'alice')";
    let follow = format!(
        "INSERT INTO follows (id, account_id, target_account_id, created_at, show_reblogs, notify)
         VALUES (1, 1, {author}, {now}, TRUE, FALSE)"
    );
    for statement in [follower, follow] {
        db.execute_raw(&statement).await.unwrap();
    }
    let (author,) = db.fetch_raw::<(i64,)>(author.trim_matches(['(', ')'])).await.unwrap().remove(0);
    let time = model::clock::Clock::system().now();
    let mut tx = db.begin().await.unwrap();
    let job = store::job::NewJob {
        id: 1.into(),
        lane: model::job::Lane::Background,
        kind: "generate_key",
        key: None,
        payload: serde_json::json!({ "account": author.to_string() }),
        share: None,
        run_at: time,
        now: time,
    };
    store::job::insert(&mut tx, job).await.unwrap();
    tx.commit().await.unwrap();
}

/// Waits until every status was sent to the server of `liar`; interrupted deliveries skip their claims and back-off.
async fn all_arrive(db: &Db, liar: &Liar) {
    let sql = "SELECT uri FROM statuses";
    let statuses: Vec<String> = db.fetch_raw::<(String,)>(sql).await.unwrap().into_iter().map(|(uri,)| uri).collect();
    let mut missing = Vec::new();
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        for statement in [
            "UPDATE deliveries SET claimed_until = NULL WHERE claimed_until IS NOT NULL".to_owned(),
            format!("UPDATE jobs SET run_at = {} WHERE kind = 'deliver_to_host' AND state = 'ready'", now(db)),
        ] {
            db.execute_raw(&statement).await.unwrap();
        }
        let received: HashSet<String> =
            liar.received().iter().filter_map(|one| Some(one["object"]["id"].as_str()?.to_owned())).collect();
        missing = statuses.iter().filter(|uri| !received.contains(*uri)).collect();
        if missing.is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{} of {} never arrived: {missing:?}", missing.len(), statuses.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_posts_neither_loses_nor_doubles_acknowledged_statuses() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = prepare(&database.url).await;
    let liar = Liar::start().await;
    prepare_deliveries(&db, &liar).await;
    let posts = Posts::default();
    for round in 0..rounds() {
        let mut server = Server::start(folder.path(), &database.url).await;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| tokio::spawn(post_until_killed(server.address, writer, round, Arc::clone(&posts))))
            .collect();
        kill_amid(&mut server, round, || posts.lock().unwrap().iter().filter(|(_, id)| id.is_some()).count()).await;
        for writer in writers {
            writer.await.unwrap();
        }
    }
    // Several servers may share a PostgreSQL database, so interrupted jobs are released when their lease ends. Skips
    // five minutes.
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
    // Fan-out continued where it was interrupted: followers and author have all statuses.
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
    all_arrive(&db, &liar).await;
    drop(server);
    db.close().await;
}

/// Number of voters, and of polls per round.
const VOTERS: usize = 12;
const POLLS: usize = 40;
/// Number of schedules that are due when a server starts.
const DUE: i64 = 30;

/// A voter and a poll.
type Votes = Arc<Mutex<Vec<(usize, i64)>>>;

fn voter_token(voter: usize) -> String {
    format!("a-token-of-voter-{voter}")
}

/// Seeds polls and schedules for each round; returns the polls of all rounds.
async fn prepare_votes(db: &Db) -> Vec<i64> {
    let mut seed = Seed::after(db.engine(), "example.test", 10_000);
    let author = seed.account("pollster", None);
    for voter in 0..VOTERS {
        let account = seed.account(&format!("voter{voter}"), None);
        seed.token(account, &crypto::hash(&voter_token(voter)), "read write");
    }
    let polls = (0..POLLS * rounds()).map(|_| seed.status(&Status { author, ..Status::default() })).collect::<Vec<_>>();
    polls.iter().for_each(|status| seed.poll(*status, &["a", "b"]));
    seed.write(db).await;
    polls
}

/// Creates `DUE` schedules of the round, by the author of the polls, that are due now.
async fn schedule(db: &Db, round: usize) {
    let author: Vec<(i64,)> = db.fetch_raw("SELECT id FROM accounts WHERE username = 'pollster'").await.unwrap();
    let now = model::clock::Clock::system().now();
    let mut tx = db.begin().await.unwrap();
    for number in 0..DUE {
        let id = 20_000 + i64::try_from(round).unwrap() * DUE + number;
        let params = serde_json::json!({
            "text": format!("scheduled {id}"), "media_ids": [], "sensitive": null, "spoiler_text": "", "visibility": null,
            "language": "en", "scheduled_at": null, "in_reply_to_id": null, "poll": null, "allowed_mentions": null,
            "idempotency": null, "with_rate_limit": false, "application_id": null, "force_visibility": null,
            "searchability": null,
        });
        let scheduled = ScheduledStatus {
            id: id.into(),
            account_id: author[0].0.into(),
            scheduled_at: now,
            params: Json(params),
            failure: None,
            created_at: now,
        };
        store::scheduled_status::insert(&mut tx, &scheduled).await.unwrap();
        let job = store::job::NewJob {
            id: id.into(),
            lane: model::job::Lane::Background,
            kind: "publish_scheduled",
            key: None,
            payload: serde_json::json!({ "scheduled": id.to_string() }),
            share: None,
            run_at: now,
            now,
        };
        store::job::insert(&mut tx, job).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn vote_until_killed(address: SocketAddr, voter: usize, polls: Vec<i64>, votes: Votes) {
    for poll in polls {
        let path = format!("/api/v1/polls/{poll}/votes");
        let body = format!("{{\"choices\":[{}]}}", voter % 2);
        if post(address, &path, &voter_token(voter), "none", &body).await.is_none() {
            return;
        }
        votes.lock().unwrap().push((voter, poll));
    }
}

/// Waits until all jobs of a kind have run; interrupted jobs skip their back-off.
pub async fn finish_jobs(db: &Db, kind: &str) {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let jobs = format!("SELECT COUNT(*) FROM jobs WHERE kind = '{kind}'");
        if db.fetch_raw::<(i64,)>(&jobs).await.unwrap()[0].0 == 0 {
            return;
        }
        skip_back_off(db, kind).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("jobs of the kind {kind} were left");
}

/// Makes interrupted jobs of a kind due immediately. Writes only if there are some, because the server needs the write lock.
pub async fn skip_back_off(db: &Db, kind: &str) {
    let waiting = format!("kind = '{kind}' AND state = 'ready' AND run_at > {}", now(db));
    let jobs = format!("SELECT COUNT(*) FROM jobs WHERE {waiting}");
    if db.fetch_raw::<(i64,)>(&jobs).await.unwrap()[0].0 > 0 {
        db.execute_raw(&format!("UPDATE jobs SET run_at = created_at WHERE {waiting}")).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_votes_and_schedules_applies_each_once() {
    let folder = tempfile::tempdir().unwrap();
    let database = TestDatabase::create(folder.path()).await;
    let db = prepare(&database.url).await;
    let polls = prepare_votes(&db).await;
    let votes = Votes::default();
    for round in 0..rounds() {
        schedule(&db, round).await;
        let mut server = Server::start(folder.path(), &database.url).await;
        let of_round = &polls[round * POLLS..][..POLLS];
        let voters: Vec<_> = (0..VOTERS)
            .map(|voter| tokio::spawn(vote_until_killed(server.address, voter, of_round.to_vec(), Arc::clone(&votes))))
            .collect();
        kill_amid(&mut server, round, || votes.lock().unwrap().len()).await;
        for voter in voters {
            voter.await.unwrap();
        }
    }
    db.execute_raw(&format!("UPDATE jobs SET lease_until = {} WHERE state = 'running'", now(&db))).await.unwrap();
    let server = Server::start(folder.path(), &database.url).await;
    finish_jobs(&db, "publish_scheduled").await;
    settle(&db).await;
    let count = async |sql: &str| db.fetch_raw::<(i64,)>(sql).await.unwrap()[0].0;
    let differing = "SELECT COUNT(*) FROM polls p
        WHERE p.voters_count <> (SELECT COUNT(*) FROM poll_votes v WHERE v.poll_id = p.id)
           OR p.voters_count <> (SELECT SUM(o.votes_count) FROM poll_options o WHERE o.poll_id = p.id)";
    assert_eq!(count(differing).await, 0, "counters match the votes");
    let acknowledged = std::mem::take(&mut *votes.lock().unwrap());
    assert!(acknowledged.len() > rounds(), "only {} votes were acknowledged", acknowledged.len());
    for (voter, poll) in &acknowledged {
        let kept = format!(
            "SELECT COUNT(*) FROM poll_votes v JOIN accounts a ON a.id = v.account_id
             WHERE v.poll_id = {poll} AND a.username = 'voter{voter}'"
        );
        assert_eq!(count(&kept).await, 1, "the vote of {voter} in {poll}");
    }
    assert_eq!(count("SELECT COUNT(*) FROM scheduled_statuses").await, 0);
    let published = "SELECT COUNT(*) FROM statuses WHERE text LIKE 'scheduled %'";
    assert_eq!(count(published).await, DUE * i64::try_from(rounds()).unwrap());
    let distinct = "SELECT COUNT(DISTINCT text) FROM statuses WHERE text LIKE 'scheduled %'";
    assert_eq!(count(distinct).await, DUE * i64::try_from(rounds()).unwrap(), "each once");
    drop(server);
    db.close().await;
}
