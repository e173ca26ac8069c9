//! The floor: an axum handler that answers with bytes it has, in a process of its own.
//!
//! What a route costs above this is the server's; what it costs below is HTTP's.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as Parameter, State};
use axum::http::header;
use axum::routing::get;
use axum::serve::ListenerExt as _;

/// Serves the files of `folder` by name, from memory, until the process is killed.
pub async fn serve(address: SocketAddr, folder: &Path) {
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    let bodies: Vec<Bytes> = files.iter().map(|file| std::fs::read(file).expect("a file").into()).collect();
    let router = Router::new()
        .route("/health", get(|| async { "OK" }))
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
