//! Hot reload: reconciles plugins soon after their files changed.
//!
//! Started with the server when `plugins.watch` is set. File system events are only hints: once a package is quiet
//! (debounced) it is read, and its digest decides whether anything changed. Polling every two seconds covers file
//! systems without events (networks, containers).

use model::boxed;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use super::reconcile;
use crate::Cx;
use plugin_package::package;

/// Debounce: how long a package must be quiet.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// Upper bound of the debounce for a package that is never quiet: then it is enough that the files it consists of are
/// stable.
const MAX_DEBOUNCE: Duration = Duration::from_secs(1);
/// How often the folder is polled.
const POLL: Duration = Duration::from_secs(2);
/// Capacity of the channel of hints; more would carry no information.
const HINTS: usize = 1024;
/// Folders inside packages that build tools write to.
const IGNORED_FOLDERS: [&str; 2] = ["target", "node_modules"];

/// Watches the plugin folder until the server stops, if the configuration asks for it.
#[boxed]
pub async fn run(cx: Cx) {
    if !cx.config.plugins.watch {
        return;
    }
    let folder = cx.config.plugins.dir.clone();
    if let Err(error) = std::fs::create_dir_all(&folder) {
        tracing::error!(%error, "the folder {} (plugins.dir) cannot be watched", folder.display());
        return;
    }
    let folder = folder.canonicalize().unwrap_or(folder);
    let (sender, hints) = mpsc::channel(HINTS);
    // Dropping it ends the events.
    let _watcher = match watcher(&folder, sender) {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::warn!(%error, "plugins.dir cannot be watched: it is looked at every {} s", POLL.as_secs());
            None
        }
    };
    follow(&cx, &folder, hints).await;
}

fn watcher(folder: &Path, sender: Sender<PathBuf>) -> notify::Result<RecommendedWatcher> {
    let root = folder.to_owned();
    let tell = move |event: notify::Result<notify::Event>| {
        let Ok(event) = event else { return };
        if matches!(event.kind, EventKind::Access(_)) {
            return;
        }
        for path in event.paths.iter().filter_map(|path| package_of(&root, path)) {
            // When the channel is full, a hint is pending anyway.
            let _ = sender.try_send(path);
        }
    };
    let config = notify::Config::default().with_follow_symlinks(false);
    let mut watcher = RecommendedWatcher::new(tell, config)?;
    watcher.watch(folder, RecursiveMode::Recursive)?;
    Ok(watcher)
}

/// The package in `root` that `path` belongs to; none for paths that are irrelevant to packages.
fn package_of(root: &Path, path: &Path) -> Option<PathBuf> {
    let inside = path.strip_prefix(root).ok()?;
    let names: Vec<&str> = inside
        .components()
        .map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let noise = |name: &&str| {
        name.starts_with('.') || IGNORED_FOLDERS.contains(name) || name.ends_with(".tmp") || name.ends_with('~')
    };
    if names.iter().any(noise) {
        return None;
    }
    Some(root.join(names.first()?))
}

/// The first and last hint about a package.
#[derive(Clone, Copy)]
struct Hint {
    first: Instant,
    last: Instant,
}

impl Hint {
    fn due(&self) -> Instant {
        (self.last + DEBOUNCE).min(self.first + MAX_DEBOUNCE)
    }
}

async fn follow(cx: &Cx, folder: &Path, mut hints: Receiver<PathBuf>) {
    let mut hinted: HashMap<PathBuf, Hint> = HashMap::new();
    let mut seen = looks(folder);
    // Files may have changed between the start of the server and this.
    record_hint(&mut hinted, folder.to_owned());
    let mut poll = interval(POLL);
    poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let due = hinted.values().map(Hint::due).min();
        tokio::select! {
            Some(path) = hints.recv() => record_hint(&mut hinted, path),
            () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                if ready(&mut hinted, is_stable).await {
                    seen = looks(folder);
                    reconcile::follow(cx).await;
                }
            }
            _ = poll.tick() => {
                let now = looks(folder);
                if now != seen {
                    record_hint(&mut hinted, folder.to_owned());
                    seen = now;
                }
            }
        }
    }
}

fn record_hint(hinted: &mut HashMap<PathBuf, Hint>, path: PathBuf) {
    let now = Instant::now();
    hinted.entry(path).or_insert(Hint { first: now, last: now }).last = now;
}

/// True when a package that is due can be read; those still being written are debounced again.
async fn ready(hinted: &mut HashMap<PathBuf, Hint>, is_stable: impl AsyncFn(&Path) -> bool) -> bool {
    let now = Instant::now();
    let due: Vec<(PathBuf, Hint)> =
        hinted.iter().filter(|(_, hinted)| hinted.due() <= now).map(|(path, hinted)| (path.clone(), *hinted)).collect();
    let mut any = false;
    for (path, was) in due {
        if was.last + DEBOUNCE <= now || is_stable(&path).await {
            hinted.remove(&path);
            any = true;
        } else {
            hinted.insert(path, Hint { first: now, last: now });
        }
    }
    any
}

/// True when the digest of a package is stable for a moment, whatever else is written beside it.
async fn is_stable(path: &Path) -> bool {
    let digest = async || {
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || package::read(&path).map(|package| package.digest)).await.ok()
    };
    let before = digest().await;
    sleep(DEBOUNCE).await;
    matches!((before, digest().await), (Some(before), Some(after)) if before == after)
}

/// Sizes and modification times of the files that hints would be about.
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
    use tokio::time::advance;

    /// How often a file is written to: sooner than it would count as quiet.
    const WRITES: Duration = Duration::from_millis(50);

    fn hinted(path: &Path) -> HashMap<PathBuf, Hint> {
        let mut hinted = HashMap::new();
        record_hint(&mut hinted, path.to_owned());
        hinted
    }

    async fn unread(_: &Path) -> bool {
        panic!("a package that is quiet is not read to see whether it is stable")
    }

    #[tokio::test(start_paused = true)]
    async fn package_that_is_written_slowly_is_read_once_when_it_is_whole() {
        let path = Path::new("/plugins/notes");
        let mut hinted = hinted(path);
        for _ in 0..10 {
            advance(WRITES).await;
            assert!(!ready(&mut hinted, unread).await, "it is still being written");
            record_hint(&mut hinted, path.to_owned());
        }
        advance(DEBOUNCE - Duration::from_millis(1)).await;
        assert!(!ready(&mut hinted, unread).await);
        advance(Duration::from_millis(1)).await;
        assert!(ready(&mut hinted, unread).await);
        advance(MAX_DEBOUNCE).await;
        assert!(!ready(&mut hinted, unread).await, "once");
    }

    #[tokio::test(start_paused = true)]
    async fn package_that_is_never_quiet_is_read_once_its_files_are_stable() {
        let path = Path::new("/plugins/notes");
        let mut hinted = hinted(path);
        for stable in [false, true] {
            while hinted[path].first.elapsed() < MAX_DEBOUNCE {
                assert!(!ready(&mut hinted, unread).await);
                advance(WRITES).await;
                record_hint(&mut hinted, path.to_owned());
            }
            assert_eq!(ready(&mut hinted, async |_: &Path| stable).await, stable);
        }
        assert!(hinted.is_empty());
    }

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
