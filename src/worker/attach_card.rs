//! Jobs: give a status the card of the link in its text, and invalidate renderings of statuses whose card changed.

use super::Run;
use context::Cx;
use context::queue::{AttachCard, BumpCard, Done, Failure, finish};
use service::card;
use store::job::Claim;

impl Run for AttachCard {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        card::attach(cx, self.status).await?;
        Ok(Done::Remove)
    }
}

impl Run for BumpCard {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        card::bump(cx, &mut tx, self.card, self.before).await?;
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}
