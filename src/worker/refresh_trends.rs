//! Recurring job: scores trends anew.

use super::Run;
use chrono::TimeDelta;
use context::Cx;
use context::queue::{Done, Failure, RefreshTrends, enqueue_at, finish};
use model::clock::Ids;
use service::trend::refresh;
use store::job::Claim;

/// How often trends are scored.
const INTERVAL: TimeDelta = TimeDelta::minutes(5);
/// How long before a run rows may have got their ids that are committed after it.
const OVERLAP: TimeDelta = TimeDelta::minutes(1);

impl Run for RefreshTrends {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let begun = cx.clock.now();
        let measured = refresh::measure(cx, self.since).await?;
        let mut tx = cx.db.begin().await?;
        refresh::save(cx, &mut tx, &measured).await?;
        finish(&mut tx, claim).await?;
        let next = RefreshTrends { since: Ids::first_at(begun - OVERLAP) };
        enqueue_at(cx, &mut tx, &next, begun + INTERVAL).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
