//! The floor: an axum handler that returns bytes from memory, in a separate process, with the server's allocator.
//!
//! The cost of a route above the floor is due to the server, the rest to HTTP.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as Parameter, State};
use axum::http::header;
use axum::routing::get;
use axum::serve::ListenerExt as _;

use crate::load::{Amount, Connection, request};
use crate::process::{Process, free_address};
use crate::routes::{ANSWERS, Route};
use crate::subject::{Cost, Subject};

/// Long enough for the clock ticks that measure processor time.
const AMOUNT: Amount = Amount { requests: usize::MAX, time: Duration::from_millis(1_000) };

/// A running floor.
pub struct Floor {
    process: Process,
    subject: Subject,
}

/// The floor's responses for a route.
pub struct Share {
    route: Route,
    /// Average size of a response.
    pub bytes: usize,
}

impl Floor {
    /// Requests the responses of `routes` from the server at `address` and serves the same. Failing routes are left
    /// out.
    pub async fn start(address: SocketAddr, routes: Vec<Route>) -> (Self, Vec<(Route, Share)>) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut shares = Vec::new();
        let mut first = 0;
        for route in routes {
            match answers(address, &route).await {
                Ok(bodies) => {
                    let share = Share::new(&route, first, &bodies);
                    for body in bodies {
                        std::fs::write(folder.path().join(format!("{first:05}")), body).expect("a file");
                        first += 1;
                    }
                    shares.push((route, share));
                }
                Err(answer) => println!("NOT MEASURED, {}: {answer}", route.name),
            }
        }
        let process = beside("--floor", folder.path()).await;
        let subject = Subject { address: process.address, pid: Some(process.id()), postgres: false, db: None };
        (Self { process, subject }, shares)
    }

    /// Cost of serving the bytes of a route.
    pub async fn load(&self, share: &Share, connections: usize) -> Cost {
        self.subject.load(&share.route, AMOUNT, connections, &Arc::new(AtomicUsize::new(0))).await
    }

    pub fn stop(self) {
        self.process.stop();
    }
}

impl Share {
    /// A route that returns the floor's responses from number `first` on.
    fn new(route: &Route, first: usize, bodies: &[Vec<u8>]) -> Self {
        let bytes = bodies.iter().map(Vec::len).sum::<usize>() / bodies.len();
        let (count, writes) = (bodies.len(), route.writes);
        let requests = Arc::new(move |number: usize| {
            let path = format!("/{}", first + number % count);
            let (method, body) = if writes { ("POST", Some("{}")) } else { ("GET", None) };
            request(method, &path, "bench.test", Some("bench-token"), body)
        });
        // The floor queues no work.
        Self { route: Route { requests, writes: false, ..route.clone() }, bytes }
    }
}

async fn answers(address: SocketAddr, route: &Route) -> Result<Vec<Vec<u8>>, String> {
    let mut connection = Connection::open(address).await;
    let mut bodies = Vec::new();
    for number in 0..if route.writes { 1 } else { ANSWERS } {
        bodies.push(connection.try_ask(&(route.requests)(number)).await?);
    }
    Ok(bodies)
}

/// Starts this program again, with another task.
pub async fn beside(what: &str, with: impl AsRef<OsStr>) -> Process {
    let address = free_address();
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.arg(what).arg(address.to_string()).arg(with);
    Process::start(command, address).await
}

/// Serves the files of `folder` by number, from memory, until the process is killed.
pub async fn serve(address: SocketAddr, folder: &Path) {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let bodies: Vec<Bytes> = files.iter().map(|file| std::fs::read(file).expect("a file").into()).collect();
    let router = Router::new()
        .route("/readyz", get(|| async { "OK" }))
        .route("/{number}", get(answer).post(answer))
        .with_state(Arc::new(bodies));
    let listener = tokio::net::TcpListener::bind(address).await.expect("a free port");
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await.expect("the floor holds");
}

async fn answer(
    State(bodies): State<Arc<Vec<Bytes>>>,
    Parameter(number): Parameter<usize>,
) -> impl axum::response::IntoResponse {
    ([(header::CONTENT_TYPE, "application/json; charset=utf-8")], bodies[number].clone())
}
