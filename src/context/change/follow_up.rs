//! The jobs that follow from a change: what a row of [`kinds`](super::kinds) may name.

use crate::Result;
use crate::queue::job::{Job, Queued};
use model::Time;

/// What a change queues in its transaction: a job, several, or one for later.
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

/// A job at its time; without a time there is nothing to do.
pub(super) struct At<J>(pub(super) Option<Time>, pub(super) J);

impl<J: Job> FollowUp for At<J> {
    fn add_to(self, jobs: &mut Vec<Queued>) -> Result<()> {
        if self.0.is_some() {
            jobs.push(Queued::of(&self.1, self.0)?);
        }
        Ok(())
    }
}
