//! Threads of other servers: the statuses that a reply answers, and replies to a status, by bounded jobs.

use std::collections::VecDeque;
use std::time::Duration;

use chrono::TimeDelta;
use context::budget::Allowance;
use context::queue::{self, Done, Failure as JobFailure, FillParent, FillReplies, Job as _, PublishReply};
use context::{Cx, job};
use model::{AccountId, StatusId, Time};
use service::feed::replies;
use store::job::Claim;
use store::remote_thread::RemoteThread;

use super::{account, collection, note_document, status};
use crate::Failure;
use crate::address::same_host;
use crate::failure::is_answer;
use crate::floods::domain_of;
use crate::reading::known;

/// Attempts to fetch a parent.
const ATTEMPTS: u32 = 3;
/// Pause before the second attempt; each further one is four times as long.
const PAUSE: TimeDelta = TimeDelta::minutes(5);
/// Requests of a visit to a thread that someone looks at.
const VISIT_REQUESTS: u32 = 250;
/// Most collections of replies that one job reads, and how long it takes at most.
const COLLECTIONS_MAX: usize = 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Fetches the status that a reply answers, and makes it a reply to it. Whether it is found or not, a reply that waits for
/// this is published.
#[model::use_case]
#[job]
async fn fill_parent(cx: &Cx, job: FillParent, claim: Claim) -> Result<Done, JobFailure> {
    let cx = &within(cx, job.allowance.as_ref());
    let mentioned = found(cx, &job.mentions).await?;
    let audience = found(cx, &job.audience).await?;
    let thread = store::remote_thread::find(&cx.db, job.status).await?;
    let parent = match thread.and_then(|thread| thread.parent_uri) {
        Some(uri) => status::status_at(cx, &uri, job.depth + 1).await.map(|parent| Some((uri, parent))),
        None => Ok(None),
    };
    let mut tx = cx.db.begin().await?;
    service::remote::status::add_mentions(cx, &mut tx, job.status, &mentioned, &audience).await?;
    match &parent {
        Ok(Some((uri, parent))) => service::remote::status::adopt_waiting(&mut tx, *parent, uri).await?,
        Ok(None) => {}
        Err(failure) if failure.is_transient() && job.attempts + 1 < ATTEMPTS => {
            // With the rest: a failure does not renew the budget.
            if let Some(allowance) = cx.hand_on_all() {
                let again = FillParent {
                    status: job.status,
                    depth: job.depth,
                    attempts: job.attempts + 1,
                    publishes: false,
                    mentions: Vec::new(),
                    audience: Vec::new(),
                    allowance: Some(allowance),
                };
                let pause = PAUSE * 4_i32.pow(job.attempts);
                queue::enqueue_at(cx, &mut tx, &again, cx.clock.now() + pause).await?;
            }
        }
        Err(failure) => tracing::debug!(%failure, status.id = %job.status, "the parent of a reply was not found"),
    }
    if job.publishes {
        service::remote::status::publish_late(cx, &mut tx, job.status).await?;
    }
    let key = PublishReply { status: job.status }.key().unwrap_or_default();
    store::job::make_due(&mut tx, PublishReply::LANE, PublishReply::KIND, &key, cx.clock.now()).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// The accounts of the actors `uris`, fetched if they are not known; others are left out.
async fn found(cx: &Cx, uris: &[String]) -> Result<Vec<AccountId>, JobFailure> {
    let mut found = Vec::new();
    for uri in uris {
        match account(cx, uri).await {
            Ok(account) => found.push(account.id),
            Err(failure @ Failure::Local(_)) => return Err(failure.into()),
            Err(failure) => tracing::debug!(%failure, uri, "an addressed actor was not found"),
        }
    }
    Ok(found)
}

/// The context of a job with `allowance`.
fn within(cx: &Cx, allowance: Option<&Allowance>) -> Cx {
    let allowance = allowance.cloned().unwrap_or_else(|| Allowance::of("", cx.clock.now()));
    cx.spending(allowance.into())
}

/// Publishes a reply that waited for its parent, if it did not come.
#[model::use_case]
#[job]
async fn publish_reply(cx: &Cx, job: PublishReply, claim: Claim) -> Result<Done, JobFailure> {
    let mut tx = cx.db.begin().await?;
    service::remote::status::publish_late(cx, &mut tx, job.status).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// Fetches replies to a status, and with more than its first page also replies to those and the parent, if it is missing.
#[model::use_case]
#[job]
async fn fill_replies(cx: &Cx, job: FillReplies) -> Result<(), JobFailure> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let claimed = store::remote_thread::claim_visit(&mut tx, job.status, now - replies::PAUSE, now).await?;
    let allowance = match job.allowance {
        Some(allowance) if !allowance.cause.is_empty() => allowance,
        // A reader may cause the visit, but its cost is up to the server of the thread.
        _ => visit_of(claimed.as_ref(), now),
    };
    let cx = &within(cx, Some(&allowance));
    let parent = claimed.as_ref().and_then(|thread| thread.parent_uri.as_ref()).filter(|_| is_whole(job.most));
    if let Some(allowance) = parent.and_then(|_| cx.hand_on()) {
        let (status, allowance) = (job.status, Some(allowance));
        let (mentions, audience) = (Vec::new(), Vec::new());
        let parent =
            FillParent { status, depth: 0, attempts: ATTEMPTS, publishes: false, mentions, audience, allowance };
        queue::enqueue(cx, &mut tx, &parent).await?;
    }
    tx.commit().await?;
    let Some(url) = claimed.and_then(|thread| thread.replies_url) else { return Ok(()) };
    // The rest is fetched on the next visit.
    match tokio::time::timeout(PATIENCE, Box::pin(crawl(cx, url, job.most))).await {
        Ok(Err(failure @ Failure::Local(_))) => Err(failure.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The budget of a visit to `thread` for a reader.
fn visit_of(thread: Option<&RemoteThread>, now: Time) -> Allowance {
    let url = thread.and_then(|thread| thread.replies_url.as_deref().or(thread.parent_uri.as_deref()));
    Allowance { requests: VISIT_REQUESTS, ..Allowance::of(&domain_of(url.unwrap_or_default()), now) }
}

/// True for a visit to the whole thread: its parent, replies on other servers, and replies to replies.
fn is_whole(most: u32) -> bool {
    most > replies::AT_ONCE
}

async fn crawl(cx: &Cx, url: String, most: u32) -> Result<(), Failure> {
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    let whole = is_whole(most);
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
