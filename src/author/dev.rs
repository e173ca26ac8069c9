//! `rookery plugin dev`: a throw-away server with hot reload.
//!
//! It starts with two accounts, whose tokens are printed. When a file changes, the plugin is rebuilt and reloaded;
//! after a failure the previous generation keeps serving. A page beside it shows requests, log and limits: [`dashboard`].

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::compile::{self, Purpose};
use super::dashboard;
use super::project::Project;
use super::test_server::Stage;
use model::clock::Clock;
use plugin_package::Package;
use rookery_server::serve;
use terminal::{Failure, Output};

/// Debounce: how long files must stay unchanged before a rebuild.
const QUIET: Duration = Duration::from_millis(150);

/// How often the plugin's log is polled for new lines.
const LOGS: Duration = Duration::from_millis(200);

/// Builds, serves and reloads until it is interrupted.
pub(crate) async fn run(folder: &Path, port: u16, output: Output) -> Result<(), Failure> {
    let project = Project::open_sources(folder)?;
    check_port(port)?;
    let begun = Instant::now();
    let step = |what: &str| output.progress(&format!("{:>4.1} s  {what}", begun.elapsed().as_secs_f64()));
    step(&format!("building {}", project.manifest.plugin.wasm));
    compile::build(&project, Purpose::Trial)?;
    step("starting a server on a temporary database");
    let listen = format!("127.0.0.1:{port}");
    let domain = format!("localhost:{port}");
    let keys = [("ROOKERY_SERVER_LISTEN", listen.as_str()), ("ROOKERY_SERVER_LOCAL_DOMAIN", domain.as_str())];
    let mut stage = Stage::open(&project, Clock::system(), &keys).await?;
    for name in ["alice", "bob"] {
        stage.account(name).await?;
    }
    let package = project.package()?;
    let mib = package.wasm.len() >> 20;
    let slow = if mib > 1 { " (a large one takes some seconds the first time)" } else { "" };
    step(&format!("compiling the component for this machine{slow}"));
    stage.load(&package).await?;
    step(&format!("{} {} serves", project.name(), package.manifest.plugin.version));
    greet(&stage, port, &package, output);
    // The port after the server's port; a taken port is not an error.
    let page = port.saturating_add(1);
    let dashboard = dashboard::serve(stage.cx.clone(), stage.name.clone(), page);
    output.say(&format!("requests, log and limits: http://localhost:{page}/"));
    let dashboard = async {
        if let Err(failure) = dashboard.await {
            output.warn(failure.text());
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = dashboard => Ok(()),
        served = serve::on((*stage.cx).clone()) => served.map_err(Failure::from),
        followed = follow(&stage, folder, output) => followed,
    }
}

/// Whether the port is free: said before a build that may take a minute.
///
/// # Errors
/// When another program listens there.
fn check_port(port: u16) -> Result<(), Failure> {
    match std::net::TcpListener::bind(("127.0.0.1", port)) {
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Err(Failure::usage(format!(
            "another program listens on port {port}: end it, or choose another with --port"
        ))),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn greet(stage: &Stage, port: u16, package: &Package, output: Output) {
    for (name, id, token) in stage.people() {
        output.say(&format!("{name} ({id}): Authorization: Bearer {token}"));
    }
    for route in &package.manifest.routes {
        output.say(&format!("{} http://localhost:{port}{}", route.method.all().join("|"), route.path));
    }
    output.say(&format!("data: {}", stage.folder().display()));
}

/// Rebuilds and reloads on file changes, and prints the plugin's log.
async fn follow(stage: &Stage, folder: &Path, output: Output) -> Result<(), Failure> {
    let (changed, mut changes) = mpsc::unbounded_channel();
    let root = std::path::absolute(folder).map_err(Failure::new)?;
    let (inside, watched) = (root.clone(), watched(folder)?);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && matters(&event, &inside, &watched)
        {
            let _ = changed.send(());
        }
    })
    .map_err(Failure::new)?;
    watcher.watch(&root, RecursiveMode::Recursive).map_err(Failure::new)?;
    let mut line = 0;
    let mut logs = tokio::time::interval(LOGS);
    loop {
        tokio::select! {
            _ = changes.recv() => {
                while tokio::time::timeout(QUIET, changes.recv()).await.is_ok() {}
                output.progress("a file changed: building");
                output.say(&again(stage, folder).await);
            }
            _ = logs.tick() => {
                for entry in stage.cx.plugins.logs.after(&stage.name, line) {
                    line = entry.number;
                    output.say(&format!("{} {}", entry.level.as_str(), entry.message));
                }
            }
        }
    }
}

/// The paths that the manifest names as `watch`, and the files of the package; empty for all files.
fn watched(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let named = Project::open(folder)?.manifest.build.map(|build| build.watch).unwrap_or_default();
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let always = ["plugin.toml", "config.schema.json"].map(str::to_owned);
    Ok(always.into_iter().chain(named).map(PathBuf::from).collect())
}

/// True for a change to a source file; false for build output and editors' temporary files.
fn matters(event: &notify::Event, root: &Path, watched: &[PathBuf]) -> bool {
    let changed = matches!(
        event.kind,
        notify::EventKind::Create(_) | notify::EventKind::Modify(_) | notify::EventKind::Remove(_)
    );
    changed
        && event.paths.iter().any(|path| {
            let relative = path.strip_prefix(root).unwrap_or(path);
            let made = |part: &str| {
                ["target", "node_modules", "venv", "__pycache__"].contains(&part)
                    || part.starts_with('.')
                    || part.ends_with('~')
            };
            let ending = relative.extension().and_then(|ending| ending.to_str());
            (watched.is_empty() || watched.iter().any(|path| relative.starts_with(path)))
                && !relative.iter().any(|part| made(&part.to_string_lossy()))
                && !matches!(ending, Some("wasm" | "plugin" | "lock"))
        })
}

/// Rebuilds and reloads once; returns the line to print.
async fn again(stage: &Stage, folder: &Path) -> String {
    let begun = Instant::now();
    let build = || -> Result<Package, Failure> {
        let project = Project::open_sources(folder)?;
        compile::build(&project, Purpose::Trial)?;
        project.package()
    };
    let package = match tokio::task::block_in_place(build) {
        Ok(package) => package,
        Err(failure) => return format!("not built: {}", failure.text()),
    };
    let (built, before) = (begun.elapsed(), stage.cx.registry().generation);
    match stage.load(&package).await {
        Err(failure) => format!("not loaded, the generation before serves on: {}", failure.text()),
        Ok(()) if stage.cx.registry().generation == before => {
            format!("nothing of the plugin changed: generation {before} serves on")
        }
        Ok(()) => {
            let generation = stage.cx.registry().generation;
            let loaded = begun.elapsed().saturating_sub(built).as_millis();
            let total = begun.elapsed().as_millis() + QUIET.as_millis();
            format!("generation {generation} serves: {total} ms after the save, {loaded} ms after the compiler")
        }
    }
}
