//! The composition root of the server: wires the crates together, starts them and stops them.
//!
//! The only crate that knows every layer; reached from `rookery serve`. Without the feature `plugins`, [`platform`]
//! does nothing and wasmtime is not compiled.

mod admission;
mod connection;
mod federation_routes;
mod listener;
pub mod logging;
pub mod metrics;
pub mod platform;
pub mod refresh;
pub mod serve;
pub mod socket;
mod sole;
pub mod telemetry;

use std::sync::Arc;

use context::Cx;
use rookery_http::mount::ExtraRoutes;
use rookery_http::router::Server;
use streaming::Hub;
pub use streaming::{Streaming, start as start_streams, start_alone as start_own_streams};

pub use listener::serve as serve_connections;
pub use platform::open;

/// The whole server's service, with the streams of `hub`, the documents for other servers and the routes of plugins.
pub fn router(cx: &Cx, hub: &Arc<Hub>) -> Server {
    let extra = platform::extra_routes(cx);
    let extra =
        ExtraRoutes { api: extra.api.and(streaming::routes(hub)), documents: federation_routes::routes(), ..extra };
    rookery_http::router::router(cx.clone(), extra)
}
