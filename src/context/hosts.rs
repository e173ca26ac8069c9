//! Hosts that this process asks for something: how many requests run at once, and the back-off after failures.
//!
//! In memory, of this process alone: it spares a host, and the jobs that would wait for it. What is known of a page or of a
//! subscription is in its row. Pages and push services have a table each, so that neither waits for the other.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// When a request is tried again that found its host busy with others.
const BUSY: TimeDelta = TimeDelta::seconds(5);
/// The first back-off; each further one is twice as long.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::seconds(30);
/// How many answers in a row that they failed are taken from a host before its back-off begins: busy ones fail now and then.
const TOLERATED: u32 = 4;
/// The longest back-off.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::hours(1);
/// From how many hosts on those are forgotten whose back-off has ended.
const CROWDED: usize = 1_000;

/// Most requests to one site at once, for its pages.
pub const PAGE_REQUESTS: usize = 2;
/// Most requests to one push service at once: half of the concurrent jobs, so that a hanging service does not delay the others.
pub const PUSH_REQUESTS: usize = 8;

#[derive(Debug)]
pub struct Hosts {
    /// Most requests to one of them at once.
    most: usize,
    known: Mutex<HashMap<String, Host>>,
}

#[derive(Debug, Default)]
struct Host {
    running: usize,
    /// Answers in a row that it failed.
    refusals: u32,
    /// Back-offs in a row.
    failures: u32,
    not_before: Option<Time>,
}

/// A request that runs.
#[derive(Debug)]
pub struct Visit<'a> {
    hosts: &'a Hosts,
    host: String,
}

/// Why a host is not asked now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spared {
    /// As many requests run as may: try again then, at the latest.
    Busy(Time),
    /// It failed lately: not before then.
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
    /// A table in which `most` requests to one host run at once.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// Begins a request to `host`; or says why not.
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
    /// The host answered, whatever it said of the request.
    Answered,
    /// The host answered that it failed.
    Refused,
    /// The host did not answer.
    Silent,
}

impl Visit<'_> {
    /// Notes how the request ended.
    pub fn end(self, ended: Ended, now: Time) {
        let mut hosts = self.hosts.lock();
        let Some(known) = hosts.get_mut(&self.host) else { return };
        match ended {
            Ended::Answered => (known.refusals, known.failures, known.not_before) = (0, 0, None),
            // One that was spared before has to answer well once.
            Ended::Refused if known.failures == 0 && known.refusals < TOLERATED => known.refusals += 1,
            Ended::Refused | Ended::Silent => {
                known.failures = (known.failures + 1).min(16);
                let back_off = FIRST_BACK_OFF * 2_i32.pow(known.failures - 1);
                known.not_before = Some(now + back_off.min(LONGEST_BACK_OFF));
            }
        }
    }

    /// Notes that the host asked for a pause until `until`.
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
