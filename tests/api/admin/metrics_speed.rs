//! The time of each metric on a server with a million statuses. Ignored by default, since it takes minutes:
//! `cargo test --test api metrics_of_a_million -- --ignored --nocapture`, also with `.ci/with-postgres`.

#![expect(clippy::print_stdout, reason = "the measurement is its output")]

use std::time::Instant;

use context::queue::{self, CountDays};
use serde_json::{Value, json};

use crate::harness::TestApp;

/// The number of statuses, spread over the days.
const STATUSES: i64 = 1_000_000;
/// Accounts on 2,000 servers, of which every fifth is local.
const ACCOUNTS: i64 = 25_000;
const DAYS: i64 = 400;
/// The longest time of a metric that is not cached, in milliseconds.
const MOST_MS: u128 = 300;

/// SQL: the id of a row that was made as the `number`th of `of`, the first one today.
fn id(number: &str, of: i64) -> String {
    let step = DAYS * 86_400_000 / of;
    format!("((1768478000000 - ({number}) * {step}) << 16)")
}

/// SQL: the numbers from 0 on.
fn numbers(count: i64) -> String {
    format!("WITH RECURSIVE n (n) AS (SELECT CAST(0 AS BIGINT) UNION ALL SELECT n + 1 FROM n WHERE n < {})", count - 1)
}

async fn fill(app: &TestApp) {
    let now = app.now_sql();
    let account = |number: &str| id(number, ACCOUNTS);
    let all = [
        format!(
            "INSERT INTO accounts (id, username, domain, uri, actor_type, display_name, note, note_html, fields,
                 also_known_as, locked, indexable, searchability, other_settings, memorial, followers_count,
                 following_count, statuses_count, created_at, updated_at, version)
             {} SELECT {}, 'a' || n, CASE WHEN n % 5 = 0 THEN NULL ELSE 'host' || (n % 2000) || '.test' END,
                 'https://host.test/' || n, 'Person', '', '', '', '[]', '[]', FALSE, TRUE, 'public', '{{}}', FALSE, 0, 0, 0,
                 {now}, {now}, 1
             FROM n",
            numbers(ACCOUNTS),
            account("n")
        ),
        format!(
            "INSERT INTO users (account_id, email, approved, disabled, preferences, feed_state, locale, last_active_at,
                 confirmed_at, created_at)
             SELECT a.id, a.username || '@a.test', TRUE, FALSE, '{{}}', 'dropped', 'de', {now}, {now}, {now}
             FROM accounts a WHERE a.domain IS NULL AND a.uri LIKE 'https://host.test/%'"
        ),
        // Each person is active on every fifth day.
        format!(
            "INSERT INTO active_days (day, account_id)
             {} SELECT 20468 - d.n, u.account_id FROM n d CROSS JOIN users u
             WHERE ((u.account_id >> 16) / {} + d.n) % 5 = 0 ON CONFLICT DO NOTHING",
            numbers(DAYS),
            DAYS * 86_400_000 / ACCOUNTS
        ),
        // The author is the account of a pseudo-random number.
        format!(
            "INSERT INTO statuses (id, account_id, uri, local, text, content, spoiler_text, sensitive, language, visibility,
                 searchability, listed, has_media, replies_count, reblogs_count, favourites_count, created_at, version,
                 in_reply_to_account_id)
             {} SELECT {}, {}, 'https://host.test/s/' || n, n % 5 = 0, '', '<p>Some words of a status that is as long as many.</p>',
                 '', FALSE, CASE n % 3 WHEN 0 THEN 'de' WHEN 1 THEN 'en' END, 'public', 'public', n % 4 <> 0, FALSE, 0, 0, 0,
                 {now}, 1, CASE WHEN n % 4 = 0 THEN {} END
             FROM n",
            numbers(STATUSES),
            id("n", STATUSES),
            account(&format!("(n * 7919) % {ACCOUNTS}")),
            account("0")
        ),
        format!(
            "INSERT INTO favourites (id, account_id, status_id, created_at) {} SELECT {}, {}, {}, {now} FROM n",
            numbers(STATUSES / 2),
            id("n", STATUSES / 2),
            account(&format!("(n * 104729) % {ACCOUNTS}")),
            id("n * 2", STATUSES)
        ),
        format!(
            "INSERT INTO media_attachments (id, account_id, status_id, position, kind, state, mime, file, size_bytes, meta,
                 created_at, updated_at)
             {} SELECT {}, {}, {}, 0, 'image', 'ready', 'image/png', 'key', 100000, '{{}}', {now}, {now} FROM n",
            numbers(STATUSES / 5),
            id("n", STATUSES / 5),
            account(&format!("(n * 5 * 7919) % {ACCOUNTS}")),
            id("n * 5", STATUSES)
        ),
        format!(
            "INSERT INTO follows (id, account_id, target_account_id, show_reblogs, notify, created_at)
             {} SELECT {}, {}, {}, TRUE, FALSE, {now} FROM n WHERE TRUE ON CONFLICT DO NOTHING",
            numbers(STATUSES / 10),
            id("n", STATUSES / 10),
            account(&format!("(n * 5) % {ACCOUNTS}")),
            account(&format!("(n * 31 + 1) % {ACCOUNTS}"))
        ),
        format!(
            "INSERT INTO reports (id, account_id, target_account_id, category, comment, forwarded, forward_to_domains,
                 action_taken_at, created_at)
             {} SELECT {}, {}, {}, 'other', '', FALSE, '[]', {now}, {now} FROM n",
            numbers(5_000),
            id("n", 5_000),
            account("0"),
            account("n")
        ),
        format!(
            "INSERT INTO tags (id, name, display_name, usable, created_at) VALUES (7, 'rooks', 'rooks', TRUE, {now})"
        ),
        format!(
            "INSERT INTO status_tags (tag_id, status_id) {} SELECT 7, {} FROM n",
            numbers(STATUSES / 20),
            id("n * 20", STATUSES)
        ),
    ];
    for statement in all {
        app.execute(&statement).await;
    }
    app.execute("ANALYZE").await;
}

#[tokio::test]
#[ignore = "takes minutes"]
async fn metrics_of_a_million_statuses_take_less_than_a_third_of_a_second() {
    let app = TestApp::new().await;
    let moderator = app.staff("moderator", "Moderator").await;
    let begun = Instant::now();
    fill(&app).await;
    println!("{:?}: filled in {:?}", app.db().engine(), begun.elapsed());
    let begun = Instant::now();
    let mut tx = app.db().begin().await.unwrap();
    queue::enqueue(&app.app, &mut tx, &CountDays {}).await.unwrap();
    tx.commit().await.unwrap();
    while app.count("counted_days").await < DAYS - 1 {
        app.run_jobs().await;
        app.tick();
    }
    println!("counted {DAYS} days in {:?}", begun.elapsed());

    let (tag, server) = (json!({ "id": 7 }), json!({ "domain": "host1.test", "include_subdomains": true }));
    let mut slow = Vec::new();
    let mut time = async |path: &str, key: &str, start: &str, more: Value| {
        let mut body = json!({ "keys": [key], "start_at": start, "end_at": "2026-01-15", "limit": 20 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let begun = Instant::now();
        let found = moderator.post(path).json(&body).ok().await;
        let taken = begun.elapsed();
        let total = found[0]["total"].as_str().unwrap_or("-");
        println!("{path:<28}{key:<28}from {start}{:>9.1} ms  total {total}", taken.as_secs_f64() * 1_000.0);
        if taken.as_millis() > MOST_MS {
            slow.push(format!("{path} {key} {taken:?}"));
        }
    };
    for start in ["2025-12-17", "2024-12-12"] {
        for key in ["active_users", "new_users", "interactions", "opened_reports", "resolved_reports"] {
            time("/api/v1/admin/measures", key, start, json!({})).await;
        }
        for key in ["tag_accounts", "tag_uses", "tag_servers"] {
            time("/api/v1/admin/measures", key, start, json!({ key: tag })).await;
        }
        for key in ["accounts", "media_attachments", "reports", "statuses", "follows", "followers"] {
            let key = format!("instance_{key}");
            time("/api/v1/admin/measures", &key, start, json!({ &*key: server })).await;
        }
        for key in ["languages", "sources", "servers", "space_usage", "software_versions"] {
            time("/api/v1/admin/dimensions", key, start, json!({})).await;
        }
        for key in ["tag_servers", "tag_languages"] {
            time("/api/v1/admin/dimensions", key, start, json!({ key: tag })).await;
        }
        for key in ["instance_accounts", "instance_languages"] {
            time("/api/v1/admin/dimensions", key, start, json!({ key: server })).await;
        }
    }
    time("/api/v1/admin/retention", "day", "2025-10-10", json!({})).await;
    time("/api/v1/admin/retention", "month", "2023-02-01", json!({ "frequency": "month" })).await;
    assert!(slow.is_empty(), "slower than {MOST_MS} ms: {slow:#?}");
}
