//! The observed state of each plugin in this process: its state, history and failures.
//!
//! Kept in memory, bounded, for the admin. The desired state is in the database: see [`super::desired`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rookery_plugin_host::{CallError, CallErrorKind, LoadError};

use model::Time;

/// Events of a plugin's life cycle that are kept.
const HISTORY: usize = 50;
/// Failed calls that are kept.
const FAILURES: usize = 50;

/// Back-off before the first retry of a plugin that could not be loaded; doubled by each further failure.
const BACK_OFF: Duration = Duration::from_secs(30);
/// Longest back-off.
const LONGEST_BACK_OFF: Duration = Duration::from_secs(600);

/// The state of a plugin (PLUGINS.md section 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// There is a package, not examined yet.
    Discovered,
    /// Its package and manifest are valid.
    Validated,
    /// The component is compiled, linked and was instantiated once.
    Compiled,
    /// Its migrations and statements were rehearsed.
    Migrated,
    /// Its self-test passed.
    Tested,
    /// It is active.
    Active,
    /// The admin disabled it.
    Disabled,
    /// It is enabled, and there is no package of that name.
    Missing,
    /// It could not be loaded, or is not fit to run any more.
    Failed(LoadError),
    /// In quarantine: it failed too often and waits for the admin.
    Quarantined,
}

impl State {
    /// As the admin API writes it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Discovered => "discovered",
            Self::Validated => "validated",
            Self::Compiled => "compiled",
            Self::Migrated => "migrated",
            Self::Tested => "tested",
            Self::Active => "active",
            Self::Disabled => "disabled",
            Self::Missing => "missing",
            Self::Failed(_) => "failed",
            Self::Quarantined => "quarantined",
        }
    }
}

/// One event of a plugin's life cycle.
#[derive(Clone, Debug)]
pub struct Event {
    /// When.
    pub at: Time,
    /// `loaded`, `unloaded`, `failed`, `rolled back`, `quarantined`.
    pub what: &'static str,
    /// The package's version.
    pub version: String,
    /// The package's digest.
    pub digest: String,
    /// The registry's generation at that time.
    pub generation: u64,
    /// From reading the package to the swap.
    pub took_ms: u64,
    /// The stage that failed.
    pub stage: Option<String>,
    /// Why it failed.
    pub sentence: Option<String>,
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct FailedCall {
    /// When.
    pub at: Time,
    /// `route`, `events`, `decorate` …
    pub kind: String,
    /// The route, job or kind of entity that was called.
    pub name: String,
    /// How it ended.
    pub ended: String,
    /// Why.
    pub message: String,
    /// The guest's functions, innermost first.
    pub backtrace: Vec<String>,
    /// The generation that was called.
    pub generation: u64,
    /// The plugin itself broke: by a trap, a timeout or a resource limit.
    pub broke: bool,
}

/// The observed state of one plugin.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Its state; none until it was reconciled once.
    pub state: Option<State>,
    /// When it entered the state.
    pub since: Option<Time>,
    /// The latest events, oldest first.
    pub history: VecDeque<Event>,
    /// The latest failures, oldest first.
    pub failures: VecDeque<FailedCall>,
    /// Number of failures since the process started.
    pub failed: u64,
    /// A generation, and how many of its calls trapped or exceeded a time or resource limit.
    pub broken: (u64, u64),
    /// The latest attempt to load it.
    pub tried: Option<Attempt>,
}

/// An attempt to load a package with a version of its configuration.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Digest of the package, and version of the configuration.
    pub key: (String, i64),
    /// Consecutive attempts.
    times: u32,
    /// When it is retried though nothing changed: the cause may have been the database or the disk.
    again: Instant,
}

impl Attempt {
    /// True when a retry is due.
    #[must_use]
    pub fn is_due(&self) -> bool {
        Instant::now() >= self.again
    }
}

/// The observed state of every plugin.
#[derive(Debug, Default)]
pub struct Observations(Mutex<BTreeMap<String, Observed>>);

impl Observations {
    /// The observed state of `plugin`.
    #[must_use]
    pub fn of(&self, plugin: &str) -> Observed {
        self.lock().get(plugin).cloned().unwrap_or_default()
    }

    /// Sets the plugin's state.
    pub fn enter(&self, plugin: &str, state: State, now: Time) {
        self.change(plugin, |observed| {
            if observed.state.as_ref() != Some(&state) {
                observed.state = Some(state);
                observed.since = Some(now);
            }
        });
    }

    /// Adds to the plugin's history.
    pub fn record(&self, plugin: &str, event: Event) {
        self.change(plugin, |observed| push(&mut observed.history, event, HISTORY));
    }

    /// Records a failed call of the plugin.
    pub fn failed(&self, plugin: &str, failed: FailedCall) {
        self.change(plugin, |observed| {
            observed.failed += 1;
            if failed.broke {
                let before = if observed.broken.0 == failed.generation { observed.broken.1 } else { 0 };
                observed.broken = (failed.generation, before + 1);
            }
            push(&mut observed.failures, failed, FAILURES);
        });
    }

    /// Remembers an attempt, so that it is retried only after a change or the back-off; `None` forgets it.
    pub fn tried(&self, plugin: &str, what: Option<(String, i64)>) {
        self.change(plugin, |observed| {
            let before = observed.tried.take();
            observed.tried = what.map(|key| {
                let times =
                    before.filter(|before| before.key == key).map_or(0, |before| before.times.saturating_add(1));
                let pause = (BACK_OFF * 2_u32.saturating_pow(times.min(5))).min(LONGEST_BACK_OFF);
                Attempt { key, times, again: Instant::now() + pause }
            });
        });
    }

    /// True when a retry of some failed plugin is due.
    #[must_use]
    pub fn is_any_due(&self) -> bool {
        let failed = |observed: &Observed| matches!(observed.state, Some(State::Failed(_)));
        self.lock().values().any(|observed| failed(observed) && observed.tried.as_ref().is_some_and(Attempt::is_due))
    }

    /// Forgets the plugin.
    pub fn forget(&self, plugin: &str) {
        self.lock().remove(plugin);
    }

    fn change(&self, plugin: &str, change: impl FnOnce(&mut Observed)) {
        change(self.lock().entry(plugin.to_owned()).or_default());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Observed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailedCall {
    /// The record of a call that ended with `error`.
    #[must_use]
    pub fn new(at: Time, kind: &str, name: &str, generation: u64, error: &CallError) -> Self {
        Self {
            at,
            kind: kind.to_owned(),
            name: name.to_owned(),
            ended: format!("{:?}", error.kind).to_lowercase(),
            message: error.message.clone(),
            backtrace: error.backtrace.clone(),
            generation,
            broke: matches!(
                error.kind,
                CallErrorKind::Trap | CallErrorKind::Cpu | CallErrorKind::Wall | CallErrorKind::Limit
            ),
        }
    }
}

fn push<T>(ring: &mut VecDeque<T>, item: T, most: usize) {
    if ring.len() == most {
        ring.pop_front();
    }
    ring.push_back(item);
}

/// Whole milliseconds, for display.
#[must_use]
pub fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rookery_plugin_host::Stage;

    use super::*;

    #[test]
    fn what_failed_is_tried_again_after_longer_and_longer_pauses() {
        let observed = Observations::default();
        let failed = || State::Failed(LoadError::new(Stage::Migrate, "the disk is full"));
        let key = |version| Some(("digest".to_owned(), version));
        let pause = || {
            let pause = observed.lock()["notes"].tried.as_ref().unwrap().again - Instant::now();
            pause.as_secs_f64().round()
        };
        let mut pauses = Vec::new();
        for _ in 0..7 {
            observed.change("notes", |observed| observed.state = Some(failed()));
            observed.tried("notes", key(1));
            assert!(!observed.is_any_due());
            pauses.push(pause());
        }
        assert_eq!(pauses, [30.0, 60.0, 120.0, 240.0, 480.0, 600.0, 600.0]);
        observed.tried("notes", key(2));
        assert_eq!(pause(), 30.0, "something else is wanted now");
        observed.change("notes", |observed| observed.tried.as_mut().unwrap().again = Instant::now());
        assert!(observed.is_any_due());
        observed.change("notes", |observed| observed.state = Some(State::Active));
        assert!(!observed.is_any_due(), "what serves is left alone");
    }
}
