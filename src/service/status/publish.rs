//! Publishing a status: the steps, in their order.
//!
//! Reached from `POST /api/v1/statuses`, when a scheduled status is due, and from plugins. The author's [`Draft`] is
//! composed, addressed, passed to the filters of plugins and resolved, which changes nothing. The [`Ready`] status
//! is written in one transaction. Fan-out to followers is a job. Spec: docs/contract/rules.md#10-statuses.

use super::draft::Draft;
use super::idempotency;
use super::ready::{Ready, write};
use super::states::Composed;
use crate::rate_limits::{self, Family};
use crate::scheduled_status;
use context::Cx;
use context::error::{Error, Result};
use model::{Actor, Time, boxed};
use store::idempotency_key::CreatedStatus;

/// Publishes `draft` as `actor`, or schedules it if `scheduled_at` is in the future. Returns the new status, or the
/// one that was already created with the same idempotency key.
///
/// # Errors
/// [`Error::NotFound`] when the status replied to or to be quoted is missing or hidden, [`Error::Invalid`] for an
/// invalid draft or time, and for a quote that its target's author does not allow, [`Error::Refused`] and
/// [`Error::Plugin`] from a plugin's filter, [`Error::UnexpectedMentions`] when it would mention someone the client
/// did not expect, [`Error::RateLimited`] beyond the limit of statuses.
#[model::use_case]
pub async fn publish(cx: &Cx, actor: &Actor, draft: Draft, scheduled_at: Option<Time>) -> Result<CreatedStatus> {
    let key = draft.idempotency_key.clone();
    if let Some(first) = idempotency::first_made(cx, &cx.db, actor, key.as_deref()).await? {
        return Ok(first);
    }
    let made = match scheduled_at.filter(|at| *at > cx.clock.now()) {
        None => publish_now(cx, actor, draft).await,
        Some(at) => scheduled_status::create(cx, actor, draft, at).await,
    };
    match made {
        Err(conflict @ Error::Conflict(_)) => {
            idempotency::first_made(cx, &cx.db, actor, key.as_deref()).await?.ok_or(conflict)
        }
        made => made,
    }
}

async fn publish_now(cx: &Cx, actor: &Actor, draft: Draft) -> Result<CreatedStatus> {
    let ready = prepare(cx, actor, draft).await?;
    let mut tx = cx.db.begin().await?;
    let id = write(cx, &mut tx, actor, ready).await?;
    tx.commit().await?;
    Ok(CreatedStatus::Status(id))
}

/// As [`validate`], and counts the status against the limit of statuses.
///
/// # Errors
/// As [`publish`].
#[model::use_case]
pub async fn prepare(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Ready> {
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;
    Ok(Ready { spent: Some(spent), ..validate(cx, actor, draft).await? })
}

/// Validates a draft without changing anything: all checks that are possible before the transaction.
///
/// # Errors
/// As [`publish`], without the limit of statuses.
#[model::use_case]
#[boxed]
pub async fn validate(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Ready> {
    let composed = Composed::of(cx, actor, draft).await?;
    let addressed = composed.address(cx, actor).await?;
    addressed.filter(cx, actor).await?.ready(cx, actor).await
}
