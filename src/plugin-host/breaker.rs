//! The circuit breaker: stops calling a route, hook, job or command that keeps failing.
//!
//! `call` asks it before each call and records the result afterwards. Opens when more than half of at least 20 calls
//! within 30 seconds failed, and then refuses calls for 5 seconds. The failures of the account with the most failures are left
//! out, so that a single account cannot open it for others. After that it is half-open: one call is the probe, whose success
//! closes it. Each opening in a row doubles the time, up to 5 minutes (exponential back-off). Three openings in an hour
//! are reported. The caller decides the effect of a refused call (a hook's policy, a 503).
//!
//! [`TimeBreaker`] does the same for a part of a plugin by the time that its transactions and statements took of the database.
//!
//! Spec: docs/plugins.md#26-limits.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(30);
const MIN_CALLS: u32 = 20;
const FIRST_BACK_OFF: Duration = Duration::from_secs(5);
const MAX_BACK_OFF: Duration = Duration::from_secs(300);
const HOUR: Duration = Duration::from_secs(3600);
const OPENINGS_TO_QUARANTINE: usize = 3;
/// Failures whose persons are remembered.
const MAX_PERSONS: usize = 1_000;
/// Buckets of the sliding window, one second each.
const BUCKETS: usize = 30;

/// State of a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BreakerState {
    Closed,
    /// One call, the probe, is under way; its result closes or opens the breaker.
    HalfOpen,
    Open,
}

/// Whether a call may go ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Call,
    /// The probe of a half-open breaker.
    Probe,
    /// Refused; the time until a call may be admitted.
    Refused(Duration),
}

/// Calls and failures of one second.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    second: u64,
    calls: u32,
    failures: u32,
}

/// The breaker of one hook, route, job or command.
#[derive(Debug)]
pub(crate) struct Breaker {
    born: Instant,
    parts: [Bucket; BUCKETS],
    /// The second and the person of the latest failures, oldest first.
    persons: VecDeque<(u64, i64)>,
    state: BreakerState,
    /// Calls are refused until then.
    until: Instant,
    pause: Duration,
    openings: Vec<Instant>,
}

impl Breaker {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            born: now,
            parts: [Bucket::default(); BUCKETS],
            persons: VecDeque::new(),
            state: BreakerState::Closed,
            until: now,
            pause: FIRST_BACK_OFF,
            openings: Vec::new(),
        }
    }

    /// Whether a call may be made at `now`.
    pub(crate) fn admit(&mut self, now: Instant) -> Admission {
        match self.state {
            BreakerState::Closed => Admission::Call,
            BreakerState::Open if now >= self.until => {
                self.state = BreakerState::HalfOpen;
                Admission::Probe
            }
            BreakerState::Open => Admission::Refused(self.until.saturating_duration_since(now)),
            BreakerState::HalfOpen => Admission::Refused(Duration::from_secs(1)),
        }
    }

    /// Records a call on behalf of `person` that ended.
    pub(crate) fn ended(&mut self, failed: bool, person: Option<i64>, now: Instant) {
        match self.state {
            BreakerState::HalfOpen if failed => self.open(now),
            BreakerState::HalfOpen => self.close(),
            BreakerState::Closed => {
                let (calls, failures) = self.count(failed, now);
                let alone = if failed { self.count_person(person, now) } else { 0 };
                let others = failures.saturating_sub(alone);
                if failed && calls >= MIN_CALLS && others * 2 > calls.saturating_sub(alone) {
                    self.open(now);
                }
            }
            // It began before the breaker opened.
            BreakerState::Open => {}
        }
    }

    /// The probe ended without a result: the next call becomes the probe.
    pub(crate) fn abandoned(&mut self, now: Instant) {
        if self.state == BreakerState::HalfOpen {
            self.state = BreakerState::Open;
            self.until = now;
        }
    }

    pub(crate) fn state(&self) -> BreakerState {
        self.state
    }

    /// Openings within the last hour.
    pub(crate) fn openings(&self, now: Instant) -> usize {
        self.openings.iter().filter(|at| now.saturating_duration_since(**at) < HOUR).count()
    }

    /// Whether it opened three times within the last hour, for which the plugin should be quarantined.
    pub(crate) fn needs_quarantine(&self, now: Instant) -> bool {
        self.openings(now) >= OPENINGS_TO_QUARANTINE
    }

    fn count(&mut self, failed: bool, now: Instant) -> (u32, u32) {
        let second = now.saturating_duration_since(self.born).as_secs();
        let place = usize::try_from(second).unwrap_or(0) % BUCKETS;
        if let Some(part) = self.parts.get_mut(place) {
            if part.second != second {
                *part = Bucket { second, ..Bucket::default() };
            }
            part.calls += 1;
            part.failures += u32::from(failed);
        }
        let recent = self.parts.iter().filter(|part| second - part.second.min(second) < WINDOW.as_secs());
        recent.fold((0, 0), |(calls, failures), part| (calls + part.calls, failures + part.failures))
    }

    /// Records a failure for `person`, and returns the most failures of a single account within the window.
    fn count_person(&mut self, person: Option<i64>, now: Instant) -> u32 {
        let second = now.saturating_duration_since(self.born).as_secs();
        self.persons.extend(person.map(|person| (second, person)));
        let is_old = |(of, _): &(u64, i64)| second - of.min(&second) >= WINDOW.as_secs();
        while self.persons.len() > MAX_PERSONS || self.persons.front().is_some_and(is_old) {
            self.persons.pop_front();
        }
        let mut counts: HashMap<i64, u32> = HashMap::new();
        for (_, person) in &self.persons {
            *counts.entry(*person).or_default() += 1;
        }
        counts.into_values().max().unwrap_or(0)
    }

    /// Opens it, for longer each time in a row.
    fn open(&mut self, now: Instant) {
        let in_a_row = now.saturating_duration_since(self.until) < MAX_BACK_OFF && !self.openings.is_empty();
        self.pause = if in_a_row { (self.pause * 2).min(MAX_BACK_OFF) } else { FIRST_BACK_OFF };
        self.state = BreakerState::Open;
        self.until = now + self.pause;
        self.openings.retain(|at| now.saturating_duration_since(*at) < HOUR);
        self.openings.push(now);
    }

    fn close(&mut self) {
        self.state = BreakerState::Closed;
        self.parts = [Bucket::default(); BUCKETS];
        self.persons.clear();
    }
}

/// Seconds over which time in the database is added up.
const MINUTE: usize = 60;

/// The breaker of a part that keeps the database busy: opens when that took more than a limit within a minute.
#[derive(Debug)]
pub(crate) struct TimeBreaker {
    limit: Duration,
    breaker: Breaker,
    /// The second, and the time used in it.
    parts: [(u64, Duration); MINUTE],
}

impl TimeBreaker {
    /// A breaker that opens at more than `limit` within a minute.
    pub(crate) fn new(limit: Duration, now: Instant) -> Self {
        Self { limit, breaker: Breaker::new(now), parts: [(0, Duration::ZERO); MINUTE] }
    }

    /// The time until a call may be admitted, if none may now.
    pub(crate) fn admit(&mut self, now: Instant) -> Result<(), Duration> {
        match self.breaker.admit(now) {
            Admission::Call => Ok(()),
            // No single call tells how busy the database will be: the next minute does.
            Admission::Probe => {
                self.breaker.close();
                Ok(())
            }
            Admission::Refused(wait) => Err(wait),
        }
    }

    /// Adds used time; true when that opened the breaker.
    pub(crate) fn used(&mut self, time: Duration, now: Instant) -> bool {
        let second = now.saturating_duration_since(self.breaker.born).as_secs();
        let place = usize::try_from(second).unwrap_or(0) % MINUTE;
        if let Some(part) = self.parts.get_mut(place) {
            *part = (second, if part.0 == second { part.1 + time } else { time });
        }
        let opens = self.breaker.state() == BreakerState::Closed && self.recent(now) > self.limit;
        if opens {
            self.parts = [(0, Duration::ZERO); MINUTE];
            self.breaker.open(now);
        }
        opens
    }

    /// The time used within the last minute.
    pub(crate) fn recent(&self, now: Instant) -> Duration {
        let second = now.saturating_duration_since(self.breaker.born).as_secs();
        self.parts.iter().filter(|(of, _)| second < of + 60).map(|(_, time)| *time).sum()
    }

    pub(crate) fn breaker(&self) -> &Breaker {
        &self.breaker
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn fail(breaker: &mut Breaker, times: u32, now: Instant) {
        for _ in 0..times {
            breaker.ended(true, None, now);
        }
    }

    #[test]
    fn opens_at_twenty_calls_of_which_more_than_half_failed() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        fail(&mut breaker, 19, start);
        assert_eq!(breaker.admit(start), Admission::Call);
        fail(&mut breaker, 1, start);
        assert_eq!(breaker.admit(start), Admission::Refused(seconds(5)));

        let mut half = Breaker::new(start);
        for _ in 0..50 {
            half.ended(false, None, start);
            half.ended(true, None, start);
        }
        assert_eq!(half.admit(start), Admission::Call);
    }

    #[test]
    fn failures_of_one_person_alone_do_not_open_it() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        for _ in 0..500 {
            breaker.ended(true, Some(7), start);
        }
        breaker.ended(false, Some(8), start);
        breaker.ended(true, Some(8), start);
        assert_eq!(breaker.admit(start), Admission::Call);
        breaker.ended(true, Some(9), start);
        assert_eq!(breaker.admit(start), Admission::Refused(seconds(5)), "two of three other calls failed as well");
    }

    #[test]
    fn failures_of_several_persons_open_it() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        for call in 0..20 {
            breaker.ended(true, Some(call % 4), start);
        }
        assert_eq!(breaker.admit(start), Admission::Refused(seconds(5)));
    }

    #[test]
    fn forgets_failures_after_half_a_minute() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        fail(&mut breaker, 19, start);
        fail(&mut breaker, 10, start + seconds(31));
        assert_eq!(breaker.admit(start + seconds(31)), Admission::Call);
    }

    #[test]
    fn half_open_breaker_closes_after_one_call() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        fail(&mut breaker, 20, start);
        let later = start + seconds(5);
        assert_eq!(breaker.admit(later), Admission::Probe);
        assert_eq!(breaker.admit(later), Admission::Refused(seconds(1)));
        breaker.abandoned(later);
        assert_eq!(breaker.admit(later), Admission::Probe);
        breaker.ended(false, None, later);
        assert_eq!(breaker.admit(later), Admission::Call);
        assert_eq!(breaker.state(), BreakerState::Closed);
    }

    #[test]
    fn waits_twice_as_long_each_time_up_to_five_minutes_and_is_reported() {
        let mut now = Instant::now();
        let mut breaker = Breaker::new(now);
        fail(&mut breaker, 20, now);
        for pause in [5, 10, 20, 40, 80, 160, 300, 300] {
            assert_eq!(breaker.admit(now), Admission::Refused(seconds(pause)));
            now += seconds(pause);
            assert_eq!(breaker.admit(now), Admission::Probe);
            breaker.ended(true, None, now);
        }
        assert!(breaker.needs_quarantine(now));
        assert!(!breaker.needs_quarantine(now + HOUR));
    }

    #[test]
    fn back_off_resets_after_a_long_time_without_failures() {
        let start = Instant::now();
        let mut breaker = Breaker::new(start);
        fail(&mut breaker, 20, start);
        let later = start + seconds(5);
        assert_eq!(breaker.admit(later), Admission::Probe);
        breaker.ended(false, None, later);
        let much_later = later + MAX_BACK_OFF;
        fail(&mut breaker, 20, much_later);
        assert_eq!(breaker.admit(much_later), Admission::Refused(FIRST_BACK_OFF));
        assert!(!breaker.needs_quarantine(much_later));
    }

    #[test]
    fn plugin_that_keeps_the_database_busy_is_refused_and_reported() {
        let mut now = Instant::now();
        let mut breaker = TimeBreaker::new(seconds(20), now);
        for _ in 0..40 {
            assert!(!breaker.used(Duration::from_millis(500), now));
            assert_eq!(breaker.admit(now), Ok(()));
        }
        assert_eq!(breaker.recent(now), seconds(20));
        for pause in [5, 10, 20] {
            assert!(breaker.used(seconds(21), now));
            assert_eq!(breaker.admit(now), Err(seconds(pause)));
            now += seconds(pause);
            assert_eq!(breaker.admit(now), Ok(()));
        }
        assert!(breaker.breaker().needs_quarantine(now));
    }

    #[test]
    fn time_of_a_minute_ago_is_forgotten() {
        let start = Instant::now();
        let mut breaker = TimeBreaker::new(seconds(20), start);
        assert!(!breaker.used(seconds(20), start + seconds(1)));
        assert!(!breaker.used(seconds(20), start + seconds(61)));
        assert_eq!(breaker.admit(start + seconds(61)), Ok(()));
    }
}
