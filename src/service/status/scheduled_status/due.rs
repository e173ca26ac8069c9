//! Publishing a scheduled status when its time has come.
//!
//! Reached from the job [`PublishScheduled`]. The draft is validated again, since much may have changed since it was
//! scheduled. Plugins are called while no transaction is open.

use super::{Params, publish_later};
use crate::access::grants;
use crate::email;
use crate::status::{self, CreatedStatus, Ready};
use context::error::{Error, Result};
use context::queue::{self, Done, Failure, PublishScheduled, Subject};
use context::{Cx, job};
use model::{Actor, ScheduledStatus};
use store::job::Claim;

/// Publishes a scheduled status when its time has come. The transaction that publishes it removes the job, so it is
/// published only once, however often the job runs. If the clock was set back, the job waits again.
///
/// # Errors
/// [`Failure::Retry`] for a temporary error, unless this was the last attempt: then its author is notified.
#[model::use_case]
#[job]
async fn publish_due(
    cx: &Cx,
    PublishScheduled { scheduled: id }: PublishScheduled,
    claim: Claim,
) -> Result<Done, Failure> {
    let row = store::scheduled_status::find(&cx.db, id).await?.filter(|row| row.failure.is_none());
    let Some(row) = row else { return Ok(Done::Remove) };
    if row.scheduled_at > cx.clock.now() {
        let mut tx = cx.db.begin().await?;
        publish_later(cx, &mut tx, id, row.scheduled_at).await?;
        queue::finish(&mut tx, claim).await?;
        tx.commit().await?;
        return Ok(Done::Removed);
    }
    match publish(cx, &row, claim).await {
        Err(Attempt::Error(error)) => match reason(&error) {
            Some(why) => fail(cx, &row, &why, claim).await,
            None if !error.is_fault() && claim.attempts >= i64::from(cx.config.jobs.max_attempts) => {
                tracing::error!(%error, "could not publish a scheduled status");
                fail(cx, &row, "The server could not publish it.", claim).await
            }
            None => Err(error.into()),
        },
        Err(Attempt::Failure(failure)) => Err(failure),
        Ok(done) => Ok(done),
    }
}

/// Why an attempt to publish did not succeed.
enum Attempt {
    /// The use case failed.
    Error(Error),
    /// The job was lost to another worker.
    Failure(Failure),
}

impl From<Error> for Attempt {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<database::Error> for Attempt {
    fn from(error: database::Error) -> Self {
        Self::Error(error.into())
    }
}

async fn publish(cx: &Cx, row: &ScheduledStatus, claim: Claim) -> Result<Done, Attempt> {
    let (actor, ready) = prepare(cx, row).await?;
    let mut tx = cx.db.begin().await?;
    // The row of the account is locked first, as wherever scheduled statuses change.
    store::account::lock(&mut tx, &[actor.id]).await?;
    if !store::scheduled_status::delete_due(&mut tx, row.id, cx.clock.now()).await? {
        // Deleted, published by another worker, or moved, in which case another job is queued.
        return Ok(Done::Remove);
    }
    let status = status::write(cx, &mut tx, &actor, ready).await?;
    store::idempotency_key::reassign(
        &mut tx,
        actor.id,
        CreatedStatus::Scheduled(row.id),
        CreatedStatus::Status(status),
    )
    .await?;
    queue::finish(&mut tx, claim).await.map_err(Attempt::Failure)?;
    tx.commit().await?;
    Ok(Done::Removed)
}

async fn prepare(cx: &Cx, row: &ScheduledStatus) -> Result<(Actor, Ready)> {
    let actor = grants::actors(cx, &[row.account_id]).await?.pop();
    let actor = actor.ok_or_else(|| Error::forbidden("Your account could not be used at that time."))?;
    let params: Params = serde_json::from_value(row.params.0.clone()).map_err(Error::internal)?;
    let actor = Actor { app: params.application_id, ..actor };
    let ready = status::validate(cx, &actor, params.into_draft()).await?;
    Ok((actor, ready))
}

/// The message to the author for a permanent error; `None` for a temporary one.
fn reason(error: &Error) -> Option<String> {
    match error {
        error if error.may_pass() => None,
        Error::NotFound | Error::Gone => Some("The post that it replies to was deleted or is hidden.".to_owned()),
        error => Some(error.to_string()),
    }
}

/// Stores why a status was not published, and mails its author.
async fn fail(cx: &Cx, row: &ScheduledStatus, why: &str, claim: Claim) -> Result<Done, Failure> {
    let mut tx = cx.db.begin().await?;
    if store::scheduled_status::set_failure(&mut tx, row.id, row.scheduled_at, why).await? {
        email::queue(cx, &mut tx, row.account_id, Subject::ScheduleFailed(row.id), None).await?;
    }
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}
