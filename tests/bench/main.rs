//! `make bench`: the release server on a seeded data set, route by route, compared with the floor.
//!
//! The relevant figure is the processor time per request, including the database and all work that the request
//! queues, and its ratio to the floor: the same bytes from a bare handler at as many connections, measured right
//! afterwards ([`floor`]). The speed of a machine varies by a factor of two within hours, so only ratios can be
//! compared. Requests per second depend on the machine and on this program, which shares it. On SQLite; again on
//! PostgreSQL when `TEST_DATABASE_URL` names a server on which databases may be created. The words of [`options`]
//! select other measurements.

#![allow(clippy::print_stdout, reason = "a table is what this is for")]
#![allow(unreachable_pub, reason = "modules of one program")]
#![allow(clippy::cast_possible_truncation, reason = "a program of our own, of small numbers")]

mod circles;
mod compare;
mod data;
mod draft;
mod federation;
mod filtered;
mod floor;
mod growth;
mod hostile;
mod load;
mod measure;
#[cfg(feature = "plugins")]
mod native;
mod neighbours;
mod nodes;
mod options;
mod outbox;
mod plugins;
mod process;
#[path = "../api/harness/push_service.rs"]
#[expect(dead_code, clippy::unwrap_used, reason = "shared with the tests, which use more of it")]
mod push_service;
mod pushes;
mod remote;
mod reports;
mod restarts;
mod routes;
mod scratch;
#[path = "../seed/mod.rs"]
mod seed;
mod site;
mod sizes;
mod slow;
mod sockets;
mod spinning;
mod start;
mod streams;
mod subject;
mod targets;
mod words;

use data::{Data, Size};
use database::Engine;
use options::{Options, Task};
use scratch::Scratch;
use site::Site;
use subject::Subject;

/// The server's allocator, so that the floor allocates in the same way.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let options = Options::parse(std::env::args().skip(1));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        match &options.task {
            Task::Bench => bench(&options).await,
            Task::Growth => growth::measure(&options).await,
            Task::Compare(programs) => compare::compare(programs, &options).await,
            Task::Remote(remote) => remote::measure(remote, &options).await,
            Task::Floor(address, folder) => floor::serve(*address, folder).await,
            #[cfg(feature = "plugins")]
            Task::Antennas(address, url) => native::serve(url, *address).await,
        }
    });
}

async fn bench(options: &Options) {
    println!("\nRookery on SQLite\n");
    bench_on(&Scratch::new(None).await, options).await;
    if let Some(server) = scratch::postgres() {
        println!("\nRookery on PostgreSQL\n");
        let scratch = Scratch::new(Some(&server)).await;
        bench_on(&scratch, options).await;
        scratch.remove().await;
    }
}

async fn bench_on(scratch: &Scratch, options: &Options) {
    let site = Site::new(&options.program, scratch, options.plugins);
    let size = if options.is_load() { Size::LOAD } else { Size::MAIN };
    let data = data::prepare(&site, size).await;
    let mut routes = routes::all(&data.targets);
    routes.retain(|route| options.wants(&route.name));
    if !routes.is_empty() {
        measure_routes(&site, scratch, &data, routes).await;
    }
    if options.plugins && options.wants("plugins") {
        plugins::measure(&site, &data).await;
    }
    if options.names("filtered") {
        filtered::measure(&site, &data).await;
    }
    if options.plugins && options.names("circles") {
        circles::measure(&site, &data).await;
    }
    if options.plugins && options.names("all-on") {
        plugins::home_with_all(&site, &data).await;
    }
    if options.plugins && options.names("hostile") {
        hostile::measure(&site, &data).await;
    }
    let db = scratch::open(site.url).await;
    if options.names("streams") {
        streams::measure(&site, &db, &data).await;
    }
    // The database makes no difference to clients that read nothing.
    if options.names("slow") && db.engine() == Engine::Sqlite {
        slow::measure(&site, &db, &data, options.sockets).await;
    }
    if options.names("restarts") {
        restarts::measure(&site, &db, &data).await;
    }
    if options.names("nodes") && db.engine() == Engine::Postgres {
        nodes::measure(&site, &db, &data).await;
    }
    if options.wants("federation") {
        federation::measure(&site, &db, &data).await;
    }
    if options.names("deliveries") {
        federation::storm(&site, &db, &data).await;
    }
    if options.names("pushes") {
        pushes::measure(&site, &db, &data).await;
    }
    db.close().await;
}

async fn measure_routes(site: &Site<'_>, scratch: &Scratch, data: &Data, routes: Vec<routes::Route>) {
    sizes::print(scratch, "as seeded").await;
    println!();
    let server = start::measure(site, &data.targets).await;
    let db = scratch::open(site.url).await;
    measure::table(&Subject::new(server.address, server.id(), &db), routes).await;
    db.close().await;
    println!("\nmemory loaded: {:.0} MiB", server.memory());
    server.stop();
    sizes::print(scratch, "after the load").await;
}
