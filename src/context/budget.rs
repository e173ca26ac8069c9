//! Budgets: how many requests to other servers may follow from one activity, and until when.
//!
//! A context carries the budget of its cause; the client of federation takes from it. A job that is queued takes a part
//! along. Who causes how much over time is counted elsewhere (`federation`).
//!
//! Design: docs/architecture.md, "Who may make us spend what".

use std::sync::atomic::{AtomicU32, Ordering};

use chrono::TimeDelta;
use model::Time;
use serde::{Deserialize, Serialize};

/// Requests that follow from an activity of another server, or from a lookup by a person of this server.
const REQUESTS: u32 = 100;
/// Most of them that one job takes along, except the one that seeks the ancestors of an ancestor.
pub(crate) const HANDED_MAX: u32 = 40;
/// How long jobs may begin requests that follow from it.
const PATIENCE: TimeDelta = TimeDelta::minutes(30);

/// A part of a budget, in the row of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// The registrable domain that causes the requests; empty for people of this server.
    pub cause: String,
    pub requests: u32,
    /// When the last one may begin, in microseconds since the epoch.
    pub until: i64,
}

impl Allowance {
    /// The budget of one activity of `cause` that begins at `now`.
    #[must_use]
    pub fn of(cause: &str, now: Time) -> Self {
        Self { cause: cause.to_owned(), requests: REQUESTS, until: (now + PATIENCE).timestamp_micros() }
    }
}

/// Why a request to another server may not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// None may begin here: the work is to be done where requests are allowed.
    Deferred,
    /// The budget was spent, or its time is over.
    Spent,
}

/// What remains of an allowance in a running job.
#[derive(Debug)]
pub struct Budget {
    cause: String,
    left: AtomicU32,
    until: i64,
    defers: bool,
}

impl Budget {
    /// For queued jobs only: work that needs a request immediately is deferred.
    #[must_use]
    pub fn deferring(allowance: Allowance) -> Self {
        Self { defers: true, ..Self::from(allowance) }
    }

    /// The registrable domain that causes the requests; empty for people of this server.
    #[must_use]
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Takes one request.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn take(&self, now: Time) -> Result<(), Refusal> {
        if self.defers {
            return Err(Refusal::Deferred);
        }
        if now.timestamp_micros() > self.until || self.split(|left| left.min(1)) == 0 {
            return Err(Refusal::Spent);
        }
        Ok(())
    }

    /// A `part` of the rest, for a job; `None` for an empty part.
    pub(crate) fn hand_on(&self, part: impl Fn(u32) -> u32) -> Option<Allowance> {
        let requests = self.split(part);
        (requests > 0).then(|| Allowance { cause: self.cause.clone(), requests, until: self.until })
    }

    /// Takes `part` of the rest, and returns it.
    fn split(&self, part: impl Fn(u32) -> u32) -> u32 {
        let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| Some(left - part(left)));
        before.map_or(0, part)
    }
}

impl From<Allowance> for Budget {
    fn from(allowance: Allowance) -> Self {
        let Allowance { cause, requests, until } = allowance;
        Self { cause, left: requests.into(), until, defers: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_budget_add_up_to_it() {
        let now = Time::from_micros(0);
        let budget = Budget::from(Allowance::of("a.test", now));
        let half = |left| left / 2;
        let first = budget.hand_on(half).unwrap();
        let second = budget.hand_on(half).unwrap();
        assert_eq!((first.requests, second.requests, first.cause.as_str()), (50, 25, "a.test"));
        assert_eq!((0..100).filter(|_| budget.take(now).is_ok()).count(), 25);
        assert_eq!((budget.take(now), budget.hand_on(half)), (Err(Refusal::Spent), None));
        let late = now + PATIENCE + TimeDelta::seconds(1);
        assert_eq!(Budget::from(first).take(late), Err(Refusal::Spent));
        let deferring = Budget::deferring(second);
        assert_eq!(deferring.take(now), Err(Refusal::Deferred));
        assert_eq!(deferring.hand_on(|left| left).unwrap().requests, 25, "for a job that may");
    }
}
