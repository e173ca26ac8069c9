//! Cost of plugins: a route compared with a similar one of the core, a page with and without decoration, matching for
//! ten thousand antennas, ten more plugins at the start and in memory, and the time from a saved file to a served
//! one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use database::Db;
use database::db::Engine;

use crate::data::{DOMAIN, Data};
use crate::floor::beside;
use crate::load::{self, Amount, Connection, Requests, request};
use crate::measure::millis;
use crate::outbox::{self, table};
use crate::process::{Process, postgres_cpu};
use crate::reports;
use crate::scratch;
use crate::site::Site;
use crate::spinning;
use crate::start::median;

/// Embedded plugins.
const OWN: [&str; 10] = [
    "annual_reports",
    "antennas",
    "bookmark_categories",
    "circles",
    "collections",
    "crypto",
    "emoji_reactions",
    "invites",
    "profile",
    "reaction_deck",
];
const ANTENNAS: usize = 10_000;
const KEYWORDS: usize = 10;
/// Number of statuses to be matched.
const MATCHED: usize = 10_000;
/// Statuses per second, and number of seconds, for the measurement of the lag of matching.
const PACE: (usize, u64) = (1_000, 60);
/// Time for which an idle process is measured.
const IDLE: Duration = Duration::from_secs(10);
/// Rows that another process adds to the outbox are found by polling only.
pub const POLL: Duration = Duration::from_millis(50);
/// Turns of a comparison, of which the median counts.
const TURNS: usize = 3;
/// Distinct pages of the public timeline.
const PAGES: usize = 900;
const COPIES: usize = 10;
const RELOADS: usize = 20;

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, data: &Data) {
    println!("\nPlugins (CPU microseconds for a request; off: no plugin, on: those that come with the server)\n");
    let tokens = data.tokens();
    switch(site, &[], "disable", &OWN);
    let off = site.start(&[]).await;
    let (home_off, markers) =
        (cpu(&off, home(data)).await, cpu(&off, get(data, "/api/v1/markers?timeline[]=home")).await);
    first_looks(&off, data, tokens[0]).await;
    let pages_off = first_looks(&off, data, tokens[1]).await;
    off.stop();
    switch(site, &[], "enable", &OWN);
    let on = site.start(&[]).await;
    let db = scratch::open(site.url).await;
    let home_on = cpu(&on, home(data)).await;
    println!("home, 20: off {home_off:.0}, on {home_on:.0}: {:+.0} %", (home_on / home_off - 1.0) * 100.0);
    first_looks(&on, data, tokens[0]).await;
    let pages_on = first_looks(&on, data, tokens[1]).await;
    println!(
        "a page, 20, that the viewer never saw: off {pages_off:.0}, on {pages_on:.0}: {:+.0} %",
        (pages_on / pages_off - 1.0) * 100.0
    );
    let route = cpu(&on, get(data, "/api/v1/bookmark_categories")).await;
    println!(
        "a route: core (markers) {markers:.0}, plugin (bookmark_categories) {route:.0}: {:+.0} us",
        route - markers
    );
    let category = category(&on, data).await;
    let (core, native) = (
        cpu(&on, get(data, "/api/v1/bookmarks")).await,
        cpu(&on, get(data, &format!("/api/v1/bookmark_categories/{category}/statuses"))).await,
    );
    println!(
        "20 statuses of a statement: core (bookmarks) {core:.0}, native (a category) {native:.0}: {:.2}x",
        native / core
    );
    on.stop();
    antennas(site, &db, data).await;
    reports::measure(site, &db).await;
    switch(site, &[], "disable", &OWN);
    beside_spinning(site, data).await;
    copies(site, data).await;
    db.close().await;
}

/// The home timeline with all plugins, compared with none: in turns, since a machine's speed changes during the
/// measurement.
pub async fn home_with_all(site: &Site<'_>, data: &Data) {
    println!("\nHome, 20, with {} plugins on and with none (CPU microseconds)\n", OWN.len());
    let mut costs = [Vec::new(), Vec::new()];
    for _ in 0..TURNS {
        for (verb, costs) in ["disable", "enable"].into_iter().zip(&mut costs) {
            switch(site, &[], verb, &OWN);
            let server = site.start(&[]).await;
            costs.push(Duration::from_nanos((cpu(&server, home(data)).await * 1e3) as u64));
            server.stop();
        }
    }
    switch(site, &[], "disable", &OWN);
    let [off, on] = costs.map(|costs| median(costs.into_iter()).as_secs_f64() * 1e6);
    println!("off {off:.0}, on {on:.0}: {:+.0} %", (on / off - 1.0) * 100.0);
}

/// With a guest of the tests that computes on request.
async fn beside_spinning(site: &Site<'_>, data: &Data) {
    let guests = concat!(env!("CARGO_MANIFEST_DIR"), "/target/guests");
    let environment = [("PLUGINS_EMBEDDED", "false"), ("PLUGINS_DIR", guests)];
    switch(site, &environment, "enable", &["mirror"]);
    let server = site.start(&environment).await;
    spinning::measure(&server, data).await;
    server.stop();
}

/// Enables or disables plugins while the server is stopped.
pub fn switch(site: &Site<'_>, environment: &[(&str, &str)], verb: &str, names: &[&str]) {
    let yes: &[&str] = if verb == "enable" { &["--yes"] } else { &[] };
    names.iter().for_each(|name| site.run(&[&["plugin", verb, name], yes].concat(), environment));
}

fn get(data: &Data, path: &str) -> Requests {
    let bytes = request("GET", path, DOMAIN, Some(data.tokens()[0]), None);
    Arc::new(move |_| bytes.clone())
}

fn home(data: &Data) -> Requests {
    get(data, "/api/v1/timelines/home")
}

/// Processor time of the server per request, in microseconds.
async fn cpu(server: &Process, requests: Requests) -> f64 {
    let next = Arc::new(AtomicUsize::new(0));
    let amount = |time| Amount { requests: usize::MAX, time: Duration::from_millis(time) };
    load::run(server.address, 4, amount(500), &requests, &next).await;
    let before = server.cpu();
    let run = load::run(server.address, 4, amount(3_000), &requests, &next).await;
    (server.cpu() - before).as_secs_f64() * 1e6 / run.requests.max(1) as f64
}

/// Processor time for one of many pages, each requested by `token` for the first time. The common rendering of a
/// status is cached after its first use, so request the pages with another token before.
async fn first_looks(server: &Process, data: &Data, token: &str) -> f64 {
    let newest: Vec<i64> = data.statuses.iter().rev().step_by(data.statuses.len() / PAGES).copied().collect();
    let token = token.to_owned();
    let requests: Requests = Arc::new(move |number| {
        let path = format!("/api/v1/timelines/public?max_id={}", newest[number % newest.len()]);
        request("GET", &path, DOMAIN, Some(&token), None)
    });
    let before = server.cpu();
    let amount = Amount { requests: PAGES, time: Duration::from_secs(60) };
    let run = load::run(server.address, 4, amount, &requests, &Arc::default()).await;
    (server.cpu() - before).as_secs_f64() * 1e6 / run.requests.max(1) as f64
}

async fn post(server: &Process, data: &Data, path: &str, body: &str) -> serde_json::Value {
    let bytes = request("POST", path, DOMAIN, Some(data.tokens()[0]), Some(body));
    serde_json::from_slice(&Connection::open(server.address).await.ask(&bytes).await).expect("JSON")
}

/// Creates a category with 20 statuses, which are bookmarked.
async fn category(server: &Process, data: &Data) -> String {
    let made = post(server, data, "/api/v1/bookmark_categories", "{\"title\":\"Birds\"}").await;
    let id = made["id"].as_str().expect("an id").to_owned();
    let statuses: Vec<String> = data.statuses.iter().take(20).map(ToString::to_string).collect();
    let body = serde_json::json!({ "status_ids": statuses }).to_string();
    post(server, data, &format!("/api/v1/bookmark_categories/{id}/statuses"), &body).await;
    id
}

/// Ten thousand antennas of ten keywords: cost of placing a status, throughput and lag, compared with the same work
/// without a sandbox.
async fn antennas(site: &Site<'_>, db: &Db, data: &Data) {
    let poll = POLL.as_millis().to_string();
    let server = site.start(&[("JOBS_POLL_INTERVAL_MS", &poll)]).await;
    let owners: Vec<(i64,)> =
        db.fetch_raw("SELECT account_id FROM users ORDER BY account_id LIMIT 400").await.expect("people");
    let made = post(&server, data, "/api/v1/antennas", "{\"title\":\"one\"}").await;
    let path = format!("/api/v1/antennas/{}/keywords", made["id"].as_str().expect("an id"));
    post(&server, data, &path, "{\"keywords\":[\"rooks\"]}").await;
    outbox::antennas(
        db,
        &table(db, "antennas", "antennas"),
        &table(db, "antennas", "counters"),
        &owners,
        ANTENNAS,
        KEYWORDS,
    )
    .await;
    let plugin = placing("plugin", &server, db, data).await;
    server.stop();
    let placed = newest_placed(db).await;
    db.execute_raw("DELETE FROM feed_entries WHERE kind >= 100").await.expect("the feeds of plugins");
    let twin = beside("--antennas", site.url).await;
    let native = placing("native", &twin, db, data).await;
    twin.stop();
    assert_eq!(newest_placed(db).await, placed, "both place the same");
    println!(
        "antennas, plugin against native: {:.2}x at most speed, {:.2}x at {} a second",
        plugin.0 / native.0,
        plugin.1 / native.1,
        PACE.0
    );
}

/// Lets `process` place statuses, at full speed and at a given pace: processor time for each, in microseconds.
async fn placing(name: &str, process: &Process, db: &Db, data: &Data) -> (f64, f64) {
    let id: Vec<(i64,)> = db.fetch_raw("SELECT id FROM plugins WHERE name = 'antennas'").await.expect("the plugin");
    // The first batch reads the antennas.
    outbox::queue_fanout(db, id[0].0, &data.statuses[..100]).await;
    waited(db).await;
    let statuses: Vec<i64> = data.statuses.iter().copied().cycle().take(MATCHED).collect();
    outbox::queue_fanout(db, id[0].0, &statuses).await;
    let (begun, cpu) = (Instant::now(), spent(process, db));
    waited(db).await;
    let (time, cpu) = (begun.elapsed(), spent(process, db) - cpu);
    let fast = cpu.as_secs_f64() * 1e6 / MATCHED as f64;
    println!(
        "{name}: {ANTENNAS} antennas of {KEYWORDS} keywords: {:.0} statuses a second, {fast:.0} us CPU for each",
        MATCHED as f64 / time.as_secs_f64(),
    );
    let (pace, seconds) = PACE;
    // Subtracts the cost of idle time, since the process polls for other work as often.
    let idle = spent(process, db);
    tokio::time::sleep(IDLE).await;
    let idle = (spent(process, db) - idle).as_secs_f64() / IDLE.as_secs_f64();
    let mut behind = Duration::ZERO;
    let (begun, cpu) = (Instant::now(), spent(process, db));
    let mut clock = tokio::time::interval(Duration::from_millis(100));
    let mut queued = 0;
    for tenth in 0..seconds * 10 {
        clock.tick().await;
        behind = behind.max(outbox::fanout_lag(db).await);
        let from = usize::try_from(tenth).expect("small") * pace / 10 % (data.statuses.len() - pace);
        outbox::queue_fanout(db, id[0].0, &data.statuses[from..from + pace / 10]).await;
        queued += pace / 10;
    }
    waited(db).await;
    let time = begun.elapsed().as_secs_f64();
    let busy = (spent(process, db) - cpu).as_secs_f64() / time;
    let steady = (busy - idle) * time * 1e6 / queued as f64;
    println!(
        "{name}: {pace} statuses a second for {time:.0} s: {:.0} ms behind at most, {:.1} % of a processor beside {:.1} % idle, \
         {steady:.0} us CPU for each",
        millis(behind),
        busy * 100.0,
        idle * 100.0
    );
    (fast, steady)
}

/// The newest entries of the antennas' feeds.
async fn newest_placed(db: &Db) -> Vec<(i64, i64)> {
    let newest =
        "SELECT owner_id, status_id FROM feed_entries WHERE kind >= 100 ORDER BY status_id DESC, owner_id LIMIT 500";
    let placed = db.fetch_raw(newest).await.expect("the feeds");
    assert!(!placed.is_empty(), "something is placed");
    placed
}

/// Processor time of the process, and of the database if it is a separate process.
fn spent(process: &Process, db: &Db) -> Duration {
    let database = if db.engine() == Engine::Postgres { postgres_cpu() } else { Duration::ZERO };
    process.cpu() + database
}

async fn waited(db: &Db) {
    let begun = Instant::now();
    loop {
        let left: Vec<(i64,)> =
            db.fetch_raw("SELECT COUNT(*) FROM plugin_events WHERE state = 'ready'").await.expect("the outbox");
        if left[0].0 == 0 {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "{} statuses wait", left[0].0);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Ten copies of the example: start, memory, and a reload of one of them.
async fn copies(site: &Site<'_>, data: &Data) {
    let plugins = site.folder.join("copies");
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/guests/notes");
    let environment = [
        ("PLUGINS_EMBEDDED", "false".to_owned()),
        ("PLUGINS_DIR", plugins.display().to_string()),
        ("SERVER_DEVELOPMENT", "true".to_owned()),
    ];
    let environment: Vec<(&str, &str)> = environment.iter().map(|(key, value)| (*key, value.as_str())).collect();
    for number in 0..COPIES {
        copy(&package, &plugins.join(format!("notes{number}")), number);
    }
    site.start(&environment).await.stop();
    let names: Vec<String> = (0..COPIES).map(|number| format!("notes{number}")).collect();
    switch(site, &environment, "enable", &names.iter().map(String::as_str).collect::<Vec<_>>());
    site.start(&environment).await.stop();
    let mut without = Vec::new();
    let mut with = Vec::new();
    let (mut idle, mut memory) = (0.0, 0.0);
    for _ in 0..5 {
        let none = site.start(&[("PLUGINS_EMBEDDED", "false")]).await;
        without.push(none.started_in);
        idle = none.memory();
        none.stop();
        let all = site.start(&environment).await;
        with.push(all.started_in);
        memory = all.memory();
        all.stop();
    }
    let (without, with) = (median(without.into_iter()), median(with.into_iter()));
    println!(
        "start: {:.0} ms without, {:.0} ms with {COPIES} plugins: {:+.0} ms",
        millis(without),
        millis(with),
        millis(with) - millis(without)
    );
    println!(
        "memory idle: {idle:.0} MiB without, {memory:.0} MiB with {COPIES}: {:.1} MiB each",
        (memory - idle) / COPIES as f64
    );
    reloads(site, data, &plugins, &environment).await;
}

/// A copy of a package folder with another name and other paths.
fn copy(package: &Path, to: &Path, number: usize) {
    for part in ["migrations", "sql"] {
        std::fs::create_dir_all(to.join(part)).expect("a folder");
        for file in std::fs::read_dir(package.join(part)).expect("the example is built").flatten() {
            std::fs::copy(file.path(), to.join(part).join(file.file_name())).expect("a file");
        }
    }
    std::fs::copy(package.join("notes.wasm"), to.join("notes.wasm")).expect("a file");
    let manifest = std::fs::read_to_string(package.join("plugin.toml")).expect("a manifest");
    let manifest = manifest
        .replace("name = \"notes\"", &format!("name = \"notes{number}\""))
        .replace("/api/v1/notes", &format!("/api/v1/notes{number}"));
    std::fs::write(to.join("plugin.toml"), manifest).expect("a file");
}

async fn reloads(site: &Site<'_>, data: &Data, plugins: &Path, environment: &[(&str, &str)]) {
    let server = site.start(environment).await;
    let file = plugins.join("notes0/notes.wasm");
    let component = std::fs::read(&file).expect("a component");
    let asked = request("GET", "/api/v1/notes0", DOMAIN, Some(data.tokens()[0]), None);
    let mut connection = Connection::open(server.address).await;
    let mut served = header(&mut connection, &asked).await;
    let mut times = Vec::new();
    for number in 0..RELOADS {
        let mut text = String::new();
        write!(text, "{number:08}").expect("memory");
        // A custom section: another file with the same code.
        let mut edited = component.clone();
        edited.extend([0, 11, 2, b'n', b'o']);
        edited.extend(text.as_bytes());
        let beside = file.with_extension("tmp");
        std::fs::write(&beside, edited).expect("a file");
        let saved = Instant::now();
        std::fs::rename(&beside, &file).expect("a file");
        let before = served.clone();
        while served == before {
            assert!(saved.elapsed() < Duration::from_secs(30), "{before} serves on");
            tokio::time::sleep(Duration::from_millis(2)).await;
            served = header(&mut connection, &asked).await;
        }
        times.push(saved.elapsed());
    }
    println!("reload: {:.0} ms from save to served (median of {RELOADS})", millis(median(times.into_iter())));
    server.stop();
}

/// The plugin of the response, from the header of a server in development mode.
async fn header(connection: &mut Connection, asked: &[u8]) -> String {
    connection.ask(asked).await;
    connection.header("x-plugin").unwrap_or_default()
}
