//! Loads a plugin again soon after its files changed.
//!
//! What the file system tells is only a hint: when a package was quiet for a moment it is read, and its digest decides
//! whether anything changed. A look every two seconds helps where the file system does not tell (networks, containers).

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use super::{life, package};
use crate::app::App;

/// How long a package must be quiet.
const QUIET: Duration = Duration::from_millis(150);
/// How long one that is never quiet is waited for: then it is enough that what matters of it is.
const CAP: Duration = Duration::from_secs(1);
/// How often one looks without a hint.
const POLL: Duration = Duration::from_secs(2);
/// Hints that wait; more say nothing new.
const HINTS: usize = 1024;
/// Folders inside packages where others write.
const OTHERS: [&str; 2] = ["target", "node_modules"];

/// Watches the folder of plugins for as long as the server runs, if it is to be watched.
pub async fn run(app: App) {
    if !app.config.plugins.watch {
        return;
    }
    let folder = app.config.plugins.dir.clone();
    if let Err(error) = std::fs::create_dir_all(&folder) {
        tracing::error!(%error, "the folder {} (plugins.dir) cannot be watched", folder.display());
        return;
    }
    let folder = folder.canonicalize().unwrap_or(folder);
    let (sender, hints) = mpsc::channel(HINTS);
    // Dropped, it would tell no more.
    let _watcher = match watcher(&folder, sender) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "plugins.dir cannot be watched: it is looked at every {} s", POLL.as_secs());
            None
        }
    };
    follow(&app, &folder, hints).await;
}

fn watcher(folder: &Path, sender: Sender<PathBuf>) -> notify::Result<RecommendedWatcher> {
    let root = folder.to_owned();
    let tell = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in event.paths.iter().filter_map(|path| package_of(&root, path)) {
            // A full channel is full of hints.
            let _ = sender.try_send(path);
        }
    };
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(tell, config)?;
    watcher.watch(folder, RecursiveMode::Recursive)?;
    Ok(watcher)
}

/// The package in `root` that `path` belongs to; none for what says nothing about a package.
fn package_of(root: &Path, path: &Path) -> Option<PathBuf> {
    let inside = path.strip_prefix(root).ok()?;
    let names: Vec<&str> = inside
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let noise =
        |name: &&str| name.starts_with('.') || OTHERS.contains(name) || name.ends_with(".tmp") || name.ends_with('~');
    if names.iter().any(noise) {
        return None;
    }
    Some(root.join(names.first()?))
}

/// When a package was first and last heard of.
#[derive(Clone, Copy)]
struct Heard {
    first: Instant,
    last: Instant,
}

impl Heard {
    fn due(&self) -> Instant {
        (self.last + QUIET).min(self.first + CAP)
    }
}

async fn follow(app: &App, folder: &Path, mut hints: Receiver<PathBuf>) {
    let mut heard: HashMap<PathBuf, Heard> = HashMap::new();
    let mut seen = looks(folder);
    let mut poll = interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let due = heard.values().map(Heard::due).min();
        tokio::select! {
            Some(path) = hints.recv() => hear(&mut heard, path),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if ready(&mut heard).await {
                    seen = looks(folder);
                    life::follow(app).await;
                }
            }
            _ = poll.tick() => {
                let now = looks(folder);
                if now != seen {
                    hear(&mut heard, folder.to_owned());
                    seen = now;
                }
            }
        }
    }
}

fn hear(heard: &mut HashMap<PathBuf, Heard>, path: PathBuf) {
    let now = Instant::now();
    heard.entry(path).or_insert(Heard { first: now, last: now }).last = now;
}

/// True when a package that is due can be read; those that are still written to are waited for again.
async fn ready(heard: &mut HashMap<PathBuf, Heard>) -> bool {
    let now = Instant::now();
    let due: Vec<(PathBuf, Heard)> =
        heard.iter().filter(|(_, heard)| heard.due() <= now).map(|(path, heard)| (path.clone(), *heard)).collect();
    let mut any = false;
    for (path, was) in due {
        if was.last + QUIET <= now || is_settled(&path).await {
            heard.remove(&path);
            any = true;
        } else {
            heard.insert(path, Heard { first: now, last: now });
        }
    }
    any
}

/// Whether what matters of a package stays the same for a moment, whatever else is written beside it.
async fn is_settled(path: &Path) -> bool {
    let digest = async || {
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || package::read(&path).map(|package| package.digest)).await.ok()
    };
    let before = digest().await;
    sleep(QUIET).await;
    matches!((before, digest().await), (Some(before), Some(after)) if before == after)
}

/// Sizes and times of the files that a hint would be about.
fn looks(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let mut looks = Vec::new();
    let packages = package::find(folder).unwrap_or_default();
    for package in packages {
        let mut folders = vec![package.path.clone()];
        while let Some(at) = folders.pop() {
            let entries = std::fs::read_dir(&at).into_iter().flatten().flatten().map(|entry| entry.path());
            let paths = if at.is_dir() { entries.collect() } else { vec![at] };
            for path in paths.into_iter().filter(|path| package_of(folder, path).is_some()) {
                match path.symlink_metadata() {
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) => looks.push((path, found.len(), found.modified().ok())),
                    Err(_) => {}
                }
            }
        }
    }
    looks.sort();
    looks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_says_something_about_a_package_is_a_hint() {
        let root = Path::new("/plugins");
        let of = |path: &str| package_of(root, Path::new(path)).map(|path| path.to_str().map(str::to_owned));
        assert_eq!(of("/plugins/notes/notes.wasm"), Some(Some("/plugins/notes".to_owned())));
        assert_eq!(of("/plugins/notes.plugin"), Some(Some("/plugins/notes.plugin".to_owned())));
        for noise in [
            "/plugins/notes/target/release/x",
            "/plugins/.git/index",
            "/plugins/notes/.notes.wasm.swp",
            "/plugins/notes/notes.wasm.tmp",
            "/plugins/notes/plugin.toml~",
            "/plugins",
            "/elsewhere/x",
        ] {
            assert_eq!(of(noise), None, "{noise}");
        }
    }
}
