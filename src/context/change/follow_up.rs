//! The jobs that follow from a change, as rows of [`kinds`](super::kinds) declare them.

use crate::Result;
use crate::queue::job::{Job, Queued};
use model::Time;

/// The jobs that a change queues in its transaction: one, several, or one scheduled for later.
pub(super) trait FollowUp {
    /// Adds it to `jobs`.
    fn add_to(self, jobs: &mut Vec<Queued>) -> Result<()>;
}

impl<J: Job> FollowUp for J {
    fn add_to(self, jobs: &mut Vec<Queued>) -> Result<()> {
        jobs.push(Queued::of(&self, None)?);
        Ok(())
    }
}

impl<J: Job> FollowUp for Vec<J> {
    fn add_to(self, jobs: &mut Vec<Queued>) -> Result<()> {
        self.into_iter().try_for_each(|job| job.add_to(jobs))
    }
}

/// A job scheduled for a time; `None` queues nothing.
pub(super) struct Scheduled<J>(pub(super) Option<Time>, pub(super) J);

impl<J: Job> FollowUp for Scheduled<J> {
    fn add_to(self, jobs: &mut Vec<Queued>) -> Result<()> {
        if self.0.is_some() {
            jobs.push(Queued::of(&self.1, self.0)?);
        }
        Ok(())
    }
}
