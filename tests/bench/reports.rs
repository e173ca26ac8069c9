//! Annual reports: the cost of a report of a prolific author.

use std::time::Instant;

use database::{Db, Engine};

use crate::measure::millis;
use crate::site::Site;

/// Statuses within the year.
const STATUSES: i64 = 100_000;
const YEAR: i64 = 2025;
/// 2025-01-02, in milliseconds.
const FROM: i64 = 1_735_776_000_000;
/// Time span of all statuses, which starts at `FROM`, in milliseconds: 350 days.
const SPAN: i64 = 350 * 24 * 3600 * 1000;

/// Creates one report on a server with the plugin, by the command.
pub async fn measure(site: &Site<'_>, db: &Db) {
    let people = "SELECT a.id, a.username FROM accounts a JOIN users u ON u.account_id = a.id ORDER BY a.id LIMIT 1";
    let (account, name) = db.fetch_raw::<(i64, String)>(people).await.expect("people").remove(0);
    fill(db, account).await;
    let server = site.start(&[]).await;
    let idle = server.own_memory();
    let wanted = serde_json::json!({ "year": YEAR, "account": name }).to_string();
    let begun = Instant::now();
    site.run(&["plugin", "run", "annual_reports", "generate", &wanted], &[]);
    println!(
        "the report of {STATUSES} statuses: {:.0} ms, {:+.1} MiB",
        millis(begun.elapsed()),
        server.own_memory() - idle
    );
    server.stop();
    db.execute_raw("DELETE FROM statuses WHERE uri LIKE 'https://reported.test/%'").await.expect("the statuses");
}

/// Half of the statuses are replies, and about half have a hashtag.
async fn fill(db: &Db, account: i64) {
    let step = (SPAN << 16) / STATUSES;
    let made = match db.engine() {
        Engine::Sqlite => "(i >> 16) * 1000",
        Engine::Postgres => "to_timestamp((i >> 16) / 1000.0)",
    };
    let first = FROM << 16;
    let numbers = format!(
        "WITH RECURSIVE n (k, i) AS (SELECT CAST(1 AS BIGINT), {first} + {step}
             UNION ALL SELECT k + 1, i + {step} FROM n WHERE k < {STATUSES})"
    );
    let statuses = format!(
        "{numbers} INSERT INTO statuses (id, account_id, uri, local, text, content, spoiler_text, sensitive, visibility,
            searchability, listed, has_media, replies_count, reblogs_count, favourites_count, created_at, version,
            in_reply_to_account_id)
         SELECT i, {account}, 'https://reported.test/' || k, TRUE, 'hello', '<p>hello</p>', '', FALSE, 'public', 'public',
            FALSE, FALSE, k % 7, k % 11, k % 13, {made}, 1,
            CASE WHEN k % 2 = 0 THEN (SELECT MIN(id) + k % 500 FROM accounts) END FROM n"
    );
    db.execute_raw(&statuses).await.expect("statuses");
    let tagged = "INSERT INTO status_tags (tag_id, status_id)
         SELECT (SELECT MIN(id) FROM tags), s.id FROM statuses s
         WHERE s.uri LIKE 'https://reported.test/%' AND s.favourites_count < 6";
    db.execute_raw(tagged).await.expect("hashtags");
}
