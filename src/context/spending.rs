//! The budget of a context: what jobs that it queues take along.

use crate::Cx;
use crate::budget::{Allowance, HANDED_MAX};

impl Cx {
    /// A part of the budget of this context, for a job that it queues: half of it, but not much; `None` when nothing is
    /// left. A context without a budget belongs to a person of this server, whose lookups each have one.
    #[must_use]
    pub fn hand_on(&self) -> Option<Allowance> {
        self.part(|left| (left / 2).min(HANDED_MAX))
    }

    /// As [`Cx::hand_on`], the whole rest: for the next job of a chain, after which this one causes nothing more.
    #[must_use]
    pub fn hand_on_all(&self) -> Option<Allowance> {
        self.part(|left| left)
    }

    fn part(&self, part: impl Fn(u32) -> u32) -> Option<Allowance> {
        match self.budget() {
            Some(budget) => budget.hand_on(part),
            None => Some(Allowance::of("", self.clock.now())),
        }
    }
}
