//! `rookery plugin dev`: a throw-away server that follows the author's files.
//!
//! Two accounts are there from the start, with tokens that are printed. Whenever a file changes, the plugin is built and
//! loaded again; what fails leaves the generation before in place.

use std::path::Path;
use std::time::{Duration, Instant};

use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use super::compile::{self, Purpose};
use super::project::Project;
use super::stage::Stage;
use crate::cli::output::{Failure, Output};
use crate::plugins::Package;
use crate::serve;
use model::clock::Clock;

/// How long files must be quiet before they are built.
const QUIET: Duration = Duration::from_millis(150);

/// How often new lines of the plugin's log are printed.
const LOGS: Duration = Duration::from_millis(200);

/// Builds, serves and follows until it is interrupted.
pub(super) async fn run(folder: &Path, port: u16, output: Output) -> Result<(), Failure> {
    let project = Project::open(folder)?;
    compile::build(&project, Purpose::Trial)?;
    let listen = format!("127.0.0.1:{port}");
    let domain = format!("localhost:{port}");
    let keys = [("ROOKERY_SERVER_LISTEN", listen.as_str()), ("ROOKERY_SERVER_LOCAL_DOMAIN", domain.as_str())];
    let mut stage = Stage::open(&project, Clock::system(), &keys).await?;
    for name in ["alice", "bob"] {
        stage.account(name).await?;
    }
    let package = project.package()?;
    stage.load(&package).await?;
    greet(&stage, port, &package, output);
    tokio::select! {
        served = serve::on(stage.app.clone()) => served.map_err(Failure::from),
        followed = follow(&stage, folder, output) => followed,
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

/// Builds and loads whenever the author saves; prints what the plugin logs.
async fn follow(stage: &Stage, folder: &Path, output: Output) -> Result<(), Failure> {
    let (changed, mut changes) = mpsc::unbounded_channel();
    let root = std::path::absolute(folder).map_err(Failure::new)?;
    let inside = root.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if let Ok(event) = event
            && matters(&event, &inside)
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
                output.say(&again(stage, folder).await);
            }
            _ = logs.tick() => {
                for said in stage.app.plugins.logs.after(&stage.name, line) {
                    line = said.number;
                    output.say(&format!("{} {}", said.level.as_str(), said.message));
                }
            }
        }
    }
}

/// Whether a change is one of the author's.
fn matters(event: &notify::Event, root: &Path) -> bool {
    let changed = matches!(
        event.kind,
        notify::EventKind::Create(_) | notify::EventKind::Modify(_) | notify::EventKind::Remove(_)
    );
    changed
        && event.paths.iter().any(|path| {
            let relative = path.strip_prefix(root).unwrap_or(path);
            let made = |part: &str| {
                ["target", "node_modules", "__pycache__"].contains(&part)
                    || part.starts_with('.')
                    || part.ends_with('~')
            };
            let ending = relative.extension().and_then(|ending| ending.to_str());
            !relative.iter().any(|part| made(&part.to_string_lossy()))
                && !matches!(ending, Some("wasm" | "plugin" | "lock"))
        })
}

/// One round, as a line for the author.
async fn again(stage: &Stage, folder: &Path) -> String {
    let begun = Instant::now();
    let build = || -> Result<Package, Failure> {
        let project = Project::open(folder)?;
        compile::build(&project, Purpose::Trial)?;
        project.package()
    };
    let package = match tokio::task::block_in_place(build) {
        Ok(package) => package,
        Err(failure) => return format!("not built: {}", failure.text()),
    };
    let (built, before) = (begun.elapsed(), stage.app.plugins.current().generation);
    match stage.load(&package).await {
        Err(failure) => format!("not loaded, the generation before serves on: {}", failure.text()),
        Ok(()) if stage.app.plugins.current().generation == before => {
            format!("nothing of the plugin changed: generation {before} serves on")
        }
        Ok(()) => {
            let generation = stage.app.plugins.current().generation;
            let loaded = begun.elapsed().saturating_sub(built).as_millis();
            let total = begun.elapsed().as_millis() + QUIET.as_millis();
            format!("generation {generation} serves: {total} ms after the save, {loaded} ms after the compiler")
        }
    }
}
