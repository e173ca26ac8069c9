//! The jobs that follow from a change: what a row of [`kinds`](super::kinds) may name, and how it is queued.

use crate::queue::{self, Job};
use crate::{Cx, Result};
use database::Tx;
use model::Time;

/// What a change queues in its transaction: a job, several, or one for later.
pub(super) trait FollowUp {
    /// Queues it.
    fn queue(self, cx: &Cx, tx: &mut Tx) -> impl Future<Output = Result<()>> + Send;
}

impl<J: Job + Sync> FollowUp for J {
    async fn queue(self, cx: &Cx, tx: &mut Tx) -> Result<()> {
        queue::enqueue(cx, tx, &self).await
    }
}

impl<J: Job + Sync> FollowUp for Vec<J> {
    async fn queue(self, cx: &Cx, tx: &mut Tx) -> Result<()> {
        for job in self {
            queue::enqueue(cx, tx, &job).await?;
        }
        Ok(())
    }
}

/// A job at its time; without a time there is nothing to do.
pub(super) struct At<J>(pub(super) Option<Time>, pub(super) J);

impl<J: Job + Sync> FollowUp for At<J> {
    async fn queue(self, cx: &Cx, tx: &mut Tx) -> Result<()> {
        match self.0 {
            Some(at) => queue::enqueue_at(cx, tx, &self.1, at).await,
            None => Ok(()),
        }
    }
}
