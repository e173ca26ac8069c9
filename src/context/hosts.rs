//! Hosts that this process sends requests to: limits on concurrent requests, and the back-off after failures.
//!
//! In memory, for this process alone: it spares a host, and the jobs that would wait for it. The state of a page or
//! of a subscription is in its row. Pages and push services have separate tables, so that neither waits for the
//! other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// Delay before retrying a request whose host had too many running requests.
const BUSY: TimeDelta = TimeDelta::seconds(5);
/// The first back-off; each further one is twice as long.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::seconds(30);
/// Consecutive failures reported by a host before its back-off begins: busy hosts fail now and then.
const TOLERATED: u32 = 4;
/// The longest back-off.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::hours(1);
/// Number of hosts beyond which hosts whose back-off has ended are dropped.
const CROWDED: usize = 1_000;

/// Most concurrent requests to one site for its pages.
pub const PAGE_REQUESTS: usize = 2;
/// Most concurrent requests to one push service: half of the concurrent jobs, so that a hanging service does not
/// delay the others.
pub const PUSH_REQUESTS: usize = 8;

#[derive(Debug)]
pub struct Hosts {
    /// Most concurrent requests to one host.
    most: usize,
    known: Mutex<HashMap<String, Host>>,
}

#[derive(Debug, Default)]
struct Host {
    running: usize,
    /// Consecutive failures that the host reported.
    refusals: u32,
    /// Consecutive back-offs.
    failures: u32,
    not_before: Option<Time>,
}

/// A running request.
#[derive(Debug)]
pub struct Visit<'a> {
    hosts: &'a Hosts,
    host: String,
}

/// Why a request to a host must wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spared {
    /// The limit of concurrent requests is reached: retry at this time at the latest.
    Busy(Time),
    /// The host failed recently: retry no earlier.
    Failing(Time),
}

impl Spared {
    /// When to try again.
    pub fn until(self) -> Time {
        match self {
            Self::Busy(until) | Self::Failing(until) => until,
        }
    }
}

impl Hosts {
    /// A table that allows `most` concurrent requests to one host.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// Begins a request to `host`; the error is the reason to wait.
    pub fn enter(&self, host: &str, now: Time) -> Result<Visit<'_>, Spared> {
        let mut hosts = self.lock();
        let known = hosts.entry(host.to_owned()).or_default();
        if let Some(until) = known.not_before.filter(|until| *until > now) {
            return Err(Spared::Failing(until));
        }
        if known.running >= self.most {
            return Err(Spared::Busy(now + BUSY));
        }
        known.running += 1;
        if hosts.len() > CROWDED {
            hosts.retain(|_, known| known.running > 0 || known.not_before.is_some_and(|until| until > now));
        }
        Ok(Visit { hosts: self, host: host.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The host responded; the result of the request does not matter.
    Answered,
    /// The host responded that it failed.
    Refused,
    /// The host did not respond.
    Silent,
}

impl Visit<'_> {
    /// Records the end of the request.
    pub fn end(self, ended: Ended, now: Time) {
        let mut hosts = self.hosts.lock();
        let Some(known) = hosts.get_mut(&self.host) else { return };
        match ended {
            Ended::Answered => (known.refusals, known.failures, known.not_before) = (0, 0, None),
            // A host with a back-off has to succeed once before failures are tolerated again.
            Ended::Refused if known.failures == 0 && known.refusals < TOLERATED => known.refusals += 1,
            Ended::Refused | Ended::Silent => {
                known.failures = (known.failures + 1).min(16);
                let back_off = FIRST_BACK_OFF * 2_i32.pow(known.failures - 1);
                known.not_before = Some(now + back_off.min(LONGEST_BACK_OFF));
            }
        }
    }

    /// Records that the host requested a pause until `until`.
    pub fn end_until(self, until: Time) {
        let mut hosts = self.hosts.lock();
        if let Some(known) = hosts.get_mut(&self.host) {
            known.failures = known.failures.max(1);
            known.not_before = Some(until);
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut hosts = self.hosts.lock();
        let Some(known) = hosts.get_mut(&self.host) else { return };
        known.running = known.running.saturating_sub(1);
        if known.running == 0 && known.failures == 0 && known.refusals == 0 {
            hosts.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_spared() {
        let (hosts, now) = (Hosts::new(2), Time::from_micros(0));
        let visits = [hosts.enter("a.test", now).unwrap(), hosts.enter("a.test", now).unwrap()];
        assert_eq!(hosts.enter("a.test", now).unwrap_err(), Spared::Busy(now + BUSY));
        drop(visits);
        assert!(hosts.lock().is_empty());

        hosts.enter("a.test", now).unwrap().end(Ended::Silent, now);
        assert_eq!(hosts.enter("a.test", now).unwrap_err(), Spared::Failing(now + FIRST_BACK_OFF));
        let later = now + FIRST_BACK_OFF;
        hosts.enter("a.test", later).unwrap().end(Ended::Refused, later);
        assert_eq!(hosts.enter("a.test", later).unwrap_err().until(), later + FIRST_BACK_OFF * 2);
        assert!(hosts.enter("b.test", later).is_ok());
        let later = later + FIRST_BACK_OFF * 2;
        hosts.enter("a.test", later).unwrap().end(Ended::Answered, later);
        assert!(hosts.enter("a.test", later).is_ok());
        hosts.enter("a.test", later).unwrap().end_until(later + BUSY);
        assert_eq!(hosts.enter("a.test", later).unwrap_err(), Spared::Failing(later + BUSY));
        assert!(hosts.enter("a.test", later + BUSY).is_ok());
    }

    #[test]
    fn host_that_fails_now_and_then_is_not_spared() {
        let (hosts, now) = (Hosts::new(2), Time::from_micros(0));
        for _ in 0..3 {
            for _ in 0..TOLERATED {
                hosts.enter("a.test", now).unwrap().end(Ended::Refused, now);
            }
            hosts.enter("a.test", now).unwrap().end(Ended::Answered, now);
        }
        for _ in 0..TOLERATED {
            hosts.enter("a.test", now).unwrap().end(Ended::Refused, now);
        }
        hosts.enter("a.test", now).unwrap().end(Ended::Refused, now);
        assert_eq!(hosts.enter("a.test", now).unwrap_err(), Spared::Failing(now + FIRST_BACK_OFF));
    }
}
