//! The plugin platform, as the server starts, feeds and stops it. `no_platform.rs` replaces it without the feature
//! `plugins`.

use model::boxed;
use std::path::Path;
use std::sync::Arc;

use config::Config;
use context::Result;
use model::clock::Clock;
pub use plugins::Cx;
use plugins::life::{self, pause, supervise, watch};
use plugins::{Plugins, Session, hooks};
use rookery_http::mount::ExtraRoutes;
use rookery_http::router::Routes;
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;

/// Opens a server like [`context::Cx::open`], with the plugin platform; no plugin is loaded yet.
///
/// # Errors
/// When the database, the secret key or the media folder cannot be opened.
#[boxed]
pub async fn open(config: Config, clock: Clock, executable: &Path) -> Result<Cx> {
    let plugins = Arc::new(Plugins::new(clock.clone(), config.server.development));
    let core = context::Cx::open(
        config,
        clock,
        executable,
        Arc::new(Session::new(plugins)),
        Arc::new(federation::Network::default()),
    )
    .await?;
    Cx::of(&core)
}

/// The routes of plugins and of their administration.
pub fn extra_routes() -> ExtraRoutes {
    plugins::extra_routes()
}

/// The admin routes that the admin socket serves as well.
pub fn administration() -> Routes {
    plugins::administration()
}

/// Loads every enabled plugin.
#[boxed]
pub async fn start(cx: &Cx) {
    plugins::start(cx).await;
}

/// For a command in a separate process: events are recorded for the plugins of the server.
#[boxed]
pub async fn leave_to_server(cx: &Cx) -> Result<()> {
    life::leave_to_server(cx).await
}

/// Delivers events to plugins until `stopped` is true.
#[boxed]
pub async fn deliver(cx: Cx, stopped: Receiver<bool>) {
    hooks::dispatch::run(cx, stopped).await;
}

/// Watches the plugin folder for changes.
pub fn watch(cx: &Cx) -> JoinHandle<()> {
    tokio::spawn(watch::run(cx.clone()))
}

/// Checks whether another server paused plugins.
#[boxed]
pub async fn reload_pauses(cx: &Cx) -> Result<()> {
    pause::refresh_if_due(cx).await
}

/// Applies decisions of other processes and of the circuit breakers by loading and unloading. May take long.
#[boxed]
pub async fn follow_changes(cx: Cx) {
    supervise::check(&cx).await;
    if let Err(error) = life::follow_changes(&cx).await {
        context::log_failure!(error, "could not look for changed plugins");
    }
}

/// Reconciles all plugins, after SIGHUP.
pub fn reload_all(cx: &Cx) {
    let cx = cx.clone();
    tokio::spawn(async move { life::follow(&cx).await });
}

/// Delivers all due events and returns their number: for tests.
#[boxed]
pub async fn drain(cx: &Cx) -> Result<usize> {
    hooks::dispatch::drain(cx).await
}

/// Multiplies the time limits of hooks by `times`: for tests on a busy machine.
pub fn scale_hook_time_limits(cx: &Cx, times: u32) {
    cx.plugins.hook_limits.set(times);
}
