//! Sites that pages were fetched from lately: how many fetches run, and the back-off after failures.
//!
//! In memory, of this process alone: it spares a site, and the jobs that would wait for it. What is known of a page is in its
//! row.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::TimeDelta;
use model::Time;

/// Most fetches from one site at once.
const MAX_RUNNING: usize = 2;
/// When a fetch is tried again that found its site busy with others.
const BUSY: TimeDelta = TimeDelta::seconds(5);
/// The first back-off; each further one is twice as long.
const FIRST_BACK_OFF: TimeDelta = TimeDelta::seconds(30);
/// The longest back-off.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::hours(1);
/// From how many sites on those are forgotten whose back-off has ended.
const CROWDED: usize = 1_000;

/// The sites.
#[derive(Debug, Default)]
pub struct Hosts(Mutex<HashMap<String, Host>>);

#[derive(Debug, Default)]
struct Host {
    running: usize,
    /// Fetches in a row that failed.
    failures: u32,
    not_before: Option<Time>,
}

/// A fetch that runs.
#[derive(Debug)]
pub(super) struct Visit<'a> {
    hosts: &'a Hosts,
    host: String,
}

impl Hosts {
    /// Begins a fetch from `host`; or says when to try again.
    pub(super) fn enter(&self, host: &str, now: Time) -> Result<Visit<'_>, Time> {
        let mut hosts = self.lock();
        let known = hosts.entry(host.to_owned()).or_default();
        if let Some(until) = known.not_before.filter(|until| *until > now) {
            return Err(until);
        }
        if known.running >= MAX_RUNNING {
            return Err(now + BUSY);
        }
        known.running += 1;
        if hosts.len() > CROWDED {
            hosts.retain(|_, known| known.running > 0 || known.not_before.is_some_and(|until| until > now));
        }
        Ok(Visit { hosts: self, host: host.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Host>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit<'_> {
    /// Notes how the fetch ended: whether the site answered, whatever it did.
    pub(super) fn end(self, answered: bool, now: Time) {
        let mut hosts = self.hosts.lock();
        let Some(known) = hosts.get_mut(&self.host) else { return };
        if answered {
            (known.failures, known.not_before) = (0, None);
        } else {
            known.failures = (known.failures + 1).min(16);
            let back_off = FIRST_BACK_OFF * 2_i32.pow(known.failures - 1);
            known.not_before = Some(now + back_off.min(LONGEST_BACK_OFF));
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut hosts = self.hosts.lock();
        let Some(known) = hosts.get_mut(&self.host) else { return };
        known.running = known.running.saturating_sub(1);
        if known.running == 0 && known.failures == 0 {
            hosts.remove(&self.host);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn site_is_spared() {
        let (hosts, now) = (Hosts::default(), Time::from_micros(0));
        let visits = [hosts.enter("a.test", now).unwrap(), hosts.enter("a.test", now).unwrap()];
        assert_eq!(hosts.enter("a.test", now).unwrap_err(), now + BUSY);
        drop(visits);
        assert!(hosts.lock().is_empty());

        hosts.enter("a.test", now).unwrap().end(false, now);
        assert_eq!(hosts.enter("a.test", now).unwrap_err(), now + FIRST_BACK_OFF);
        let later = now + FIRST_BACK_OFF;
        hosts.enter("a.test", later).unwrap().end(false, later);
        assert_eq!(hosts.enter("a.test", later).unwrap_err(), later + FIRST_BACK_OFF * 2);
        assert!(hosts.enter("b.test", later).is_ok());
        let later = later + FIRST_BACK_OFF * 2;
        hosts.enter("a.test", later).unwrap().end(true, later);
        assert!(hosts.enter("a.test", later).is_ok());
    }
}
