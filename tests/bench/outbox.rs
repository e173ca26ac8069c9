//! Rows of plugins: reactions, antennas, and statuses to be placed in feeds.

use std::time::Duration;

use database::Db;
use database::db::Engine;
use model::clock::Clock;

use crate::scratch::now;

/// The name of a plugin's table.
pub fn table(db: &Db, plugin: &str, table: &str) -> String {
    match db.engine() {
        Engine::Sqlite => format!("p_{plugin}__{table}"),
        Engine::Postgres => format!("p_{plugin}.{table}"),
    }
}

/// Makes the authors of a tenth of the statuses react to them.
pub async fn react(db: &Db) {
    let statement = format!(
        "INSERT INTO {} (id, account_id, status_id, name, domain, emoji_id, created_at)
         SELECT s.id + 1, s.account_id, s.id, '\u{1f426}', '', NULL, 0 FROM statuses s
         WHERE s.reblog_of_id IS NULL AND s.id / 65536000 % 10 = 0",
        table(db, "emoji_reactions", "reactions")
    );
    db.execute_raw(&statement).await.expect("reactions");
}

/// Inserts antennas of `keywords` keywords each into the plugin's tables; few of the keywords occur in any status.
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

/// Age of the oldest status that is not placed yet.
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

/// Queues statuses for placement in feeds, as if each had just been published.
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
