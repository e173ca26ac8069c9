//! The plugin platform, as the server starts, feeds and stops it.
//!
//! A server has it with the feature `plugins` and the key `plugins.enabled`. Otherwise every function here does nothing:
//! the server has no engine, no thread of the platform and no routes of plugins.

#![cfg_attr(not(feature = "plugins"), expect(unused_variables, reason = "nothing is passed on without the platform"))]

use std::path::Path;
use std::sync::Arc;

use config::Config;
use context::extension::Extensions;
use context::{Cx, Result};
use model::boxed;
use model::clock::Clock;
#[cfg(feature = "plugins")]
use plugins::life::{self, pause, supervise};
#[cfg(feature = "plugins")]
use plugins::{Plugins, Session, hooks};
use rookery_http::mount::ExtraRoutes;
use rookery_http::router::Routes;
use tokio::sync::watch::Receiver;
use tokio::task::JoinHandle;

/// The value of `$work`, in which `$plugins` is the context of the platform; `$without` or nothing without the platform.
macro_rules! with_platform {
    ($cx:expr, |$plugins:ident| $work:expr) => {
        with_platform!(
            $cx,
            |$plugins| {
                $work;
            },
            ()
        )
    };
    ($cx:expr, |$plugins:ident| $work:expr, $without:expr) => {{
        #[cfg(feature = "plugins")]
        match plugins::Cx::find($cx) {
            Some($plugins) => $work,
            None => $without,
        }
        #[cfg(not(feature = "plugins"))]
        $without
    }};
}

/// Opens a server like [`Cx::open`], with the plugin platform if it is enabled; no plugin is loaded yet.
///
/// # Errors
/// When the database, the secret key or the media folder cannot be opened.
#[boxed]
pub async fn open(config: Config, clock: Clock, executable: &Path) -> Result<Cx> {
    let extensions = extensions(&config, &clock);
    Cx::open(config, clock, executable, extensions, Arc::new(federation::Network::default())).await
}

#[cfg(feature = "plugins")]
fn extensions(config: &Config, clock: &Clock) -> Arc<dyn Extensions> {
    if !config.plugins.enabled {
        return Arc::new(context::extension::NoExtensions);
    }
    Arc::new(Session::new(Arc::new(Plugins::new(clock.clone(), config.server.development))))
}

#[cfg(not(feature = "plugins"))]
fn extensions(_: &Config, _: &Clock) -> Arc<dyn Extensions> {
    Arc::new(context::extension::NoExtensions)
}

/// The routes of plugins and of their administration.
pub fn extra_routes(cx: &Cx) -> ExtraRoutes {
    with_platform!(cx, |_plugins| plugins::extra_routes(), ExtraRoutes::default())
}

/// The admin routes that the admin socket serves as well.
pub fn administration(cx: &Cx) -> Routes {
    with_platform!(cx, |_plugins| plugins::administration(), Routes::default())
}

/// Before [`start`]: events are kept for plugins that are not loaded yet.
#[boxed]
pub async fn prepare(cx: &Cx) {
    with_platform!(cx, |cx| plugins::prepare(&cx).await);
}

/// Loads every enabled plugin in a separate task.
pub fn start(cx: &Cx) -> Option<JoinHandle<()>> {
    with_platform!(cx, |cx| Some(tokio::spawn(async move { drop(plugins::start(&cx).await) })), None)
}

/// For a command in a separate process: events are recorded for the plugins of the server.
#[boxed]
pub async fn leave_to_server(cx: &Cx) -> Result<()> {
    with_platform!(cx, |cx| life::leave_to_server(&cx).await?);
    Ok(())
}

/// Delivers events to plugins until `stopped` is true.
#[boxed]
pub async fn deliver(cx: Cx, stopped: Receiver<bool>) {
    with_platform!(&cx, |cx| hooks::dispatch::run(cx, stopped).await);
}

/// Watches the plugin folder for changes.
pub fn watch(cx: &Cx) -> Option<JoinHandle<()>> {
    with_platform!(cx, |cx| Some(tokio::spawn(life::watch::run(cx))), None)
}

/// Checks whether another server paused plugins.
#[boxed]
pub async fn reload_pauses(cx: &Cx) -> Result<()> {
    with_platform!(cx, |cx| pause::refresh_if_due(&cx).await?);
    Ok(())
}

/// Applies decisions of other processes and of the circuit breakers by loading and unloading. May take long.
#[boxed]
pub async fn follow_changes(cx: Cx) {
    with_platform!(&cx, |cx| {
        supervise::check(&cx).await;
        if let Err(error) = life::follow_changes(&cx).await {
            context::log_failure!(error, "could not look for changed plugins");
        }
    });
}

/// Reconciles all plugins, after SIGHUP.
pub fn reload_all(cx: &Cx) {
    with_platform!(cx, |cx| {
        tokio::spawn(async move { life::follow(&cx).await });
    });
}

/// Delivers all due events and returns their number: for tests.
#[boxed]
pub async fn drain(cx: &Cx) -> Result<usize> {
    Ok(with_platform!(cx, |cx| hooks::dispatch::drain(&cx).await?, 0))
}

/// Multiplies the time limits of hooks by `times`: for tests on a busy machine.
pub fn scale_hook_time_limits(cx: &Cx, times: u32) {
    with_platform!(cx, |cx| cx.plugins.hook_limits.set(times));
}
