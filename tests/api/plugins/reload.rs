//! Reloads under load: slowly written files, concurrent requests, failing generations, changing tables.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use plugins::life::Outcome;
use plugins::life::State;
use plugins::life::{self, supervise, watch};
use plugins::{admin, start};

use super::shelf::{Shelf, manifest, route, routes};

/// Time after which a test counts as hanging.
const HANGS: Duration = Duration::from_secs(60);

/// Waits until `done`.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < HANGS, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Replaces a manifest atomically, so that a partial one is never read.
fn put_version(shelf: &Shelf, version: &str) {
    let folder = shelf.folder("notes");
    std::fs::write(folder.join(".new"), manifest("notes", version, "")).unwrap();
    std::fs::rename(folder.join(".new"), folder.join("plugin.toml")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_files_are_served_soon_and_once() {
    let shelf = Shelf::in_development().await;
    shelf.serve("notes").await;
    let (first, _) = shelf.serving("notes").unwrap();
    let watching = tokio::spawn(watch::run(shelf.app.plugins()));

    put_version(&shelf, "1.1.0");
    until("the new version", || shelf.serving("notes") == Some((first + 1, "1.1.0".to_owned()))).await;

    // Touched files and files outside the package: neither starts a generation, which would change the next number.
    put_version(&shelf, "1.1.0");
    std::fs::create_dir_all(shelf.folder("notes").join("target")).unwrap();
    std::fs::write(shelf.folder("notes").join("target/x"), "x").unwrap();
    put_version(&shelf, "1.2.0");
    until("the next version", || shelf.serving("notes").unwrap().1 == "1.2.0").await;
    assert_eq!(shelf.serving("notes").unwrap().0, first + 2);
    watching.abort();
}

/// Number of reloads under load.
#[expect(clippy::disallowed_methods, reason = "a test's environment says how long to go on")]
fn reloads() -> u16 {
    std::env::var("RELOADS").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// A plugin whose responses contain a number.
fn put_numbered(shelf: &Shelf, number: u16) {
    let status = 200 + number % 100;
    let wasm = routes(&format!("(i32.store16 (i32.const 1032) (i32.const {status})) (call $ok)"));
    shelf.put_component("notes", &manifest("notes", &format!("1.0.{number}"), &route("notes")), &wasm);
}

/// The generation of a response, from its header.
fn generation_of(header: &str) -> u64 {
    let generation = header.strip_prefix("notes@").and_then(|rest| rest.split_once('(')).map(|(number, _)| number);
    generation.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{header:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_succeed_during_reloads() {
    let shelf = Shelf::in_development().await;
    put_numbered(&shelf, 0);
    shelf.enable("notes").await.unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let newest = Arc::new(AtomicU64::new(0));
    let askers: Vec<_> = (0..4)
        .map(|_| {
            let (client, over, newest) = (shelf.app.anonymous(), Arc::clone(&over), Arc::clone(&newest));
            tokio::spawn(async move {
                let mut answers = Vec::new();
                while !over.load(Ordering::Relaxed) {
                    let answer = client.get("/api/v1/notes").send().await;
                    let header = answer.header("x-plugin").to_owned();
                    newest.fetch_max(generation_of(&header), Ordering::Relaxed);
                    answers.push((header, answer.status.as_u16()));
                }
                answers
            })
        })
        .collect();
    let mut served = vec![shelf.serving("notes").unwrap().0];
    for number in 1..=reloads() {
        put_numbered(&shelf, number);
        assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
        let generation = shelf.serving("notes").unwrap().0;
        served.push(generation);
        until("an answer of the new generation", || newest.load(Ordering::Relaxed) == generation).await;
    }
    over.store(true, Ordering::Relaxed);
    let mut answers = Vec::new();
    for asker in askers {
        answers.extend(asker.await.unwrap());
    }

    // Each response names its generation and has its content: none failed, none is mixed.
    let first = served[0];
    assert!(served.iter().zip(first..).all(|(generation, expected)| *generation == expected), "{served:?}");
    let mut seen = BTreeSet::new();
    for (header, status) in &answers {
        let generation = generation_of(header);
        assert_eq!(u64::from(*status), 200 + (generation - first) % 100, "{header}");
        seen.insert(generation);
    }
    assert!(served[1..].iter().all(|generation| seen.contains(generation)), "{seen:?}");

    admin::disable(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    life::follow(&shelf.app.plugins()).await;
    shelf.app.anonymous().get("/api/v1/notes").fails(404).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trapping_generation_is_rolled_back() {
    let shelf = Shelf::in_development().await;
    shelf.put_route("notes", "1.0.0");
    shelf.enable("notes").await.unwrap();
    shelf.put_component("notes", &manifest("notes", "2.0.0", &route("notes")), &routes("(unreachable)"));
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));

    for _ in 0..25 {
        let status = shelf.app.anonymous().get("/api/v1/notes").send().await.status;
        assert!(status == 500 || status == 503, "{status}");
    }
    supervise::check(&shelf.app.plugins()).await;
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0", "{:?}", shelf.app.plugins().plugins.observed.of("notes"));
    shelf.app.anonymous().get("/api/v1/notes").ok().await;
    let observed = shelf.app.plugins().plugins.observed.of("notes");
    assert!(observed.history.iter().any(|event| event.what == "rolled back"), "{observed:?}");
    assert!(observed.failures.iter().any(|failed| failed.ended == "trap"), "{observed:?}");
    supervise::check(&shelf.app.plugins()).await;
    assert_eq!(shelf.state("notes"), State::Active, "the previous generation is not to blame");
}

const SQL: &str = "[sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n";

fn write(shelf: &Shelf, path: &str, text: &str) {
    let path = shelf.folder("notes").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Puts a package with tables, whose single route runs `body`.
fn put_tables(shelf: &Shelf, version: &str, body: &str) {
    let more = format!("{SQL}{}", route("notes"));
    shelf.put_component("notes", &manifest("notes", version, &more), &routes(body));
}

#[tokio::test(flavor = "multi_thread")]
async fn generation_is_rolled_back_after_migration() {
    let shelf = Shelf::in_development().await;
    write(&shelf, "migrations/0001_notes.sql", "create table notes (id bigint primary key, text text not null);\n");
    write(&shelf, "sql/queries.sql", "-- name: all returns: many\nselect id, text from notes order by id;\n");
    put_tables(&shelf, "1.0.0", "(call $ok)");
    shelf.enable("notes").await.unwrap();
    write(&shelf, "migrations/0002_more.sql", "alter table notes add column words text;\n");
    put_tables(&shelf, "2.0.0", "(unreachable)");
    shelf.reload("notes").await.unwrap();
    for _ in 0..25 {
        shelf.app.anonymous().get("/api/v1/notes").send().await;
    }
    supervise::check(&shelf.app.plugins()).await;
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
    shelf.app.anonymous().get("/api/v1/notes").ok().await;
    let observed = shelf.app.plugins().plugins.observed.of("notes");
    assert!(observed.history.iter().any(|event| event.what == "rolled back"), "{observed:?}");
    // As after a restart.
    admin::disable(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    let mut tx = shelf.app.db().begin().await.unwrap();
    let mut plugin = store::plugin::find(&mut tx, "notes").await.unwrap().unwrap();
    plugin.enabled = true;
    store::plugin::update(&mut tx, &plugin).await.unwrap();
    tx.commit().await.unwrap();
    start(&shelf.app.plugins()).await;
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");
}

#[tokio::test(flavor = "multi_thread")]
async fn rollback_needs_working_generation() {
    let shelf = Shelf::in_development().await;
    write(&shelf, "migrations/0001_notes.sql", "create table notes (id bigint primary key, text text not null);\n");
    write(&shelf, "sql/queries.sql", "-- name: all returns: many\nselect id, text from notes order by id;\n");
    put_tables(&shelf, "1.0.0", "(call $ok)");
    shelf.enable("notes").await.unwrap();
    write(&shelf, "migrations/0002_more.sql", "alter table notes add column words text;\n");
    put_tables(&shelf, "2.0.0", "(call $ok)");
    shelf.reload("notes").await.unwrap();
    admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap();
    shelf.reload("notes").await.unwrap();
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0", "back over what expands the tables");

    write(&shelf, "migrations/0003_less.sql", "-- contract\nalter table notes drop column text;\n");
    write(&shelf, "sql/queries.sql", "-- name: all returns: many\nselect id, words from notes order by id;\n");
    put_tables(&shelf, "3.0.0", "(call $ok)");
    shelf.reload("notes").await.unwrap();
    let before = admin::find(&shelf.app.plugins(), "notes").await.unwrap().plugin;
    let refused = admin::rollback(&shelf.app.plugins(), &model::Staff::operator(), "notes").await.unwrap_err();
    assert!(refused.to_string().contains("compatible-from"), "{refused}");
    assert_eq!(admin::find(&shelf.app.plugins(), "notes").await.unwrap().plugin, before, "no other version is desired");
    assert_eq!(shelf.state("notes"), State::Active);
    assert_eq!(shelf.reload("notes").await, Ok(Outcome::Unchanged));
}

#[tokio::test(flavor = "multi_thread")]
async fn candidate_load_is_bounded_by_admin() {
    let keys = [("ROOKERY_SERVER_DEVELOPMENT", "true"), ("ROOKERY_PLUGINS_MIGRATION_TIMEOUT_SECONDS", "1")];
    let shelf = Shelf::with(&keys).await;
    let numbers: Vec<String> = (1..400).map(|number| format!("({number})")).collect();
    let fill =
        format!("create table notes (id bigint primary key); insert into notes (id) values {};", numbers.join(", "));
    let much = "insert into notes (id) select a.id from notes a join notes b on true join notes c on true join notes d on true \
                where a.id + b.id + c.id + d.id < 0;";
    write(&shelf, "migrations/0001_notes.sql", &format!("{fill}{much}"));
    write(&shelf, "sql/queries.sql", "-- name: all returns: many\nselect id from notes order by id;\n");
    put_tables(&shelf, "1.0.0", "(call $ok)");
    let begun = Instant::now();
    let fault = shelf.enable("notes").await.unwrap_err();
    assert!(begun.elapsed() < HANGS, "{:?}", begun.elapsed());
    assert!(fault.message.contains("longer than 1 s") && fault.message.contains("split"), "{fault}");
    let [alice] = shelf.app.accounts(["alice"]).await;
    alice.publish(&serde_json::json!({"status": "the writer is free"})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_that_blocks_others_is_retried_later() {
    let keys = [("ROOKERY_SERVER_DEVELOPMENT", "true"), ("ROOKERY_PLUGINS_CONTENDED_MIGRATION_MS", "100")];
    let shelf = Shelf::with(&keys).await;
    let alice = shelf.app.account("alice").await;
    let numbers: Vec<String> = (1..=64).map(|number| format!("({number})")).collect();
    let fill =
        format!("create table notes (id bigint primary key); insert into notes (id) values {};", numbers.join(", "));
    // Some hundred milliseconds of work: longer than other statements wait.
    let much = "insert into notes (id) select a.id from notes a join notes b on true join notes c on true \
                where a.id + b.id + c.id < 0;";
    write(&shelf, "migrations/0001_notes.sql", &format!("{fill}{}", much.repeat(20)));
    write(&shelf, "sql/queries.sql", "-- name: all returns: many\nselect id from notes order by id;\n");
    put_tables(&shelf, "1.0.0", "(call $ok)");
    let over = Arc::new(AtomicBool::new(false));
    let writes = tokio::spawn({
        let over = Arc::clone(&over);
        async move {
            let mut longest = Duration::ZERO;
            while !over.load(Ordering::Acquire) {
                let begun = Instant::now();
                alice.publish(&serde_json::json!({"status": "meanwhile"})).await;
                longest = longest.max(begun.elapsed());
            }
            longest
        }
    });
    let (quiet, begun) = (Arc::clone(&over), Instant::now());
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(800)).await;
        quiet.store(true, Ordering::Release);
    });
    let enabled = shelf.enable("notes").await;
    assert!(enabled.is_ok(), "{enabled:?} after {:?}", begun.elapsed());
    assert!(begun.elapsed() < HANGS, "{:?}", begun.elapsed());
    assert_eq!(shelf.state("notes"), State::Active);
    over.store(true, Ordering::Release);
    let longest = writes.await.unwrap();
    assert!(longest < HANGS, "those who write do not wait for it: {longest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn migration_may_be_incompatible_with_previous_generation() {
    let shelf = Shelf::in_development().await;
    let sql = "[sql]\nmigrations = \"migrations\"\nstatements = \"sql/queries.sql\"\n";
    let write = |path: &str, text: &str| {
        let path = shelf.folder("notes").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("migrations/0001_notes.sql", "create table notes (id bigint primary key, text text not null);\n");
    write("sql/queries.sql", "-- name: all returns: many\nselect id, text from notes order by id;\n");
    shelf.put("notes", "1.0.0", sql);
    shelf.enable("notes").await.unwrap();

    write("migrations/0002_words.sql", "alter table notes rename column text to words;\n");
    write("sql/queries.sql", "-- name: all returns: many\nselect id, words from notes order by id;\n");
    shelf.put("notes", "2.0.0", sql);
    let fault = shelf.reload("notes").await.unwrap_err();
    assert!(fault.message.contains("mark the migration with `-- contract`"), "{fault}");
    assert_eq!(shelf.serving("notes").unwrap().1, "1.0.0");

    write("migrations/0002_words.sql", "-- contract\nalter table notes rename column text to words;\n");
    assert!(matches!(shelf.reload("notes").await, Ok(Outcome::Loaded(_))));
    assert_eq!(shelf.serving("notes").unwrap().1, "2.0.0");

    write("migrations/0001_notes.sql", "create table notes (id bigint primary key);\n");
    let fault = shelf.reload("notes").await.unwrap_err();
    assert_eq!(fault.stage, rookery_plugin_host::Stage::Migrate, "an applied migration was edited: {fault}");

    plugins::install::uninstall(&shelf.app.plugins(), &model::Staff::operator(), "notes", true).await.unwrap();
    assert_eq!(shelf.serving("notes"), None);
    std::fs::remove_file(shelf.folder("notes").join("migrations/0002_words.sql")).unwrap();
    write("sql/queries.sql", "-- name: all returns: many\nselect id from notes order by id;\n");
    shelf.put("notes", "3.0.0", sql);
    assert!(matches!(shelf.enable("notes").await, Ok(Outcome::Loaded(_))), "its tables were dropped and recreated");
}

#[tokio::test]
async fn two_plugins_cannot_have_one_route_and_none_has_a_core_route() {
    let shelf = Shelf::in_development().await;
    shelf.put_route("notes", "1.0.0");
    shelf.enable("notes").await.unwrap();
    shelf.put_component("other", &manifest("other", "1.0.0", &route("notes")), &routes("(call $ok)"));
    let fault = shelf.enable("other").await.unwrap_err();
    assert!(fault.message.contains("notes") && fault.message.contains("other"), "{fault}");
    assert_eq!(shelf.serving("other"), None);
    assert!(shelf.serving("notes").is_some());

    let claims = manifest("third", "1.0.0", &route("statuses"));
    shelf.put_component("third", &claims, &routes("(call $ok)"));
    start(&shelf.app.plugins()).await;
    assert_eq!(shelf.serving("third"), None);
}
