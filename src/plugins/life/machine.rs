//! The life of one plugin on one server, as a state machine: what may follow what, and what has to be done then.
//!
//! ```text
//!              not enabled                          no package
//!   Disabled ◄──────────── (any state) ──────────► Missing
//!      │ enabled, or its package appeared             │
//!      ▼                                              ▼
//!   Discovered ─► Validated ─► Compiled ─► Migrated ─► Tested          loading: the steps of `pipeline`
//!      ▲                       │ a step fails           │ swapped in
//!      │ changed, or            ▼                       ▼
//!      │ back-off is over    Failed ◄── tables ───── Active ◄─────────────────────────┐
//!      └────────────────────────┘    changed by        │ a new package of a plugin    │ 30 s passed
//!                                    another server    │ that served is on probation ─┘
//!                                                      │
//!                        ┌─────────────────────────────┼──────────────────────────────┐
//!                        ▼ on probation, more than 1   ▼ a breaker opened three       ▼ the same, and it may
//!                     roll back: the package           Quarantined, until the         refuse posts: Failed,
//!                     before is desired again          admin enables it               and serves on
//! ```
//!
//! A failure to load leaves what served before in place ([`State::Failed`] then names the newer one's fault), and is retried
//! with exponential back-off even if nothing changed, since the cause may have been the database or the disk. What failed after
//! its migrations had run, or by them, is not retried until the package or the admin changes something: everybody who writes
//! waits for each attempt. Circuit breakers
//! belong to single hooks and routes and are in the sandbox (`rookery-plugin-host`): what arrives here is that one keeps opening.
//!
//! Pure: no clock, no database, no task. [`Life::step`] says what to do; `reconcile` and `supervise` do it.
//!
//! Follows docs/plugins.md#21-states (states), docs/plugins.md#22-loading (probation) and docs/plugins.md#26-limits (breaker).

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rookery_plugin_host::LoadError;

/// How long a new generation is on probation.
pub(super) const PROBATION: Duration = Duration::from_secs(30);
/// Calls before the failure rate of a generation on probation is judged.
const MIN_CALLS: u64 = 20;
/// It is rolled back when more than one in this many of its calls trapped or exceeded a time or resource limit.
const MAX_BROKEN_ONE_IN: u64 = 5;
/// Back-off before the first retry of a plugin that could not be loaded; doubled by each further failure.
const BACK_OFF: Duration = Duration::from_secs(30);
const LONGEST_BACK_OFF: Duration = Duration::from_secs(600);

/// The state of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// There may be a package; not examined yet.
    #[default]
    Discovered,
    /// Its package and manifest are valid.
    Validated,
    /// The component is compiled, linked and was instantiated once.
    Compiled,
    /// Its migrations and statements were rehearsed.
    Migrated,
    /// Its self-test passed.
    Tested,
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

/// A package and a version of its configuration, loaded or tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Digest of the package.
    pub digest: String,
    /// Version of the admin's configuration.
    pub config_version: i64,
}

/// What happened to a plugin.
#[derive(Debug)]
pub(super) enum Input {
    /// It is not to run.
    Disabled,
    /// It is to stay in quarantine.
    Quarantined,
    /// It is to run, and there is no package; `serves` while an older generation is active.
    NoPackage { serves: bool },
    /// The desired package and configuration are active. `outdated` when another server changed its tables so that it
    /// cannot run on them.
    Serves { outdated: Option<LoadError> },
    /// This is desired, and something else or nothing is active.
    Desired(Candidate),
    /// The admin wants another attempt now.
    Retry,
    /// A step of loading passed, while nothing is active.
    Passed(State),
    /// It is active, since this generation; `before` is the digest of the package it replaced, if one can be rolled back to.
    Loaded { generation: u64, before: Option<String> },
    /// It was not loaded.
    NotLoaded(LoadError),
    /// The periodic check of active plugins.
    Checked(Health),
}

/// How an active plugin fares.
#[derive(Debug)]
pub(super) struct Health {
    pub generation: u64,
    /// Calls of this generation so far.
    pub calls: u64,
    /// A circuit breaker that keeps opening: why it should be quarantined.
    pub tripped: Option<LoadError>,
    /// It may refuse posts: without it, posts that it would have refused would be published.
    pub refuses_posts: bool,
}

/// What has to be done.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Action {
    /// Nothing.
    Stay,
    Load,
    /// Nothing yet: it failed so, and the back-off is not over.
    Wait(LoadError),
    /// Unload it, if it is active.
    Unload,
    /// Report this fault, which is new.
    Report(LoadError),
    /// Make the package with the digest `to` the desired one: of this generation's `calls`, `broken` trapped or exceeded a limit.
    RollBack {
        to: String,
        broken: u64,
        calls: u64,
    },
    /// Put it into quarantine, for this reason.
    Quarantine(LoadError),
}

/// One plugin's state, and what decides its next.
#[derive(Clone, Debug, Default)]
pub(super) struct Life {
    state: State,
    attempt: Option<Attempt>,
    probation: Option<Probation>,
    /// The generation whose breaker keeps opening and that serves on.
    tripped: Option<u64>,
}

/// The latest attempt to load a candidate, which failed or is under way.
#[derive(Clone, Debug)]
struct Attempt {
    of: Candidate,
    /// Consecutive attempts before this one.
    times: u32,
    /// When it is retried though nothing changed; `None`: never.
    again: Option<Instant>,
}

impl Attempt {
    fn is_due(&self, now: Instant) -> bool {
        self.again.is_some_and(|again| now >= again)
    }
}

#[derive(Clone, Debug)]
struct Probation {
    generation: u64,
    until: Instant,
    /// The digest to roll back to.
    before: String,
    /// Calls that trapped or exceeded a limit.
    broken: u64,
    /// The same, by the account on whose behalf the call was made.
    by_person: HashMap<i64, u64>,
}

impl Probation {
    /// True when too many of `calls` broke, even without the account with the most failures, so that a single account cannot
    /// undo an upgrade.
    fn has_failed(&self, calls: u64) -> bool {
        let alone = self.by_person.values().max().copied().unwrap_or(0);
        let (broken, others) = (self.broken.saturating_sub(alone), calls.saturating_sub(alone));
        calls >= MIN_CALLS && broken * MAX_BROKEN_ONE_IN > others
    }
}

impl Life {
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// True when a retry is due.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        matches!(self.state, State::Failed(_)) && self.attempt.as_ref().is_some_and(|attempt| attempt.is_due(now))
    }

    /// Counts a call of `generation` on behalf of `person` that trapped or exceeded a time or resource limit: judged by the
    /// next [`Input::Checked`].
    pub(super) fn call_broke(&mut self, generation: u64, person: Option<i64>) {
        if let Some(probation) = self.probation.as_mut().filter(|probation| probation.generation == generation) {
            probation.broken += 1;
            if let Some(person) = person {
                *probation.by_person.entry(person).or_default() += 1;
            }
        }
    }

    /// The transition on `input`.
    pub(super) fn step(&mut self, input: Input, now: Instant) -> Action {
        match input {
            Input::Disabled => self.leave(State::Disabled),
            Input::Quarantined => self.leave(State::Quarantined),
            Input::NoPackage { serves: true } => Action::Stay,
            Input::NoPackage { serves: false } => self.enter(State::Missing),
            Input::Serves { outdated } => self.serves(outdated),
            Input::Desired(candidate) => self.desired(candidate, now),
            Input::Retry => self.retry(),
            Input::Passed(state) => self.enter(state),
            Input::Loaded { generation, before } => self.loaded(generation, before, now),
            Input::NotLoaded(fault) => self.not_loaded(fault),
            Input::Checked(health) => self.checked(health, now),
        }
    }

    fn enter(&mut self, state: State) -> Action {
        self.state = state;
        Action::Stay
    }

    fn leave(&mut self, state: State) -> Action {
        *self = Self { state, ..Self::default() };
        Action::Unload
    }

    fn fail(&mut self, fault: LoadError) -> Action {
        let failed = State::Failed(fault.clone());
        if self.state == failed {
            return Action::Wait(fault);
        }
        self.state = failed;
        Action::Report(fault)
    }

    fn serves(&mut self, outdated: Option<LoadError>) -> Action {
        self.attempt = None;
        match outdated {
            Some(fault) => self.fail(fault),
            None if self.tripped.is_some() => Action::Stay,
            None => self.enter(State::Active),
        }
    }

    fn desired(&mut self, candidate: Candidate, now: Instant) -> Action {
        let before = self.attempt.take().filter(|attempt| attempt.of == candidate);
        if let (State::Failed(fault), Some(attempt)) = (&self.state, &before)
            && !attempt.is_due(now)
        {
            let fault = fault.clone();
            self.attempt = before;
            return Action::Wait(fault);
        }
        let times = before.map_or(0, |attempt| attempt.times.saturating_add(1));
        let back_off = (BACK_OFF * 2_u32.saturating_pow(times.min(5))).min(LONGEST_BACK_OFF);
        self.attempt = Some(Attempt { of: candidate, times, again: Some(now + back_off) });
        Action::Load
    }

    fn not_loaded(&mut self, fault: LoadError) -> Action {
        // The first fault is kept: that the package is not tried again says less.
        if let (State::Failed(before), Some(Attempt { again: None, .. })) = (&self.state, &self.attempt)
            && !fault.lasting
        {
            return Action::Wait(before.clone());
        }
        if let Some(attempt) = self.attempt.as_mut().filter(|_| fault.lasting) {
            attempt.again = None;
        }
        self.fail(fault)
    }

    fn retry(&mut self) -> Action {
        self.attempt = None;
        Action::Stay
    }

    fn loaded(&mut self, generation: u64, before: Option<String>, now: Instant) -> Action {
        let until = now + PROBATION;
        let probation =
            before.map(|before| Probation { generation, until, before, broken: 0, by_person: HashMap::new() });
        *self = Self { state: State::Active, probation, ..Self::default() };
        Action::Stay
    }

    fn checked(&mut self, health: Health, now: Instant) -> Action {
        let Health { generation, calls, tripped, refuses_posts } = health;
        self.probation = self.probation.take().filter(|it| it.generation == generation && now < it.until);
        if let Some(it) = self.probation.take_if(|it| it.has_failed(calls)) {
            return Action::RollBack { to: it.before, broken: it.broken, calls };
        }
        match tripped {
            Some(why) if !refuses_posts => Action::Quarantine(why),
            Some(why) if self.tripped != Some(generation) => {
                self.tripped = Some(generation);
                self.fail(why)
            }
            Some(_) | None => Action::Stay,
        }
    }
}

#[cfg(test)]
mod tests {
    use rookery_plugin_host::Stage;

    use super::*;

    fn fault(sentence: &str) -> LoadError {
        LoadError::new(Stage::Migrate, sentence)
    }

    fn candidate(config_version: i64) -> Input {
        Input::Desired(Candidate { digest: "digest".to_owned(), config_version })
    }

    fn health(generation: u64, calls: u64) -> Health {
        Health { generation, calls, tripped: None, refuses_posts: false }
    }

    /// A plugin whose generation 7 took the place of the package `before` at `now`.
    fn on_probation(now: Instant) -> Life {
        let mut life = Life::default();
        assert_eq!(life.step(candidate(1), now), Action::Load);
        assert_eq!(life.step(Input::Loaded { generation: 7, before: Some("before".to_owned()) }, now), Action::Stay);
        assert_eq!(life.state(), &State::Active);
        life
    }

    fn break_calls(life: &mut Life, generation: u64, times: u64) {
        for _ in 0..times {
            life.call_broke(generation, None);
        }
    }

    #[test]
    fn failed_load_is_retried_with_exponential_back_off() {
        let (mut life, mut now) = (Life::default(), Instant::now());
        for (times, pause) in [30, 60, 120, 240, 480, 600, 600].into_iter().enumerate() {
            assert_eq!(life.step(candidate(1), now), Action::Load);
            let (failed, sentence) = (life.step(Input::NotLoaded(fault("full")), now), fault("full"));
            assert_eq!(
                failed,
                if times == 0 { Action::Report(sentence.clone()) } else { Action::Wait(sentence.clone()) }
            );
            let almost = now + Duration::from_secs(pause - 1);
            assert_eq!((life.is_due(almost), life.step(candidate(1), almost)), (false, Action::Wait(sentence)));
            now += Duration::from_secs(pause);
            assert!(life.is_due(now));
        }
    }

    #[test]
    fn failed_migration_is_not_retried_until_something_changes() {
        let (mut life, now) = (Life::default(), Instant::now());
        let much_later = now + LONGEST_BACK_OFF * 100;
        for again in [candidate(1), candidate(2)] {
            assert_eq!(life.step(again, now), Action::Load);
            assert!(matches!(
                life.step(Input::NotLoaded(fault("took too long").lasting()), now),
                Action::Report(_) | Action::Wait(_)
            ));
            assert!(!life.is_due(much_later));
        }
        assert_eq!(life.step(candidate(2), much_later), Action::Wait(fault("took too long").lasting()));
        let refused = life.step(Input::NotLoaded(fault("not tried again")), now);
        assert_eq!(refused, Action::Wait(fault("took too long").lasting()), "the reason stays");
        assert_eq!(life.step(Input::Retry, now), Action::Stay);
        assert_eq!(life.step(candidate(2), now), Action::Load, "the admin wants it");
    }

    #[test]
    fn changed_or_retried_candidate_is_loaded_at_once() {
        let (mut life, now) = (Life::default(), Instant::now());
        assert_eq!(life.step(candidate(1), now), Action::Load);
        assert_eq!(life.step(Input::NotLoaded(fault("full")), now), Action::Report(fault("full")));
        assert_eq!(life.step(candidate(2), now), Action::Load);
        assert_eq!(life.step(Input::NotLoaded(fault("full")), now), Action::Wait(fault("full")));
        assert_eq!(life.step(Input::Retry, now), Action::Stay);
        assert_eq!(life.step(candidate(2), now), Action::Load);
        assert_eq!(life.step(Input::Loaded { generation: 1, before: None }, now), Action::Stay);
        assert!(!life.is_due(now + LONGEST_BACK_OFF), "what serves is left alone");
    }

    #[test]
    fn generation_that_breaks_on_probation_is_rolled_back_once() {
        let now = Instant::now();
        let mut life = on_probation(now);
        break_calls(&mut life, 6, 100);
        break_calls(&mut life, 7, 5);
        assert_eq!(life.step(Input::Checked(health(7, 19)), now), Action::Stay, "too few calls to judge");
        assert_eq!(life.step(Input::Checked(health(7, 25)), now), Action::Stay, "one in five is allowed");
        let back = Action::RollBack { to: "before".to_owned(), broken: 5, calls: 24 };
        assert_eq!(life.step(Input::Checked(health(7, 24)), now), back);
        assert_eq!(life.step(Input::Checked(health(7, 24)), now), Action::Stay);
    }

    #[test]
    fn failures_of_one_account_alone_roll_no_upgrade_back() {
        let now = Instant::now();
        let mut life = on_probation(now);
        for _ in 0..100 {
            life.call_broke(7, Some(1));
        }
        assert_eq!(life.step(Input::Checked(health(7, 100)), now), Action::Stay);
        life.call_broke(7, Some(2));
        assert_eq!(life.step(Input::Checked(health(7, 110)), now), Action::Stay, "one of the ten other calls");
        for person in 3..6 {
            life.call_broke(7, Some(person));
        }
        let back = Action::RollBack { to: "before".to_owned(), broken: 104, calls: 113 };
        assert_eq!(life.step(Input::Checked(health(7, 113)), now), back);
    }

    #[test]
    fn probation_ends_after_its_time_and_with_its_generation() {
        let now = Instant::now();
        let mut late = on_probation(now);
        break_calls(&mut late, 7, 20);
        assert_eq!(late.step(Input::Checked(health(7, 20)), now + PROBATION), Action::Stay);
        let mut replaced = on_probation(now);
        break_calls(&mut replaced, 7, 20);
        assert_eq!(replaced.step(Input::Checked(health(8, 20)), now), Action::Stay);
        let mut first = Life::default();
        assert_eq!(first.step(Input::Loaded { generation: 1, before: None }, now), Action::Stay);
        break_calls(&mut first, 1, 20);
        assert_eq!(first.step(Input::Checked(health(1, 20)), now), Action::Stay, "there is nothing to go back to");
    }

    #[test]
    fn tripped_breaker_quarantines_unless_the_plugin_refuses_posts() {
        let now = Instant::now();
        let tripped = |refuses_posts| {
            let health = Health { tripped: Some(fault("again and again")), refuses_posts, ..health(7, 60) };
            Input::Checked(health)
        };
        let mut life = on_probation(now);
        assert_eq!(life.step(tripped(false), now), Action::Quarantine(fault("again and again")));
        assert_eq!(life.step(Input::Quarantined, now), Action::Unload);
        assert_eq!(life.state(), &State::Quarantined);

        let mut refusing = on_probation(now);
        assert_eq!(refusing.step(tripped(true), now), Action::Report(fault("again and again")));
        assert_eq!(refusing.step(tripped(true), now), Action::Stay, "reported once");
        assert_eq!(refusing.step(Input::Serves { outdated: None }, now), Action::Stay);
        assert_eq!(refusing.state(), &State::Failed(fault("again and again")));
    }

    #[test]
    fn changed_tables_fail_what_serves_until_they_fit_again() {
        let now = Instant::now();
        let mut life = on_probation(now);
        let outdated = || Input::Serves { outdated: Some(fault("newer tables")) };
        assert_eq!(life.step(outdated(), now), Action::Report(fault("newer tables")));
        assert_eq!(life.step(outdated(), now), Action::Wait(fault("newer tables")));
        assert_eq!(life.step(Input::Serves { outdated: None }, now), Action::Stay);
        assert_eq!(life.state(), &State::Active);
    }

    #[test]
    fn missing_package_leaves_what_serves() {
        let now = Instant::now();
        let mut life = on_probation(now);
        assert_eq!(life.step(Input::NoPackage { serves: true }, now), Action::Stay);
        assert_eq!(life.state(), &State::Active);
        assert_eq!(life.step(Input::Disabled, now), Action::Unload);
        assert_eq!(life.step(Input::NoPackage { serves: false }, now), Action::Stay);
        assert_eq!(life.state(), &State::Missing);
    }
}
