//! The composition root of the server: wires the crates together, starts them and stops them.
//!
//! The only crate that knows every layer; reached from `rookery serve`. Without the feature `plugins`, [`platform`] is
//! a set of no-ops and wasmtime is not compiled.

mod admission;
mod connection;
mod listener;
pub mod logging;
pub mod metrics;
#[cfg_attr(not(feature = "plugins"), path = "no_platform.rs")]
pub mod platform;
pub mod refresh;
pub mod serve;
pub mod socket;

use http::router::Server;
pub use platform::{Cx, open};

/// The whole server's service, with the routes of plugins.
pub fn router(cx: &Cx) -> Server {
    http::router::router(rookery_core::Cx::clone(cx), platform::extra_routes())
}
