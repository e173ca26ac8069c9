//! Publishing a status: the steps, in their order.
//!
//! Reached from `POST /api/v1/statuses`, when a scheduled status is due, and from plugins. The author's [`Draft`] is
//! composed, passed to the filters of plugins, addressed and resolved, which changes nothing. The [`Prepared`] status
//! is written in one transaction. Fan-out to followers is a job. Spec: docs/contract/rules.md#10-statuses.

use super::draft::Draft;
use super::prepared::{Prepared, write};
use super::reference::{self, ReferenceRequest};
use super::{address, compose, idempotency};
use crate::rate_limits::{self, Family};
use crate::{poll, scheduled_status};
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
    let prepared = prepare(cx, actor, draft).await?;
    let mut tx = cx.db.begin().await?;
    let id = write(cx, &mut tx, actor, prepared).await?;
    tx.commit().await?;
    Ok(CreatedStatus::Status(id))
}

/// As [`validate`], and counts the status against the limit of statuses.
///
/// # Errors
/// As [`publish`].
#[model::use_case]
pub async fn prepare(cx: &Cx, actor: &Actor, draft: Draft) -> Result<Prepared> {
    let spent = rate_limits::family(cx, actor.id, Family::Statuses)?;
    Ok(Prepared { spent: Some(spent), ..validate(cx, actor, draft).await? })
}

/// Validates a draft without changing anything: all checks that are possible before the transaction.
///
/// # Errors
/// As [`publish`], without the limit of statuses.
#[boxed]
pub async fn validate(cx: &Cx, actor: &Actor, mut draft: Draft) -> Result<Prepared> {
    draft.prefer(cx, actor);
    let words = compose::words(cx, actor, draft.source()).await?;
    let poll = draft.poll.as_ref().map(poll::check).transpose()?;
    compose::check_mentions(&words, draft.allowed_mentions.as_deref())?;
    let (parent, reach) = address::reach(cx, actor, &draft).await?;
    let pending = draft.pending(&words, reach);
    let asked = (draft.source(), &draft.params, draft.visibility.as_deref());
    let (mut words, mut pending) = compose::filtered(cx, actor, words, pending, asked).await?;
    compose::check_mentions(&words, draft.allowed_mentions.as_deref())?;
    compose::moderate(cx, &mut words, poll.as_ref(), &mut pending.sensitive)?;
    let reach = address::settle(cx, actor, draft.take(cx, actor, pending), &words.mentions).await?;
    let asked = ReferenceRequest {
        found: &words.references,
        named: &draft.status_reference_ids,
        quoted: draft.quoted_status_id,
    };
    let references = reference::resolve(cx, actor, asked, None).await?;
    let reach = if references.is_for_followers() { reach.for_followers() } else { reach };
    let reach = address::hold_back(cx, actor, reach).await?;
    Ok(Prepared { draft, words, poll, parent, references, reach, spent: None })
}
