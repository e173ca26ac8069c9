//! Effect of a plugin that uses the database as much as it can: the latency of fifty requests per second to the core,
//! without and with it; memory; and the time until it is disabled, and until the server stops.
//!
//! The plugin is `hostile` of the tests: functions on their largest arguments in routes, a filter of statuses, a hook
//! on events, batches, and a migration.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use crate::data::{DOMAIN, Data};
use crate::load::{Connection, request};
use crate::measure::millis;
use crate::process::Process;
use crate::site::Site;

/// One request to the core per this time.
const PACE: Duration = Duration::from_millis(20);
/// Number of connections for these requests, so that a waiting request delays no other.
const CONNECTIONS: u32 = 10;
const TIME: Duration = Duration::from_secs(20);
/// Attacking connections for each kind of attack.
const ATTACKERS: usize = 3;
/// Calls of `fill`, which create tables to read.
const FILLS: usize = 3;

const ATTACKS: [(&str, &str); 4] = [
    ("GET", "/api/v1/hostile/read"),
    ("POST", "/api/v1/hostile/write"),
    ("POST", "/api/v1/hostile/write_many"),
    ("POST", "/api/v1/hostile/batch"),
];

/// Measures on a site with a filled database and a stopped server.
pub async fn measure(site: &Site<'_>, data: &Data) {
    println!("\nA hostile plugin beside 50 requests a second (p50, p99 and most, ms)\n");
    let plugins = site.folder.join("hostile");
    install(&plugins, "1.0.0", None);
    let folder = plugins.display().to_string();
    let environment = [("PLUGINS_EMBEDDED", "false"), ("PLUGINS_DIR", folder.as_str())];
    site.run(&["plugin", "enable", "hostile", "--yes"], &environment);
    let server = site.start(&environment).await;
    for _ in 0..FILLS {
        fill(server.address).await;
    }
    // The attackers' statuses run into a filter that reads for as long as permitted: they are not measured.
    let without = ordinary(&server, data).await;
    without.print("without");
    let (before, own, stop) = (server.memory(), server.own_memory(), Arc::new(AtomicBool::new(false)));
    let attackers = attackers(&server, data, &stop);
    let beside = ordinary(&server, data).await;
    beside.print("beside it");
    println!("memory: {before:.0} MiB, beside it {:.0} MiB", server.memory());
    println!("memory without mapped files: {own:.0} MiB, beside it {:.0} MiB", server.own_memory());
    migration(site, &server, data, &plugins, &environment).await;
    let begun = Instant::now();
    site.run(&["plugin", "disable", "hostile"], &environment);
    let mut connection = Connection::open(server.address).await;
    let asked = request("POST", ATTACKS[1].1, DOMAIN, None, Some("{}"));
    while !connection.try_ask(&asked).await.is_err_and(|answer| answer.contains(" 404 ")) {
        assert!(begun.elapsed() < Duration::from_secs(30), "it serves on");
    }
    println!("disabled after {:.0} ms", millis(begun.elapsed()));
    stop.store(true, Ordering::Relaxed);
    for attacker in attackers {
        attacker.await.expect("an attacker");
    }
    ordinary(&server, data).await.print("disabled");
    let begun = Instant::now();
    server.stop();
    println!("stopped after {:.0} ms", millis(begun.elapsed()));
}

/// A version of the package, with another migration if given.
fn install(plugins: &Path, version: &str, migration: Option<&str>) {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/guests/hostile");
    let to = plugins.join("hostile");
    for part in ["migrations", "sql"] {
        std::fs::create_dir_all(to.join(part)).expect("a folder");
        for file in std::fs::read_dir(package.join(part)).expect("the guest is built").flatten() {
            std::fs::copy(file.path(), to.join(part).join(file.file_name())).expect("a file");
        }
    }
    if let Some(sql) = migration {
        std::fs::write(to.join("migrations/0002_slow.sql"), sql).expect("a file");
    }
    std::fs::copy(package.join("hostile.wasm"), to.join("hostile.wasm")).expect("a file");
    let manifest = std::fs::read_to_string(package.join("plugin.toml")).expect("a manifest");
    std::fs::write(to.join("plugin.toml"), manifest.replace("1.0.0", version)).expect("a file");
}

/// A migration that runs for as long as permitted: it is ended once, and not retried.
async fn migration(site: &Site<'_>, server: &Process, data: &Data, plugins: &Path, environment: &[(&str, &str)]) {
    let slow = "INSERT INTO found (length) SELECT length(rtrim(a.body, 'b')) + length(replace(b.body, 'a', 'bb'))
                FROM bodies a JOIN bodies b ON b.id > 0 JOIN bodies c ON c.id > 0 JOIN bodies d ON d.id > 0;";
    install(plugins, "1.1.0", Some(slow));
    let mut reload = site.program(&["plugin", "reload", "hostile"], environment);
    let mut reload = reload.spawn().expect("the command line");
    ordinary(server, data).await.print("beside its migration");
    // It fails, as it should.
    let _ = reload.wait();
}

/// Fills the plugin's table. The request fails while the server's own first work waits for the writer, and is then
/// repeated.
async fn fill(address: std::net::SocketAddr) {
    let asked = request("POST", "/api/v1/hostile/fill", DOMAIN, None, Some("{}"));
    let mut connection = Connection::open(address).await;
    let begun = Instant::now();
    while let Err(answer) = connection.try_ask(&asked).await {
        assert!(begun.elapsed() < Duration::from_secs(10), "the plugin serves: {answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Every kind of attack on separate connections, one after the other, until `stop`.
fn attackers(server: &Process, data: &Data, stop: &Arc<AtomicBool>) -> Vec<tokio::task::JoinHandle<()>> {
    let slowly = request(
        "POST",
        "/api/v1/statuses",
        DOMAIN,
        Some(data.tokens()[0]),
        Some("{\"status\":\"slowly\",\"visibility\":\"direct\"}"),
    );
    let routes = ATTACKS.map(|(method, path)| {
        let body = (method == "POST").then_some("{}");
        request(method, path, DOMAIN, None, body)
    });
    let all = routes.into_iter().flat_map(|bytes| std::iter::repeat_n(bytes, ATTACKERS)).chain([slowly]);
    let address = server.address;
    all.map(|bytes| {
        let stop = Arc::clone(stop);
        tokio::spawn(async move {
            let mut connection = Connection::open(address).await;
            while !stop.load(Ordering::Relaxed) {
                // Most requests are rejected immediately: an attacker pauses.
                if connection.try_ask(&bytes).await.is_err() {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
        })
    })
    .collect()
}

/// Latencies of the core, by kind of request; `None` for requests that the plugin's filter rejected by a timeout.
struct Latencies(Vec<(&'static str, Vec<Option<Duration>>)>);

impl Latencies {
    fn print(&self, name: &str) {
        for (kind, latencies) in &self.0 {
            let mut sorted: Vec<Duration> = latencies.iter().flatten().copied().collect();
            sorted.sort_unstable();
            let refused = latencies.len() - sorted.len();
            let at = |share: f64| millis(sorted[((sorted.len() - 1) as f64 * share) as usize]);
            print!("{name:<22}{kind:<12}{:>8.1}{:>8.1}{:>8.1}", at(0.5), at(0.99), at(1.0));
            println!("{}", if refused == 0 { String::new() } else { format!("  {refused} refused") });
        }
    }
}

/// Fifty requests per second to the core, each sent at its time regardless of the others: reads, favourites,
/// statuses.
async fn ordinary(server: &Process, data: &Data) -> Latencies {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let people = &data.targets.tokens;
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|lane| {
            let (people, address) = (people.clone(), server.address);
            let statuses = data.targets.statuses.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                let mut clock = tokio::time::interval_at(tokio::time::Instant::now() + PACE * lane, PACE * CONNECTIONS);
                clock.set_missed_tick_behavior(MissedTickBehavior::Burst);
                let (begun, mut latencies) = (Instant::now(), Vec::new());
                while begun.elapsed() < TIME {
                    let due = clock.tick().await;
                    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
                    let token = &people[1 + number % (people.len() - 1)];
                    let (kind, bytes) = ask(lane, number, token, &statuses);
                    let answered = match connection.try_ask(&bytes).await {
                        Ok(_) => Some(due.elapsed()),
                        Err(answer) if answer.contains("\"plugin\":\"hostile\"") => None,
                        Err(answer) => panic!("{kind}: {answer}"),
                    };
                    latencies.push((kind, answered));
                }
                latencies
            })
        })
        .collect();
    let mut all: Vec<(&str, Vec<Option<Duration>>)> =
        ["home", "favourite", "publish"].map(|kind| (kind, Vec::new())).into();
    for task in tasks {
        for (kind, latency) in task.await.expect("the core answers") {
            let of_kind = all.iter_mut().find(|(name, _)| *name == kind).expect("a kind");
            of_kind.1.push(latency);
        }
    }
    Latencies(all)
}

/// Of ten connections, four read, four favourite and two publish: a write that waits does not delay reads.
fn ask(lane: u32, number: usize, token: &str, statuses: &[String]) -> (&'static str, Vec<u8>) {
    match lane {
        0..4 => ("home", request("GET", "/api/v1/timelines/home", DOMAIN, Some(token), None)),
        4..8 => {
            let status = &statuses[number * 13 % statuses.len()];
            let path = format!("/api/v1/statuses/{status}/favourite");
            ("favourite", request("POST", &path, DOMAIN, Some(token), None))
        }
        _ => {
            let body = format!("{{\"status\":\"The rooks are back, number {number} of them.\"}}");
            ("publish", request("POST", "/api/v1/statuses", DOMAIN, Some(token), Some(&body)))
        }
    }
}
