//! The life of a running server, from configuration to graceful shutdown.
//!
//! Reached from `rookery serve`. Starts in the order configuration, logs, listeners, database, workers, plugins; a signal
//! ends it at any moment. Requests before the database is open are answered by [`Door`], and while plugins
//! are loaded the core serves. Shutdown accepts no new connections, lets running requests and jobs finish within `server.shutdown_grace_seconds`, then
//! closes the database.

use model::boxed;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::listener::Listener;
use crate::{metrics, open, platform, refresh, router, socket, sole, start_streams};
use config::Config;
use context::starting::Progress;
use context::{Cx, Error, Result};
use database::Engine;
use model::clock::Clock;
use rookery_http::door::Door;
use streaming::Hub;

/// How long after the start a media worker is run to see how it is confined: the first answers do not wait for that.
const REPORT_AFTER: Duration = Duration::from_secs(3);

/// How long a step of the start takes before it is spoken of.
const QUIET: Duration = Duration::from_secs(1);

/// Serves until the process is asked to stop.
///
/// # Errors
/// When the database or the secret key cannot be opened, another server serves the same SQLite database, or an address is in
/// use.
#[boxed]
pub async fn run(config: Config) -> Result<()> {
    // Before the schema is brought up to date, and until the database is closed.
    let _lock = sole::take(&config)?;
    for warning in config.warnings() {
        tracing::warn!("{warning}");
    }
    if let Some(fault) = config.client_folder_fault() {
        return Err(Error::internal(config::Faults(vec![fault])));
    }
    raise_open_files(&config);
    let (mut signals, listening) = (Signals::new()?, Listening::begin(&config).await?);
    let executable = config::executable().map_err(Error::internal)?;
    // In a separate task, so that a slow statement does not delay signals.
    let mut opening = tokio::spawn(async move { open(config, Clock::system(), &executable).await });
    let patience = tokio::time::sleep(QUIET);
    tokio::pin!(patience);
    let mut logged = false;
    let cx = loop {
        tokio::select! {
            opened = &mut opening => break opened.map_err(Error::internal)??,
            () = signals.next() => {
                tracing::info!("stopped before the database was open");
                return Ok(());
            }
            () = &mut patience, if !logged => {
                print_line("The database is being opened and brought up to date.");
                logged = true;
            }
        }
    };
    serve(cx, signals, listening).await
}

/// Like [`run`], on a context that is already open.
///
/// # Errors
/// When an address is in use, or the NodeInfo document is invalid.
#[boxed]
pub async fn on(cx: Cx) -> Result<()> {
    let (signals, listening) = (Signals::new()?, Listening::begin(&cx.config).await?);
    serve(cx, signals, listening).await
}

async fn serve(cx: Cx, mut signals: Signals, listening: Listening) -> Result<()> {
    let Listening { door, address, mut server, metrics, stop, stopped } = listening;
    rookery_http::well_known::check_nodeinfo(&cx).await?;
    platform::prepare(&cx).await;
    if let Some(listener) = metrics {
        metrics::serve(cx.clone(), listener, stopped.clone())?;
    }
    if let Err(error) = socket::serve(&cx, stopped.clone()) {
        tracing::warn!(%error, "the command line cannot ask this server: {} could not be made", socket::path(&cx).display());
    }
    if cx.db.engine() == Engine::Sqlite {
        federation::deliver::release_claims(&cx).await?;
    }
    worker::cron::schedule(&cx).await?;
    tokio::spawn(report_confinement(cx.clone()));
    let workers = Workers::start(&cx, stopped.clone())?;
    let poll = tokio::spawn(refresh::poll(cx.clone()));
    let node = {
        let cx = cx.clone();
        tokio::spawn(async move { cx.node.keep().await })
    };
    let watch = platform::watch(&cx);
    if cx.vapid.is_none() {
        tracing::error!(
            "the key of web push was made with another secret key, so nothing is pushed. Put that secret key back, or make \
             a new one with `rookery push reset`, after which apps have to subscribe again"
        );
    }
    let streams = start_streams(&cx);
    door.open(router(&cx, &streams.hub));
    let loading = platform::start(&cx);
    announce(&cx, address);
    invite_owner(&cx).await?;
    let progress = tokio::spawn(report_loading(cx.clone()));
    tokio::select! {
        () = signals.stop(&cx) => {}
        ended = &mut server => return Err(Error::internal(format!("the listener ended: {ended:?}"))),
    }
    tracing::info!("stopping: requests that have begun are answered");
    cx.stopping.store(true, Ordering::Relaxed);
    let _ = stop.send(true);
    tokio::select! {
        () = drain(&cx, server, workers, &streams.hub) => {}
        () = signals.next() => tracing::warn!("stopping immediately after the second signal"),
    }
    poll.abort();
    progress.abort();
    loading.inspect(JoinHandle::abort);
    watch.inspect(JoinHandle::abort);
    node.abort();
    cx.close().await;
    tracing::info!("stopped");
    Ok(())
}

/// The listeners of a server, which answer from the beginning.
struct Listening {
    door: Door,
    /// The address of `server.listen`, with its port.
    address: SocketAddr,
    server: JoinHandle<()>,
    metrics: Option<TcpListener>,
    stop: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
}

impl Listening {
    /// Listens as `config` says.
    ///
    /// # Errors
    /// When an address is in use.
    async fn begin(config: &Config) -> Result<Self> {
        let listener = bind(config.server.listen, "server.listen").await?;
        let metrics = match config.metrics.listen {
            Some(address) => Some(bind(address, "metrics.listen").await?),
            None => None,
        };
        let address = listener.local_addr().map_err(Error::internal)?;
        let (stop, stopped) = watch::channel(false);
        let door = Door::default();
        let server = tokio::spawn(Listener::new(door.clone(), config).serve(listener, stopped.clone()));
        Ok(Self { door, address, server, metrics, stop, stopped })
    }
}

/// Prints how far the loading of plugins is, if that takes longer than code from the cache does.
async fn report_loading(cx: Cx) {
    let mut changes = cx.starting.subscribe();
    tokio::time::sleep(QUIET).await;
    let mut logged = None;
    loop {
        let progress = *changes.borrow_and_update();
        let Some(Progress { done, all }) = progress else { break };
        let line = format!("Compiling plugins: {done} of {all} are ready.");
        if all > 0 && logged.as_ref() != Some(&line) {
            print_line(&line);
            logged = Some(line);
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
    if logged.is_some() {
        print_line("All plugins are ready.");
    }
}

/// File descriptors for everything but connections: databases, files, plugins, requests to others.
const OTHER_FILES: u64 = 256;

/// How many files are open when everything is in use that the configuration permits.
fn files_needed(config: &Config) -> u64 {
    (config.connections.max + config.streaming.max_connections) as u64 + OTHER_FILES
}

/// Raises the limit of open files to what the system permits, and logs when it is too low for all connections.
fn raise_open_files(config: &Config) {
    let limit = getrlimit(Resource::Nofile);
    let needed = files_needed(config);
    let raised = limit.maximum.map_or(needed, |maximum| maximum.min(needed));
    let current = limit.current.unwrap_or(u64::MAX);
    if current < raised {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum });
    }
    let current = current.max(raised);
    if current < needed {
        tracing::warn!(
            "this process may open {current} files, too few for connections.max and streaming.max_connections: raise the limit \
             (ulimit -n) to {needed}"
        );
    }
}

/// The threads on which jobs run, and events are delivered to plugins: on SQLite the statements of a transaction run on
/// the calling thread, and transactions of jobs are long. One thread there, which is as much as the one writer can use.
struct Workers {
    /// `None` once it is shut down.
    runtime: Option<Runtime>,
    work: JoinHandle<()>,
}

impl Workers {
    fn start(cx: &Cx, stopped: watch::Receiver<bool>) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = match cx.db.engine() {
            Engine::Sqlite => 1,
            Engine::Postgres => (cores / 2).max(1),
        };
        let mut runtime = Builder::new_multi_thread();
        let runtime =
            runtime.worker_threads(threads).thread_name("jobs").enable_all().build().map_err(Error::internal)?;
        let work = runtime.spawn(work(cx.clone(), stopped));
        Ok(Self { runtime: Some(runtime), work })
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs jobs and delivers events to plugins until `stopped` is true.
async fn work(cx: Cx, stopped: watch::Receiver<bool>) {
    let jobs = worker::run(cx.clone(), stopped.clone());
    tokio::join!(jobs, platform::deliver(cx, stopped));
}

/// Ends streams, and waits for running requests and jobs to finish, for at most the grace period. An interrupted job runs again after
/// the next start.
async fn drain(cx: &Cx, server: JoinHandle<()>, mut workers: Workers, streams: &Hub) {
    let grace = Duration::from_secs(cx.config.server.shutdown_grace_seconds);
    let restart = Duration::from_secs(cx.config.streaming.restart_seconds).min(grace / 2);
    let ended = async {
        streams.close(restart).await;
        let _ = server.await;
        let _ = (&mut workers.work).await;
    };
    if tokio::time::timeout(grace, ended).await.is_err() {
        tracing::warn!(grace_seconds = grace.as_secs(), "some requests or jobs did not end in time");
    }
}

/// Deletes unfinished files of a killed process, and logs how the media worker is confined, since the kernel may lack
/// features, and which programs convert video and audio.
async fn report_confinement(cx: Cx) {
    tokio::time::sleep(REPORT_AFTER).await;
    match cx.storage.sweep() {
        Ok(0) => {}
        Ok(folders) => tracing::info!(folders, "deleted unfinished files of processes that were killed"),
        Err(error) => tracing::warn!(%error, "could not delete unfinished files of processes that were killed"),
    }
    match cx.converter.report().await {
        Ok(programs) => {
            tracing::info!("video and audio are converted by {}", programs.join(", "));
            report_programs(&cx).await;
            report_stills(&cx).await;
        }
        Err(media::Error::NoConverter) => {
            tracing::info!("video and audio are refused: there is no ffmpeg with ffprobe");
        }
        Err(error) => tracing::error!(?error, "ffmpeg or ffprobe cannot be run: no video can be uploaded"),
    }
    match cx.sandbox.confinement().await {
        Ok(confinement) if confinement.is_whole() => tracing::info!("the media worker is confined: {confinement}"),
        Ok(confinement) => tracing::warn!("the media worker is not wholly confined on this kernel: {confinement}"),
        Err(error) => tracing::error!(%error, "the media worker cannot be run: no image can be uploaded"),
    }
}

async fn report_programs(cx: &Cx) {
    match cx.converter.confinement().await {
        Ok(confinement) if confinement.is_whole() => tracing::info!("ffmpeg and ffprobe are confined: {confinement}"),
        Ok(confinement) => tracing::warn!("ffmpeg and ffprobe are not wholly confined on this kernel: {confinement}"),
        Err(error) => tracing::error!(?error, "ffmpeg and ffprobe cannot be confined: no video can be uploaded"),
    }
}

/// Finds out which still pictures `ffmpeg` reads, which the instance document says from then on.
async fn report_stills(cx: &Cx) {
    let readable = cx.converter.try_stills().await;
    match media::Still::ALL.into_iter().filter(|still| !readable.contains(still)).collect::<Vec<_>>().as_slice() {
        [] => {}
        unreadable => tracing::info!("this ffmpeg does not read still pictures of these kinds: {unreadable:?}"),
    }
}

async fn bind(address: SocketAddr, key: &str) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|error| Error::internal(format!("cannot listen on {address} ({key}): {error}")))
}

/// Prints and logs the server's URL.
fn announce(cx: &Cx, address: SocketAddr) {
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(%address, "Rookery {version} serves {}", cx.urls.origin);
    print_line(&format!("Rookery {version} serves {} (listening on {address})", cx.urls.origin));
}

/// Writes a line to standard output, ignoring a closed pipe.
fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Without an owner, as on the first start, prints the setup link for the owner's account. Never logged: the link makes its
/// holder the owner.
async fn invite_owner(cx: &Cx) -> Result<()> {
    if let Some(link) = service::owner::setup_link(cx).await? {
        let says = match service::instance::usage(cx).await?.users {
            0 => "Nobody lives here yet. Create the owner's account:",
            _ => {
                tracing::warn!("the server has no owner who can sign in: `rookery user set-role NAME Owner` makes one");
                "This server has no owner who can sign in. Create another account for one, or make an account the owner\n\
                 with `rookery user set-role NAME Owner`:"
            }
        };
        print_line(&format!("\n{says}\n\n  {link}\n"));
    }
    Ok(())
}

/// The signals that the server handles.
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

    /// Waits for SIGTERM or SIGINT; SIGHUP reloads the plugins.
    async fn stop(&mut self, cx: &Cx) {
        loop {
            tokio::select! {
                () = async { tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} } } => return,
                _ = self.hangup.recv() => {
                    platform::reload_all(cx);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_have_files_of_their_own() {
        let keys = [("ROOKERY_CONNECTIONS_MAX", "1000"), ("ROOKERY_STREAMING_MAX_CONNECTIONS", "5000")];
        let keys = keys.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(files_needed(&Config::load(None, keys).unwrap()), 6000 + OTHER_FILES);
    }
}
