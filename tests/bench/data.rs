//! The data set: 200 people, 20,000 statuses, 10,000 follows, and a crowd for two authors to be followed by.

use std::time::Duration;

use model::Time;
use model::clock::Clock;
use store::db::{Db, Engine, Options};
use store::migrate;

use crate::seed::{Reply, Seed, Status};

pub const DOMAIN: &str = "bench.test";
/// The token of whoever asks; the authors of 100 and 1,000 followers have theirs.
pub const TOKEN: &str = "bench-token";
pub const TOKEN_100: &str = "bench-token-100";
pub const TOKEN_1000: &str = "bench-token-1000";

const PEOPLE: i64 = 200;
const STATUSES_EACH: i64 = 100;
const FOLLOWS_EACH: i64 = 50;
const CROWD: i64 = 1_000;

/// What requests name.
pub struct Data {
    pub author: i64,
    /// Has 50 answers.
    pub root: i64,
    pub statuses: Vec<i64>,
}

/// Fills the empty database at `url`.
pub async fn fill(url: &str) -> Data {
    let db = open(url).await;
    migrate::run(&db).await.expect("the schema");
    let mut seed = Seed::new(db.engine(), DOMAIN);
    let people: Vec<i64> = (0..PEOPLE).map(|n| seed.account(&format!("person{n}"), None)).collect();
    for (n, person) in (0..).zip(&people) {
        for step in 1..=FOLLOWS_EACH {
            seed.follow(*person, people[usize::try_from((n + step * 3) % PEOPLE).expect("small")]);
        }
    }
    let mut statuses: Vec<(i64, i64)> = Vec::new();
    for n in 0..STATUSES_EACH {
        for (at, author) in (0..).zip(&people) {
            let number = n * PEOPLE + at;
            let earlier = statuses.get(usize::try_from(number * 7 / 8).expect("small")).copied();
            let text = format!(
                "Status {number}: the rooks are back in the elms, and the wind has gone round to the west again."
            );
            let status = Status { author: *author, text: &text, ..Status::default() };
            let id = match (number % 10, earlier) {
                (3, Some((status, account))) => {
                    seed.reply(*author, Reply { status, account, conversation: status }, "public")
                }
                (7, _) => seed.status(&Status { visibility: "unlisted", ..status }),
                _ => seed.status(&status),
            };
            if number % 10 != 3 {
                statuses.push((id, *author));
            }
        }
    }
    let (viewer, author) = (people[0], people[3]);
    let root = seed.status(&Status { author, text: "Who has seen the rooks?", ..Status::default() });
    let mut parent = Reply { status: root, account: author, conversation: root };
    for n in 0..50 {
        let from = people[usize::try_from(n % PEOPLE).expect("small")];
        let id = seed.reply(from, parent, "public");
        // Chains of five.
        parent = if n % 5 == 4 {
            Reply { status: root, account: author, ..parent }
        } else {
            Reply { status: id, account: from, ..parent }
        };
    }
    for n in 0..200 {
        let from = people[1 + n % 150];
        let about = statuses[n * 11].0;
        let kind = ["favourite", "mention", "follow", "reblog"][n % 4];
        seed.notification(viewer, from, kind, (kind != "follow").then_some(about));
    }
    let crowd: Vec<i64> = (0..CROWD).map(|n| seed.account(&format!("crowd{n}"), None)).collect();
    let [hundred, thousand] = ["hundred", "thousand"].map(|name| seed.account(name, None));
    crowd.iter().take(100).for_each(|follower| seed.follow(*follower, hundred));
    crowd.iter().for_each(|follower| seed.follow(*follower, thousand));
    for (person, token) in [(viewer, TOKEN), (hundred, TOKEN_100), (thousand, TOKEN_1000)] {
        seed.token(person, &crypto::hash(token), "read write follow");
    }
    seed.write(&db).await;
    finish(&db).await;
    db.close().await;
    Data { author, root, statuses: statuses.into_iter().map(|(id, _)| id).collect() }
}

/// Builds home timelines as fan-out would have, and has everyone been here just now.
async fn finish(db: &Db) {
    let now = now(db);
    db.execute_raw(&format!(
        "INSERT INTO feed_entries (kind, owner_id, status_id, author_id, original_id)
         SELECT 0, owner, id, author, id FROM (
            SELECT f.account_id AS owner, s.id, s.account_id AS author,
                   ROW_NUMBER() OVER (PARTITION BY f.account_id ORDER BY s.id DESC) AS number
            FROM follows f JOIN statuses s ON s.account_id = f.target_account_id
         ) entries WHERE number <= 400;
         UPDATE users SET last_active_at = {now};
         UPDATE oauth_tokens SET last_used_at = {now};"
    ))
    .await
    .expect("home timelines");
}

fn now(db: &Db) -> String {
    time(db, Clock::system().now())
}

/// A time as SQL.
pub fn time(db: &Db, time: Time) -> String {
    let micros = time.timestamp_micros();
    match db.engine() {
        Engine::Sqlite => micros.to_string(),
        Engine::Postgres => format!("to_timestamp({micros} / 1000000.0)"),
    }
}

pub async fn open(url: &str) -> Db {
    let options =
        Options { url: url.to_owned(), max_connections: 2, acquire_timeout: std::time::Duration::from_secs(60) };
    Db::open(&options).await.expect("the database")
}

/// Waits until all work that is due is done.
pub async fn settle(db: &Db) {
    for _ in 0..3_000 {
        let due =
            format!("SELECT COUNT(*) FROM jobs WHERE state = 'running' OR (state = 'ready' AND run_at <= {})", now(db));
        let jobs: Vec<(i64,)> = db.fetch_raw(&due).await.expect("the queue");
        if jobs[0].0 == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let kinds: Vec<(String, i64)> =
        db.fetch_raw("SELECT kind, COUNT(*) FROM jobs GROUP BY kind").await.expect("the queue");
    panic!("the queue did not empty within a minute: {kinds:?}");
}

/// A reaction of somebody's to a status, straight into the plugin's table.
pub async fn react(db: &Db, table: &str, status: i64) {
    let statement = format!(
        "INSERT INTO {table} (id, account_id, status_id, name, domain, emoji_id, created_at)
         SELECT s.id + 1, s.account_id, s.id, '\u{1f426}', '', NULL, 0 FROM statuses s WHERE s.id = {status}"
    );
    db.execute_raw(&statement).await.expect("a reaction");
}

/// Antennas of `keywords` keywords each, of which few occur in any status, straight into the plugin's tables.
pub async fn antennas(db: &Db, table: &str, counters: &str, owners: &[(i64,)], count: usize, keywords: usize) {
    for chunk in (0..count).collect::<Vec<_>>().chunks(500) {
        let rows: Vec<String> = chunk
            .iter()
            .map(|number| {
                let words: Vec<String> =
                    (0..keywords).map(|word| format!("\"word{}of{number}\"", word * 7919)).collect();
                let owner = owners[number % owners.len()].0;
                let yes = if db.engine() == Engine::Sqlite { "0" } else { "FALSE" };
                format!(
                    "({}, {owner}, 'a{number}', 0, {yes}, {yes}, {yes}, {yes}, {yes}, '{{\"keywords\":[{}]}}', 2)",
                    1_000_000 + number,
                    words.join(",")
                )
            })
            .collect();
        db.execute_raw(&format!("INSERT INTO {table} VALUES {}", rows.join(","))).await.expect("antennas");
    }
    db.execute_raw(&format!("UPDATE {counters} SET version = version + 1, epoch = epoch + 1"))
        .await
        .expect("a version");
}

/// How long the first status has waited that is still to be placed.
pub async fn fanout_lag(db: &Db) -> Duration {
    let micros = match db.engine() {
        Engine::Sqlite => "MIN(created_at)",
        Engine::Postgres => "CAST(EXTRACT(EPOCH FROM MIN(created_at)) * 1000000 AS BIGINT)",
    };
    let query = format!("SELECT {micros} FROM plugin_events WHERE state = 'ready' AND stream = 'fanout'");
    let first: Vec<(Option<i64>,)> = db.fetch_raw(&query).await.expect("the outbox");
    let behind = first[0].0.map_or(0, |at| Clock::system().now().timestamp_micros() - at);
    Duration::from_micros(u64::try_from(behind).unwrap_or(0))
}

/// Has statuses looked for a place in feeds, as if each had just been published.
pub async fn queue_fanout(db: &Db, plugin: i64, statuses: &[i64]) {
    let now = now(db);
    let first: Vec<(Option<i64>,)> = db.fetch_raw("SELECT MAX(seq) FROM plugin_events").await.expect("the outbox");
    let first = first[0].0.unwrap_or_default() + 1;
    for (chunk, at) in statuses.chunks(500).zip((0..).step_by(500)) {
        let rows: Vec<String> = (first + at..)
            .zip(chunk)
            .map(|(seq, status)| {
                format!("({seq}, {plugin}, 'fanout', 0, 'status.created', {status}, 'ready', 0, {now}, {now})")
            })
            .collect();
        db.execute_raw(&format!(
            "INSERT INTO plugin_events (seq, plugin_id, stream, shard, kind, subject_id, state, attempts, run_at, created_at)
             VALUES {}",
            rows.join(",")
        ))
        .await
        .expect("events");
    }
}
