//! The observed state of each plugin in this process: where it is in its life, its history and failures.
//!
//! Stored in memory, bounded, for the admin. `machine` decides the transitions; the desired state is in the
//! database: see [`super::desired`].

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rookery_plugin_host::{CallError, CallErrorKind};

use super::machine::{Action, Input, Life, State};
use model::Time;

/// Events of a plugin's life cycle that are kept.
const HISTORY: usize = 50;
/// Failed calls that are kept.
const FAILURES: usize = 50;

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
    /// On whose behalf it was called: an account, 0 for people without one; `None` for the server itself.
    pub person: Option<i64>,
}

/// The observed state of one plugin.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    life: Life,
    /// When it entered its state; none until it was reconciled once.
    pub since: Option<Time>,
    /// The latest events, oldest first.
    pub history: VecDeque<Event>,
    /// The latest failures, oldest first.
    pub failures: VecDeque<FailedCall>,
    /// Number of failures since the process started.
    pub failed: u64,
}

impl Observed {
    /// Its state; none until it was reconciled once.
    #[must_use]
    pub fn state(&self) -> Option<&State> {
        self.since.map(|_| self.life.state())
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

    /// The plugin's next state after `input`, and what has to be done.
    pub(super) fn step(&self, plugin: &str, input: Input, now: Time) -> Action {
        let mut all = self.lock();
        let observed = all.entry(plugin.to_owned()).or_default();
        let before = observed.life.state().clone();
        let action = observed.life.step(input, Instant::now());
        if observed.since.is_none() || observed.life.state() != &before {
            observed.since = Some(now);
        }
        action
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
                observed.life.call_broke(failed.generation, failed.person);
            }
            push(&mut observed.failures, failed, FAILURES);
        });
    }

    /// True when a retry of some failed plugin is due.
    #[must_use]
    pub fn is_any_due(&self) -> bool {
        let now = Instant::now();
        self.lock().values().any(|observed| observed.life.is_due(now))
    }

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
            person: error.person,
        }
    }

    /// One line for the plugin's log: the call, its result and the place of the failure.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { kind, name, ended, message, .. } = self;
        // How a panic is handled in the language's library says nothing.
        let own = |frame: &&String| !PANICS.iter().any(|library| frame.starts_with(library));
        let place = self.backtrace.iter().find(own).or(self.backtrace.first());
        let place = place.map(|frame| format!(", in {frame}")).unwrap_or_default();
        // A failure says itself that it is one.
        let how = if message.starts_with(ended.as_str()) { String::new() } else { format!("{ended}: ") };
        format!("{kind} {name} ended by {how}{message}{place}")
    }
}

/// Functions that end a guest for another one.
const PANICS: [&str; 8] =
    ["core::panicking", "core::option", "core::result", "core::slice", "core::str", "std::", "abort", "__rust"];

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
