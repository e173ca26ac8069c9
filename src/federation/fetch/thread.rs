//! Threads of other servers: the statuses that a reply answers, and replies to a status, by bounded jobs.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::TimeDelta;
use context::queue::{self, Done, Failure as JobFailure, FillParent, FillReplies};
use context::{Cx, job};
use model::StatusId;
use service::remote::replies;
use store::job::Claim;

use super::{collection, note_document, status};
use crate::Failure;
use crate::address::same_host;
use crate::failure::is_answer;
use crate::reading::known;

/// Attempts to fetch a parent.
const ATTEMPTS: u32 = 3;
/// Pause before the second attempt; each further one is four times as long.
const PAUSE: TimeDelta = TimeDelta::minutes(5);
/// Most collections of replies that one job reads, and how long it takes at most.
const COLLECTIONS_MAX: usize = 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Fetches the status that a reply answers, and makes it a reply to it. A reply that waits for this is published in any
/// case.
#[model::use_case]
#[job]
async fn fill_parent(cx: &Cx, job: FillParent, claim: Claim) -> Result<Done, JobFailure> {
    let thread = store::remote_thread::find(&cx.db, job.status).await?;
    let parent = match thread.and_then(|thread| thread.parent_uri) {
        Some(uri) => status::status_at(cx, &uri, job.depth + 1).await.map(|parent| Some((uri, parent))),
        None => Ok(None),
    };
    let mut tx = cx.db.begin().await?;
    match &parent {
        Ok(Some((uri, parent))) => service::remote::status::adopt_waiting(&mut tx, *parent, uri).await?,
        Ok(None) => {}
        Err(failure) if failure.is_transient() && job.attempts + 1 < ATTEMPTS => {
            let again = FillParent { attempts: job.attempts + 1, publishes: false, ..job };
            let pause = PAUSE * 4_i32.pow(job.attempts);
            queue::enqueue_at(cx, &mut tx, &again, cx.clock.now() + pause).await?;
        }
        Err(failure) => tracing::debug!(%failure, status.id = %job.status, "the parent of a reply was not found"),
    }
    if job.publishes {
        service::remote::status::publish_late(cx, &mut tx, job.status).await?;
    }
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// Fetches replies to a status, and with more than its first page also replies to those.
#[model::use_case]
#[job]
async fn fill_replies(cx: &Cx, job: FillReplies) -> Result<(), JobFailure> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let claimed = store::remote_thread::claim_replies(&mut tx, job.status, now - replies::PAUSE, now).await?;
    tx.commit().await?;
    let Some(url) = claimed else { return Ok(()) };
    // The rest is fetched on the next visit.
    match tokio::time::timeout(PATIENCE, Box::pin(crawl(cx, url, job.most))).await {
        Ok(Err(failure @ Failure::Local(_))) => Err(failure.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

async fn crawl(cx: &Cx, url: String, most: u32) -> Result<(), Failure> {
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    // With a whole thread: replies on other servers, and replies to replies.
    let whole = most > replies::AT_ONCE;
    let mut collections = VecDeque::from([url]);
    for _ in 0..COLLECTIONS_MAX {
        let Some(url) = collections.pop_front().filter(|_| left > 0) else { return Ok(()) };
        let found = match collection::members(cx, &url, left).await {
            Err(failure @ Failure::Local(_)) => return Err(failure),
            Err(_) => continue,
            Ok(found) => found,
        };
        let ids = found.items.iter().filter_map(|item| item.id.as_deref());
        for uri in ids.filter(|uri| whole || same_host(uri, &url)) {
            left = left.saturating_sub(1);
            match reply(cx, uri).await {
                Err(Failure::Local(error)) if !is_answer(&error) => return Err(error.into()),
                Ok(Some(url)) if whole => collections.push_back(url),
                Ok(_) | Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Fetches the reply `uri` to a status that is known here; returns its own collection of replies.
async fn reply(cx: &Cx, uri: &str) -> Result<Option<String>, Failure> {
    if let Some(known) = known(cx, uri).await? {
        let thread = store::remote_thread::find(&cx.db, known).await?;
        return Ok(thread.and_then(|thread| thread.replies_url));
    }
    let note = note_document(cx, uri).await?;
    let answers: Option<StatusId> = match note.in_reply_to.first() {
        Some(parent) => known(cx, &parent.0).await?,
        None => None,
    };
    if answers.is_none() {
        return Err(Failure::Disbelieved("the status is no reply in this thread"));
    }
    status::note_at(cx, &note, 1).await?;
    Ok(note.replies.as_ref().map(|replies| replies.0.clone()).filter(|replies| same_host(replies, uri)))
}
