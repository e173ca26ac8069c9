//! The running server: from the configuration to the last answer.
//!
//! Reached from `rookery serve`. Starts in the order configuration, logs, database, listeners, workers; ends the other
//! way round: no new connections, requests that have begun within `server.shutdown_grace_seconds`, jobs, database.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::error::{Error, Result};
use crate::http;
use crate::jobs;
use crate::metrics;
use crate::plugins;
use crate::service;
use config::Config;
use model::clock::Clock;

/// How soon a running server notices that another process changed settings, rules or emojis.
const RELOAD_INTERVAL: Duration = Duration::from_millis(500);

/// Serves until the process is asked to stop.
///
/// # Errors
/// When the database, the secret key or a listener cannot be had.
pub async fn run(config: Config) -> Result<()> {
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
    let executable = config::executable().map_err(Error::internal)?;
    on(App::start(config, Clock::system(), &executable).await?).await
}

/// As [`run`], on a server that is open already.
///
/// # Errors
/// When a listener cannot be had.
pub async fn on(app: App) -> Result<()> {
    let mut signals = Signals::new()?;
    http::well_known::check_nodeinfo(&app).await?;
    plugins::start(&app).await;
    let listener = bind(app.config.server.listen, "server.listen").await?;
    let (stop, stopped) = watch::channel(false);
    if let Some(address) = app.config.metrics.listen {
        let listener = bind(address, "metrics.listen").await?;
        metrics::serve(app.clone(), listener, stopped.clone())?;
    }
    if let Err(error) = http::socket::serve(app.clone(), stopped.clone()) {
        tracing::warn!(%error, "the command line cannot ask this server: {} could not be made", http::socket::path(&app).display());
    }
    jobs::cron::schedule(&app).await?;
    let workers = tokio::spawn(work(app.clone(), stopped.clone()));
    let poll = tokio::spawn(poll_settings(app.clone()));
    let watch = tokio::spawn(plugins::watch::run(app.clone()));
    announce(&app, listener.local_addr().map_err(Error::internal)?);
    invite_owner(&app).await?;

    let mut server = spawn_server(&app, listener, stopped);
    tokio::select! {
        () = signals.stop(&app) => {}
        ended = &mut server => return Err(Error::internal(format!("the listener ended: {ended:?}"))),
    }
    tracing::info!("stopping: requests that have begun are answered");
    app.stopping.store(true, Ordering::Relaxed);
    let _ = stop.send(true);
    tokio::select! {
        () = drain(&app, server, workers) => {}
        () = signals.next() => tracing::warn!("stopping at once, as asked a second time"),
    }
    poll.abort();
    watch.abort();
    app.db.close().await;
    tracing::info!("stopped");
    Ok(())
}

fn spawn_server(app: &App, listener: TcpListener, mut stopped: watch::Receiver<bool>) -> JoinHandle<()> {
    let service = http::router::router(app.clone()).into_make_service_with_connect_info::<SocketAddr>();
    // Answers are small and written whole: waiting to fill a packet only delays them.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move {
        let stop = async move {
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        if let Err(error) = axum::serve(listener, service).with_graceful_shutdown(stop).await {
            tracing::error!(%error, "the listener ended");
        }
    })
}

/// Does queued jobs and tells plugins what happened, until `stopped` says true.
async fn work(app: App, stopped: watch::Receiver<bool>) {
    let jobs = jobs::worker::run(app.clone(), stopped.clone());
    tokio::join!(jobs, plugins::hooks::dispatch::run(app, stopped));
}

/// Waits for answers and jobs that have begun; what takes longer than the grace is cut off. A job that was cut off runs
/// again after the next start.
async fn drain(app: &App, server: JoinHandle<()>, workers: JoinHandle<()>) {
    let grace = Duration::from_secs(app.config.server.shutdown_grace_seconds);
    let ended = async {
        let _ = server.await;
        let _ = workers.await;
    };
    if tokio::time::timeout(grace, ended).await.is_err() {
        tracing::warn!(grace_seconds = grace.as_secs(), "some requests or jobs did not end in time");
    }
}

async fn bind(address: SocketAddr, key: &str) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| Error::internal(format!("cannot listen on {address} ({key}): {error}")))
}

/// Reads settings, rules and emojis again soon after another process changed them.
async fn poll_settings(app: App) {
    let mut following: Option<JoinHandle<()>> = None;
    loop {
        tokio::time::sleep(RELOAD_INTERVAL).await;
        if let Err(error) = look_for_changes(&app).await {
            tracing::error!(%error, "could not look for changed settings");
        }
        if following.as_ref().is_none_or(JoinHandle::is_finished) {
            // Loading may take long; settings are read meanwhile.
            following = Some(tokio::spawn(follow_plugins(app.clone())));
        }
    }
}

async fn look_for_changes(app: &App) -> Result<()> {
    if app.reload().await? {
        tracing::info!("settings, rules, emojis or plugins changed and were read again");
    }
    plugins::pause::look(app).await
}

async fn follow_plugins(app: App) {
    plugins::tend::quarantine(&app).await;
    if let Err(error) = plugins::life::follow_changes(&app).await {
        tracing::error!(%error, "could not look for changed plugins");
    }
}

/// Tells people where the server is, and the log as well.
fn announce(app: &App, address: SocketAddr) {
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(%address, "Rookery {version} serves {}", app.urls.origin);
    say(&format!("Rookery {version} serves {} (listening on {address})", app.urls.origin));
}

/// Writes a line to standard output. Nobody reading it is no failure.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// On the first start, says on the terminal alone how the owner gets their account: whoever has the link is the owner.
async fn invite_owner(app: &App) -> Result<()> {
    if let Some(link) = service::owner::setup_link(app).await? {
        let _ = writeln!(std::io::stdout(), "\nNobody lives here yet. Create the owner's account:\n\n  {link}\n");
    }
    Ok(())
}

/// The signals that ask the server to stop.
struct Signals {
    hangup: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    fn new() -> Result<Self> {
        let listen = |kind| signal(kind).map_err(Error::internal);
        Ok(Self {
            hangup: listen(SignalKind::hangup())?,
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// Until the process is asked to stop; asked to hang up, it looks at its plugins again.
    async fn stop(&mut self, app: &App) {
        loop {
            tokio::select! {
                () = async { tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} } } => return,
                _ = self.hangup.recv() => {
                    let app = app.clone();
                    tokio::spawn(async move { plugins::life::follow(&app).await });
                }
            }
        }
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
