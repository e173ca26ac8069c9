//! Stand-in for [`platform`](self) without the feature `plugins`: the same functions, as no-ops.

use std::path::Path;
use std::sync::Arc;

use config::Config;
pub use context::Cx;
use context::Result;
use context::extension::NoExtensions;
use model::clock::Clock;
use rookery_http::mount::ExtraRoutes;
use rookery_http::router::Routes;
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;

/// Opens a server like [`Cx::open`], without extensions.
///
/// # Errors
/// When the database, the secret key or the media folder cannot be opened.
pub async fn open(config: Config, clock: Clock, executable: &Path) -> Result<Cx> {
    Cx::open(config, clock, executable, Arc::new(NoExtensions), Arc::new(federation::Network::default())).await
}

/// Adds no routes.
pub fn extra_routes() -> ExtraRoutes {
    ExtraRoutes::default()
}

/// There are no admin routes.
pub fn administration() -> Routes {
    Routes::new()
}

/// Loads nothing.
pub async fn start(_: &Cx) {}

/// Does nothing: no events are recorded for plugins.
pub async fn leave_to_server(_: &Cx) -> Result<()> {
    Ok(())
}

/// Delivers nothing.
pub async fn deliver(_: Cx, _: Receiver<bool>) {}

/// Watches nothing.
pub fn watch(_: &Cx) -> JoinHandle<()> {
    tokio::spawn(async {})
}

/// Does nothing: no plugin can be paused.
pub async fn reload_pauses(_: &Cx) -> Result<()> {
    Ok(())
}

/// Does nothing: no plugin can change.
pub async fn follow_changes(_: Cx) {}

/// Reloads nothing.
pub fn reload_all(_: &Cx) {}

/// Nothing is ever due.
pub async fn drain(_: &Cx) -> Result<usize> {
    Ok(0)
}

/// Does nothing: there are no hook deadlines.
pub fn scale_hook_time_limits(_: &Cx, _: u32) {}
