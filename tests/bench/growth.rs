//! `cargo bench -- --growth`: cost of a request with a hundred times as many statuses, or accounts.
//!
//! A server with few and one with many run side by side and take turns, so that a change of the machine's speed
//! affects both. Pages have the same statuses in both: the additional statuses are older, and the additional people
//! write nothing.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use database::Db;
use database::db::Engine;

use crate::data::{self, Data, Size};
use crate::options::Options;
use crate::process::Process;
use crate::routes::{self, Route};
use crate::scratch::{self, Scratch};
use crate::site::Site;
use crate::subject::Subject;

/// Number of older copies of every status.
const COPIES: i64 = 99;
const CONNECTIONS: usize = 16;
const ROUNDS: usize = 3;
/// Routes that are not measured, by prefixes of their names: they read no table that grows.
const FLAT: [&str; 4] = ["/livez", "nodeinfo", "instance", "verify"];

/// Measures on SQLite, and on PostgreSQL if configured.
pub async fn measure(options: &Options) {
    for server in std::iter::once(None).chain(scratch::postgres().map(Some)) {
        let engine = if server.is_some() { "PostgreSQL" } else { "SQLite" };
        let base = filled(options, server.as_deref(), Size::MAIN).await;
        let many = base.scratch.copy().await;
        age(&many.url).await;
        println!("\n{engine}: from 10,000 statuses to {}", Size::MAIN.statuses as i64 * (COPIES + 1));
        let many = Filled { scratch: many, data: Arc::clone(&base.data) };
        side_by_side(options, [base, many]).await;
        let [few, many] = [0, 9_900].map(|crowd| Size { people: 100, crowd, statuses: 10_000, home: 50 });
        let (few, many) =
            (filled(options, server.as_deref(), few).await, filled(options, server.as_deref(), many).await);
        println!("\n{engine}: from 102 accounts to 10,002");
        side_by_side(options, [few, many]).await;
    }
}

struct Filled {
    scratch: Scratch,
    data: Arc<Data>,
}

async fn filled(options: &Options, server: Option<&str>, size: Size) -> Filled {
    let scratch = Scratch::new(server).await;
    let data = Arc::new(data::prepare(&Site::new(&options.program, &scratch, options.plugins), size).await);
    Filled { scratch, data }
}

async fn side_by_side(options: &Options, both: [Filled; 2]) {
    let sites = both.each_ref().map(|filled| Site::new(&options.program, &filled.scratch, options.plugins));
    let servers = [sites[0].start(&[]).await, sites[1].start(&[]).await];
    let dbs = [scratch::open(sites[0].url).await, scratch::open(sites[1].url).await];
    let subjects = [0, 1].map(|at: usize| Subject::new(servers[at].address, servers[at].id(), &dbs[at]));
    let routes = both.each_ref().map(|filled| routes::all(&filled.data.targets));
    println!("{:<26}{:>12}{:>12}{:>9}", "CPU us at 16 connections", "few", "many", "growth");
    for (few, many) in routes[0].iter().zip(&routes[1]) {
        if options.wants(&few.name) && !FLAT.iter().any(|flat| few.name.starts_with(flat)) {
            println!("{}", line(&subjects, [few, many]).await);
        }
    }
    for db in dbs {
        db.close().await;
    }
    servers.into_iter().for_each(Process::stop);
    for filled in both {
        filled.scratch.remove().await;
    }
}

/// The medians of a few rounds.
async fn line(subjects: &[Subject; 2], routes: [&Route; 2]) -> String {
    let next = [0, 1].map(|_| Arc::new(AtomicUsize::new(0)));
    let mut costs = [Vec::new(), Vec::new()];
    for at in [0, 1] {
        subjects[at].warm(routes[at], &next[at]).await;
    }
    for _ in 0..ROUNDS {
        for at in [0, 1] {
            let cost = subjects[at].load(routes[at], routes[at].amount, CONNECTIONS, &next[at]).await;
            costs[at].push(cost.total().expect("a process of ours"));
        }
    }
    let [few, many] = costs.map(|mut costs| {
        costs.sort_by(f64::total_cmp);
        costs[ROUNDS / 2]
    });
    format!("{:<26}{few:>12.0}{many:>12.0}{:>8.2}x", routes[0].name, many / few)
}

/// Tables with their columns; each copy of a row is older by `{old}`, and is named `{copy}`.
const AGED: [(&str, &str, &str); 7] = [
    ("conversations", "id, owner_account_id, created_at", "r.id - {old}, r.owner_account_id, r.created_at"),
    (
        "statuses",
        "id, account_id, uri, url, local, text, content, spoiler_text, sensitive, visibility, searchability, language, \
         conversation_id, in_reply_to_id, in_reply_to_account_id, reblog_of_id, listed, has_media, replies_count, \
         reblogs_count, favourites_count, created_at, version",
        "r.id - {old}, r.account_id, r.uri || '/{copy}', r.url, r.local, r.text, r.content, r.spoiler_text, r.sensitive, \
         r.visibility, r.searchability, r.language, r.conversation_id - {old}, r.in_reply_to_id - {old}, \
         r.in_reply_to_account_id, r.reblog_of_id - {old}, r.listed, r.has_media, r.replies_count, r.reblogs_count, \
         r.favourites_count, r.created_at, r.version",
    ),
    ("mentions", "id, status_id, account_id, silent", "r.id - {old}, r.status_id - {old}, r.account_id, r.silent"),
    ("status_tags", "tag_id, status_id", "r.tag_id, r.status_id - {old}"),
    (
        "media_attachments",
        "id, account_id, status_id, position, kind, state, mime, file, size_bytes, preview, meta, description, blurhash, \
         created_at, updated_at",
        "r.id - {old}, r.account_id, r.status_id - {old}, r.position, r.kind, r.state, r.mime, r.file, r.size_bytes, \
         r.preview, r.meta, r.description, r.blurhash, r.created_at, r.updated_at",
    ),
    (
        "favourites",
        "id, account_id, status_id, created_at",
        "r.id - {old}, r.account_id, r.status_id - {old}, r.created_at",
    ),
    (
        "notifications",
        "id, account_id, from_account_id, type, activity_id, status_id, filtered, created_at",
        "r.id - {old}, r.account_id, r.from_account_id, r.type, r.activity_id - {old}, r.status_id - {old}, r.filtered, \
         r.created_at",
    ),
];

/// Copies every status with all its records, [`COPIES`] times, each time further into the past. Home timelines are
/// full already, and would not contain the copies.
async fn age(url: &str) {
    let db = scratch::open(url).await;
    if db.engine() == Engine::Sqlite {
        db.execute_raw("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;").await.expect("for this connection");
    }
    let (first, last) = bounds(&db).await;
    let conditions: Vec<String> = AGED
        .iter()
        .map(|(table, ..)| format!("r.{} >= {first}", if *table == "status_tags" { "status_id" } else { "id" }))
        .collect();
    for copy in 1..=COPIES {
        let old = (last - first + 1) * copy;
        let mut statements = String::from("BEGIN;");
        for ((table, columns, values), of) in AGED.iter().zip(&conditions) {
            let values = values.replace("{old}", &old.to_string()).replace("{copy}", &copy.to_string());
            statements.push_str(&format!("INSERT INTO {table} ({columns}) SELECT {values} FROM {table} r WHERE {of};"));
        }
        statements.push_str("COMMIT;");
        db.execute_raw(&statements).await.expect("older statuses");
    }
    // In one statement and term by term, so that adjacent entries of the index are written together.
    let terms = format!(
        "WITH RECURSIVE copies (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM copies WHERE number < {COPIES})
         INSERT INTO status_terms (term, status_id)
         SELECT r.term, r.status_id - {} * c.number FROM status_terms r CROSS JOIN copies c",
        last - first + 1
    );
    db.execute_raw(&terms).await.expect("terms of older statuses");
    db.close().await;
}

/// The first and the last id of the copied rows.
async fn bounds(db: &Db) -> (i64, i64) {
    let bound = |which: &str| {
        let tables = ["statuses", "mentions", "media_attachments", "favourites", "notifications"];
        let each: Vec<String> = tables.iter().map(|table| format!("SELECT {which}(id) AS id FROM {table}")).collect();
        format!("SELECT {which}(id) FROM ({}) ids", each.join(" UNION ALL "))
    };
    (scratch::number(db, &bound("MIN")).await, scratch::number(db, &bound("MAX")).await)
}
