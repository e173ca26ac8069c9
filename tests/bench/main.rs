//! `make bench`: the release server on a seeded data set, route by route, beside the floor.
//!
//! The figure that matters is the processor time of the server for a request, with everything that the request leaves to
//! be done later, and its ratio to the floor: the same bytes from a bare handler in the same run ([`floor`]). Requests per
//! second depend on the machine and on this program, which shares it. On SQLite; again on PostgreSQL when
//! `TEST_DATABASE_URL` names a server in which databases may be made. `cargo bench -- --compare OLD NEW` measures two
//! programs against each other ([`compare`]).

#![allow(clippy::print_stdout, reason = "a table is what this is for")]
#![allow(unreachable_pub, reason = "modules of one program")]
#![allow(missing_docs, clippy::cast_possible_truncation, reason = "a program of our own, of small numbers")]

mod compare;
mod data;
mod floor;
mod load;
mod native;
mod plugins;
mod process;
#[path = "../seed/mod.rs"]
mod seed;

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use store::Db;
use store::db::Engine;

use data::{DOMAIN, Data, TOKEN, TOKEN_100, TOKEN_1000};
use load::{Amount, Connection, Requests, Run, request};
use process::{Process, free_address, postgres_cpu};

const CONCURRENCY: [usize; 3] = [1, 16, 64];

/// A route under measurement.
struct Route {
    name: &'static str,
    requests: Requests,
    amount: Amount,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    match words[..] {
        ["--floor", address, folder] => {
            runtime.block_on(floor::serve(address.parse().expect("an address"), Path::new(folder)));
        }
        ["--compare", old, new, ref rest @ ..] => {
            runtime.block_on(compare::compare([old, new], !rest.contains(&"--no-plugins")));
        }
        ["--antennas", address, url] => runtime.block_on(native::serve(url, address.parse().expect("an address"))),
        _ => runtime.block_on(bench()),
    }
}

#[expect(clippy::disallowed_methods, reason = "the environment says which databases to measure on")]
async fn bench() {
    let folder = tempfile::tempdir().expect("a folder");
    println!("\nRookery on SQLite\n");
    measure(&format!("sqlite://{}/bench.db", folder.path().display()), folder.path()).await;
    if let Ok(server) = std::env::var("TEST_DATABASE_URL") {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("rookery_bench_{}", std::process::id());
        let admin = data::open(&server).await;
        admin.execute_raw(&format!("CREATE DATABASE {name}")).await.expect("a database");
        let mut url = url::Url::parse(&server).expect("a URL");
        url.set_path(&name);
        println!("\nRookery on PostgreSQL\n");
        measure(url.as_str(), folder.path()).await;
        admin.execute_raw(&format!("DROP DATABASE {name} WITH (FORCE)")).await.expect("the database goes");
    }
}

async fn measure(url: &str, folder: &Path) {
    let data = Arc::new(data::fill(url).await);
    start(ROOKERY, url, folder, &[]).await.stop();
    let server = start(ROOKERY, url, folder, &[]).await;
    println!("started in {:.0} ms (second start, to the first answer)", millis(server.started_in));
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("memory idle: {:.0} MiB\n", server.memory());

    let db = data::open(url).await;
    let mut wanted = routes(&data);
    // `cargo bench -- home`: the routes with one of these words in their name.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    wanted.retain(|route| words.is_empty() || words.iter().any(|word| route.name.contains(word.as_str())));
    let (floor, routes) = start_floor(&server, wanted, folder).await;
    println!("{}", heading());
    for (number, route) in routes.iter().enumerate() {
        println!("{}", measure_route(&server, &floor, &db, number, route).await);
    }
    println!("\nmemory loaded: {:.0} MiB", server.memory());
    db.close().await;
    floor.stop();
    server.stop();
    if words.is_empty() || words.iter().any(|word| word == "plugins") {
        plugins::measure(url, folder, &data).await;
    }
}

/// The program that is measured unless another is named.
const ROOKERY: &str = env!("CARGO_BIN_EXE_rookery");

fn command(program: &str, url: &str, folder: &Path, address: std::net::SocketAddr) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(folder);
    for (key, value) in [
        ("SERVER_LISTEN", address.to_string()),
        ("SERVER_LOCAL_DOMAIN", DOMAIN.to_owned()),
        ("STORAGE_DATA_DIR", folder.display().to_string()),
        ("DATABASE_URL", url.to_owned()),
        ("RATE_LIMITS_ENABLED", "false".to_owned()),
        ("LOG_LEVEL", "error".to_owned()),
    ] {
        command.env(format!("ROOKERY_{key}"), value);
    }
    command
}

/// Starts `program` as a server, with `more` configuration.
async fn start(program: &str, url: &str, folder: &Path, more: &[(&str, &str)]) -> Process {
    let address = free_address();
    let mut serve = command(program, url, folder, address);
    serve.arg("serve").envs(more.iter().map(|(key, value)| (format!("ROOKERY_{key}"), *value)));
    Process::start(serve, address).await
}

/// A server of the same bytes: each route's answer is taken once and given to the floor. Routes that fail are left out.
async fn start_floor(server: &Process, routes: Vec<Route>, folder: &Path) -> (Process, Vec<Route>) {
    let bodies = folder.join("floor");
    std::fs::create_dir(&bodies).expect("a folder");
    let mut served = Vec::new();
    for route in routes {
        match Connection::open(server.address).await.try_ask(&(route.requests)(0)).await {
            Ok(body) => {
                std::fs::write(bodies.join(format!("{:02}", served.len())), body).expect("a file");
                served.push(route);
            }
            Err(answer) => println!("NOT MEASURED, {}: {answer}", route.name),
        }
    }
    (beside("--floor", &bodies).await, served)
}

/// This program once more, to do one thing.
async fn beside(what: &str, with: impl AsRef<OsStr>) -> Process {
    let address = free_address();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(what).arg(address.to_string()).arg(with);
    Process::start(command, address).await
}

fn routes(data: &Arc<Data>) -> Vec<Route> {
    let reading = Amount { requests: usize::MAX, time: Duration::from_millis(1_200) };
    let writing = |requests| Amount { requests, time: Duration::from_secs(4) };
    let get = |name: &'static str, path: String, token: Option<&'static str>| {
        let bytes = request("GET", &path, DOMAIN, token, None);
        Route { name, requests: Arc::new(move |_| bytes.clone()), amount: reading }
    };
    let publish = |name: &'static str, token: &'static str, count| {
        let post = move |number: usize| {
            let body = format!("{{\"status\":\"The rooks are back, number {number} of them.\"}}");
            request("POST", "/api/v1/statuses", DOMAIN, Some(token), Some(&body))
        };
        Route { name, requests: Arc::new(post), amount: writing(count) }
    };
    let marked = Arc::clone(data);
    let favourite = move |number: usize| {
        let id = marked.statuses[number % marked.statuses.len()];
        request("POST", &format!("/api/v1/statuses/{id}/favourite"), DOMAIN, Some(TOKEN), None)
    };
    vec![
        get("home, 20", "/api/v1/timelines/home".into(), Some(TOKEN)),
        get("public, 20", "/api/v1/timelines/public".into(), Some(TOKEN)),
        get("account statuses, 20", format!("/api/v1/accounts/{}/statuses", data.author), Some(TOKEN)),
        get("context of 50 replies", format!("/api/v1/statuses/{}/context", data.root), Some(TOKEN)),
        get("notifications, 40", "/api/v1/notifications".into(), Some(TOKEN)),
        get("instance v2", "/api/v2/instance".into(), None),
        get("verify_credentials", "/api/v1/accounts/verify_credentials".into(), Some(TOKEN)),
        get("one status", format!("/api/v1/statuses/{}", data.root), Some(TOKEN)),
        Route { name: "favourite", requests: Arc::new(favourite), amount: writing(1_000) },
        publish("publish, 100 followers", TOKEN_100, 200),
        publish("publish, 1,000 followers", TOKEN_1000, 100),
    ]
}

/// Loads a route and its floor, and gives a line of the table.
async fn measure_route(server: &Process, floor: &Process, db: &Db, number: usize, route: &Route) -> String {
    let next = Arc::new(AtomicUsize::new(0));
    let warm = Amount { requests: 20, time: Duration::from_secs(2) };
    load::run(server.address, 1, warm, &route.requests, &next).await;
    data::settle(db).await;
    let (cpu, database, mut runs) = (server.cpu(), postgres_cpu(), Vec::new());
    for concurrency in CONCURRENCY {
        runs.push(load::run(server.address, concurrency, route.amount, &route.requests, &next).await);
        data::settle(db).await;
    }
    let requests: usize = runs.iter().map(|run| run.requests).sum();
    let each = |spent: Duration| spent.as_secs_f64() * 1e6 / requests.max(1) as f64;
    // Beside SQLite, whatever PostgreSQL does is not for us.
    let database = if db.engine() == Engine::Postgres { each(postgres_cpu() - database) } else { 0.0 };
    let cpu = each(server.cpu() - cpu);

    let method = if route.name.starts_with("publish") || route.name == "favourite" { "POST" } else { "GET" };
    let bytes = request(method, &format!("/{number}"), DOMAIN, Some(TOKEN), (method == "POST").then_some("{}"));
    let same: Requests = Arc::new(move |_| bytes.clone());
    let amount = Amount { requests: usize::MAX, time: Duration::from_millis(400) };
    let before = floor.cpu();
    let mut count = 0;
    for concurrency in CONCURRENCY {
        count += load::run(floor.address, concurrency, amount, &same, &next).await.requests;
    }
    let least = (floor.cpu() - before).as_secs_f64() * 1e6 / count.max(1) as f64;
    line(route.name, &runs, cpu, database, least)
}

fn heading() -> String {
    let columns = CONCURRENCY.map(|concurrency| format!("{:>26}", format!("{concurrency}: req/s   p50   p99 ms")));
    format!("{:<26}{}{:>12}{:>12}{:>10}{:>8}", "", columns.concat(), "CPU µs/req", "database µs", "floor µs", "ratio")
}

fn line(name: &str, runs: &[Run], cpu: f64, database: f64, floor: f64) -> String {
    let columns: String = runs
        .iter()
        .map(|run| format!("{:>12.0}{:>7.1}{:>7.1}", run.per_second(), millis(run.p50), millis(run.p99)))
        .collect();
    format!("{name:<26}{columns}{cpu:>12.0}{database:>12.0}{floor:>10.0}{:>7.1}x", cpu / floor)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
