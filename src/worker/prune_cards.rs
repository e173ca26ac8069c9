//! Jobs: delete cards that no status has, a batch in each transaction, pictures that no card shows, and those that the media
//! cache has no room for.

use super::Run;
use super::purge_media::remove;
use chrono::TimeDelta;
use context::Cx;
use context::queue::{Done, Failure, PruneCards, PurgeCardImage, TrimMediaCache, enqueue, enqueue_at, finish};
use service::card;
use store::job::Claim;

/// How often a walk through the cards begins.
const INTERVAL: TimeDelta = TimeDelta::hours(6);
/// How often the size of the cache is looked at.
const TRIM_EVERY: TimeDelta = TimeDelta::hours(1);

impl Run for PruneCards {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        match card::prune(cx, &mut tx, self.after).await? {
            Some(after) => enqueue(cx, &mut tx, &Self { after }).await?,
            None => enqueue_at(cx, &mut tx, &Self::begin(), cx.clock.now() + INTERVAL).await?,
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

impl Run for TrimMediaCache {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        let next = if card::trim_cache(cx, &mut tx).await? { TimeDelta::zero() } else { TRIM_EVERY };
        enqueue_at(cx, &mut tx, &self, cx.clock.now() + next).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

impl Run for PurgeCardImage {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        let card = store::card::find(&cx.db, self.card).await?;
        if card.and_then(|card| card.image).as_ref() != Some(&self.image) {
            remove(cx, &[self.image]).await?;
        }
        Ok(Done::Remove)
    }
}
