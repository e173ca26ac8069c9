//! The job that processes the activities of one sender.

use std::time::Duration;

use context::budget::{Allowance, Budget};
use context::queue::{self, Done, Failure as JobFailure, Job as _, ProcessInbox, RetryActivity};
use context::{Cx, job};
use store::inbound::Waiting;
use store::job::Claim;

use super::inbound::Inbound;
use super::kinds::Kind;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::Failure;
use crate::address::same_host;
use crate::vocabulary::{Activity, parse};

/// Most activities that one run processes before other senders have their turn.
const TURN: usize = 50;
/// Requests of a further attempt: the results of the first one are known.
const RETRY_REQUESTS: u32 = 20;
/// How long one activity may take, with everything that is fetched for it.
const PATIENCE: Duration = Duration::from_secs(30);

#[model::use_case]
#[job]
async fn process_inbox(cx: &Cx, job: ProcessInbox, claim: Claim) -> Result<Done, JobFailure> {
    let mut asks = false;
    for _ in 0..TURN {
        let Some(waiting) = store::inbound::find_next(&cx.db, job.account).await? else { return Ok(Done::Remove) };
        let allowance = Allowance::of(&job.domain, cx.clock.now());
        let budget = if job.asks { allowance.into() } else { Budget::deferring(allowance) };
        let processed = Box::pin(process(&cx.spending(budget), &waiting)).await;
        // Later activities of this sender wait: an Update or an Undo must not come before its object.
        asks = processed.as_ref().is_err_and(Ignored::is_deferred);
        if asks {
            break;
        }
        let mut tx = cx.db.begin().await?;
        match processed {
            Err(Ignored::Local(error)) if error.is_fault() => return Err(error.into()),
            Err(ignored) if ignored.is_transient() => {
                store::inbound::set_aside(&mut tx, waiting.id).await?;
                let later = cx.clock.now() + chrono::TimeDelta::seconds(15);
                let again = RetryActivity { activity: waiting.id, domain: job.domain.clone() };
                queue::enqueue_at(cx, &mut tx, &again, later).await?;
            }
            Ok(()) | Err(_) => drop(store::inbound::finish(&mut tx, waiting.id).await?),
        }
        tx.commit().await?;
    }
    let next = ProcessInbox { asks, ..job };
    let mut tx = cx.db.begin().await?;
    if asks {
        // One that was queued meanwhile may not ask either, and so would the next, as long as more arrives.
        store::job::delete_ready(&mut tx, ProcessInbox::KIND, &[next.key().unwrap_or_default()]).await?;
    }
    queue::enqueue(cx, &mut tx, &next).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

#[model::use_case]
#[job]
async fn retry_activity(cx: &Cx, job: RetryActivity) -> Result<(), JobFailure> {
    let Some(waiting) = store::inbound::find(&cx.db, job.activity).await? else { return Ok(()) };
    let allowance = Allowance { requests: RETRY_REQUESTS, ..Allowance::of(&job.domain, cx.clock.now()) };
    if let Err(ignored) = Box::pin(process(&cx.spending(allowance.into()), &waiting)).await
        && ignored.is_transient()
    {
        return Err(match ignored {
            Ignored::Local(error) => error.into(),
            ignored => JobFailure::Retry(ignored.to_string()),
        });
    }
    let mut tx = cx.db.begin().await?;
    store::inbound::finish(&mut tx, waiting.id).await?;
    Ok(tx.commit().await?)
}

/// Processes one activity, and counts its result.
async fn process(cx: &Cx, waiting: &Waiting) -> Result<(), Ignored> {
    let Ok(activity) = parse::<Activity>(waiting.body.as_bytes()) else { return Ok(()) };
    let Some(kind) = Kind::of(&activity.kind) else { return Ok(()) };
    let Some(sender) = store::remote::get_actor(&cx.db, waiting.account_id).await? else { return Ok(()) };
    let inbound = Inbound { activity, sender, mailbox: waiting.mailbox_account_id };
    let done = tokio::time::timeout(PATIENCE, perform(cx, kind, &inbound)).await;
    let done = done.unwrap_or(Err(Ignored::Fetch(Failure::Request(outbound::Error::Timeout))));
    if done.as_ref().is_err_and(Ignored::is_deferred) {
        return done;
    }
    let result = done.as_ref().map_or_else(Ignored::as_str, |()| "ok");
    metrics::counter!("rookery_inbox_activities_total", "kind" => kind.as_str(), "result" => result).increment(1);
    if let Err(ignored) = &done {
        tracing::debug!(activity.kind = kind.as_str(), sender.id = %inbound.sender.id, %ignored, "an activity had no effect");
    }
    done
}

/// Performs an activity of the sender, or looks at the object of one that the sender passed on.
async fn perform(cx: &Cx, kind: Kind, inbound: &Inbound) -> Result<(), Ignored> {
    if *inbound.activity.actor == *inbound.sender.uri {
        return kind.perform(cx, inbound).await;
    }
    let uri = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    if !same_host(uri, &inbound.activity.actor) {
        return Err(Reason::ForeignObject.into());
    }
    kind.perform_forwarded(cx, inbound, uri).await
}
