//! Job: sends a notification to one subscription (`service::push`). A failed push is retried five times and then
//! dropped without a dead letter, since it would be useless later.

use context::Cx;
use context::job;
use context::queue::{Done, Failure, SendPush, enqueue_at, finish};
use entity::push_message;
use service::push::{self, Sent};
use store::job::Claim;

/// How many times a push is sent before it is given up (docs/contract/push.md#5-message).
const MAX_ATTEMPTS: i64 = 6;

#[job]
async fn send_push(cx: &Cx, job: SendPush, claim: Claim) -> Result<Done, Failure> {
    let last = claim.attempts >= MAX_ATTEMPTS;
    let Some(push) = push::due(cx, job.subscription, job.notification).await? else { return Ok(Done::Remove) };
    let message = push_message::render(cx, push.language, &push.actor, &push.token, &push.shown).await?;
    let Some(message) = message else { return Ok(Done::Remove) };
    match push::send(cx, &push, message.as_str(), last).await? {
        Sent::Done => Ok(Done::Remove),
        Sent::Failed(_) if last => Ok(Done::Remove),
        Sent::Failed(why) => Err(Failure::Retry(why)),
        Sent::Later(at) => {
            let mut tx = cx.db.begin().await?;
            enqueue_at(cx, &mut tx, &job, at).await?;
            finish(&mut tx, claim).await?;
            tx.commit().await?;
            Ok(Done::Removed)
        }
    }
}
