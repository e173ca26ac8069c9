//! A newly followed account of another server: its recent and pinned statuses, and how many followers and statuses it
//! has.

use chrono::TimeDelta;
use context::budget::Allowance;
use context::queue::{self, Done, Failure as JobFailure, FillAccount, Merge};
use context::{Cx, job};
use model::StatusId;
use store::job::Claim;
use store::remote::{ActorRow, StatedCounts};

use super::collection::{Members, members};
use super::status;
use crate::Failure;
use crate::address::same_host;
use crate::failure::is_answer;
use crate::floods::domain_of;
use crate::vocabulary::{Activity, Note, Object};

/// How long fetched statuses are recent.
const FRESH: TimeDelta = TimeDelta::minutes(10);
/// Most recent statuses, and most pinned ones.
const RECENT_MAX: usize = 20;
const PINNED_MAX: usize = 20;
/// Requests that follow from one account, with the ancestors of its statuses.
const REQUESTS: u32 = 600;
/// Largest size that is believed.
const COUNT_MAX: i64 = 1_000_000_000;

/// Asks the account's own server; a part that fails is left out.
#[model::use_case]
#[job]
async fn fill_account(cx: &Cx, job: FillAccount, claim: Claim) -> Result<Done, JobFailure> {
    let now = cx.clock.now();
    if store::remote_thread::was_filled(&cx.db, job.account, now - FRESH).await? {
        return Ok(Done::Remove);
    }
    let actor = store::remote::get_actor(&cx.db, job.account).await?;
    let Some(actor) = actor.filter(|actor| actor.domain.is_some() && actor.suspended_at.is_none()) else {
        return Ok(Done::Remove);
    };
    let allowance = Allowance { requests: REQUESTS, ..Allowance::of(&domain_of(&actor.uri), now) };
    Box::pin(fill(&cx.spending(allowance.into()), &actor)).await?;
    let mut tx = cx.db.begin().await?;
    // Only now: a fill that was interrupted is done again.
    store::remote_thread::set_filled(&mut tx, job.account, now).await?;
    let merge = Merge { account: job.follower, target: job.account };
    queue::enqueue(cx, &mut tx, &merge).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

async fn fill(cx: &Cx, actor: &ActorRow) -> Result<(), Failure> {
    let outbox = read(cx, actor.outbox_url.as_deref(), RECENT_MAX).await?;
    let followers = read(cx, actor.followers_url.as_deref(), 0).await?;
    let following = read(cx, actor.following_url.as_deref(), 0).await?;
    // The newest comes first in the collection.
    for object in outbox.items.iter().rev().filter_map(created) {
        kept(member(cx, actor, &object).await)?;
    }
    pinned(cx, actor).await?;
    let believed = |members: &Members| members.total.map(|total| total.min(COUNT_MAX));
    let counts =
        StatedCounts { followers: believed(&followers), following: believed(&following), statuses: believed(&outbox) };
    let mut tx = cx.db.begin().await?;
    store::remote::set_counts(&mut tx, actor.id, counts).await?;
    Ok(tx.commit().await?)
}

/// Replaces the pinned statuses by the ones that the server names now.
async fn pinned(cx: &Cx, actor: &ActorRow) -> Result<(), Failure> {
    let Some(url) = actor.featured_url.as_deref() else { return Ok(()) };
    let found = match members(cx, url, PINNED_MAX).await {
        Err(Failure::Local(error)) => return Err(error.into()),
        Err(_) => return Ok(()),
        Ok(found) => found,
    };
    let mut statuses: Vec<StatusId> = Vec::new();
    // The last one in the collection was pinned first.
    for object in found.items.iter().rev() {
        statuses.extend(kept(member(cx, actor, object).await)?);
    }
    let mut tx = cx.db.begin().await?;
    store::remote::delete_other_pins(&mut tx, actor.id, &statuses).await?;
    tx.commit().await?;
    for status in statuses {
        match service::remote::interaction::pin(cx, actor.id, status).await {
            Err(error) if is_answer(&error) => {}
            done => done?,
        }
    }
    Ok(())
}

/// The size and the members of a collection; nothing when it cannot be read.
async fn read(cx: &Cx, url: Option<&str>, most: usize) -> Result<Members, Failure> {
    let Some(url) = url else { return Ok(Members::default()) };
    match members(cx, url, most).await {
        Err(failure @ Failure::Local(_)) => Err(failure),
        found => Ok(found.unwrap_or_default()),
    }
}

/// The object of an activity that created a status.
fn created(activity: &Object) -> Option<Object> {
    let activity: Activity = activity.read()?;
    activity.object.first().filter(|_| activity.is("Create")).cloned()
}

/// Stores a status of `actor` from a collection of its server: inline, or fetched.
async fn member(cx: &Cx, actor: &ActorRow, object: &Object) -> Result<StatusId, Failure> {
    let uri = object.id.as_deref().ok_or(Failure::Disbelieved("a member without an id"))?;
    if !same_host(uri, &actor.uri) {
        return Err(Failure::Disbelieved("a member on another host"));
    }
    if let Some(known) = store::status::find_by_uri(&cx.db, uri).await? {
        return Ok(known);
    }
    let note = match object.read::<Note>() {
        Some(note) => note,
        None => super::note_document(cx, uri).await?,
    };
    if note.attributed_to.first().is_none_or(|author| author.0 != actor.uri) {
        return Err(Failure::Disbelieved("a member by another author"));
    }
    status::note_at(cx, &note, 0).await
}

/// A result that may be missing because of the other server.
fn kept<T>(result: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Local(error)) if !is_answer(&error) => Err(error.into()),
        Err(failure) => {
            tracing::debug!(%failure, "a member of a collection was left out");
            Ok(None)
        }
    }
}
