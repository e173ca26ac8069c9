//! Job: fetches the page of a card. What the page did is remembered in the card, so that a failure of the page is none of the
//! job, which runs again when the card is due.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, FetchCard, enqueue_at, finish};
use service::card::{self, Fetched};
use store::job::Claim;

impl Run for FetchCard {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let Fetched::Later(at) = card::fetch(cx, self.card).await? else { return Ok(Done::Remove) };
        let mut tx = cx.db.begin().await?;
        enqueue_at(cx, &mut tx, &self, at).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
