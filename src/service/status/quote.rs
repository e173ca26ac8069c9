//! Who may quote a status, revoking a quote, and the list of quotes.
//!
//! Reached from `/api/v1/statuses/{id}/quotes`, `…/quotes/{quoting_id}/revoke` and `…/interaction_policy`. New quotes are
//! in [`quoting`](super::quoting).
//!
//! Spec: <https://docs.joinmastodon.org/client/quotes/>

use super::decision;
use super::draft::changed;
use crate::timeline::TimelinePage;
use crate::visibility::{self, Place};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::interaction::{PolicyRules, RequestState};
use model::{Actor, Cursor, InteractionKind, QuotePolicy, QuoteState, Status, StatusId};

/// A page of the statuses that quote `id`, newest first, without statuses of accounts that `viewer` blocks or mutes,
/// or that moderators limited.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn list_quoting(cx: &Cx, viewer: &Actor, id: StatusId, cursor: &Cursor) -> Result<TimelinePage> {
    let seen = visibility::status(cx, Some(viewer), id).await?;
    let ids = store::reference::list_quoting(&cx.db, seen.proper().id, cursor).await?;
    let shown = visibility::statuses(cx, Some(viewer), Place::Thread, &ids).await?;
    Ok(TimelinePage { ids: ids.into_iter().map(i64::from).collect(), shown })
}

/// Revokes the quote of `actor`'s status `id` in the status `quoting` for good: no edit can quote it again. The
/// reference to the status stays.
///
/// # Errors
/// [`Error::NotFound`] when one of the two is missing or hidden, or `quoting` does not quote the other;
/// [`Error::Forbidden`] when `id` is someone else's.
pub async fn revoke(cx: &Cx, actor: &Actor, id: StatusId, quoting: StatusId) -> Result<()> {
    let target = visibility::status(cx, Some(actor), id).await?.proper().id;
    let mut tx = cx.db.begin().await?;
    let existing = store::reference::lock_statuses(&mut tx, &[target, quoting]).await?;
    if existing.len() < 2 {
        return Err(Error::NotFound);
    }
    let target = store::status::find(&mut tx, target).await?.ok_or(Error::NotFound)?;
    if target.account_id != actor.id {
        return Err(Error::Forbidden("This action is not allowed".into()));
    }
    let status = store::status::find(&mut tx, quoting).await?.ok_or(Error::NotFound)?;
    if status.quoted() != Some(target.id) {
        return Err(Error::NotFound);
    }
    store::reference::insert_revocation(&mut tx, quoting, target.id, cx.clock.now()).await?;
    match store::interaction_request::find_by_uri(&mut tx, InteractionKind::Quote, &status.uri).await? {
        Some(request) => {
            decision::settle(cx, &mut tx, &request, RequestState::Revoked, None).await?;
            change::record(cx, &mut tx, Change::AuthorizationRevoked { request: request.id }).await?;
        }
        // One's own quote, or one from before requests were kept.
        None => {
            decision::set_quote(cx, &mut tx, &status, target.id, QuoteState::Accepted, QuoteState::Revoked).await?;
        }
    }
    tx.commit().await?;
    Ok(())
}

/// Sets who may interact with `actor`'s status from now on, and tells other servers; what was done before stays. A status
/// that is not public can be quoted only by its author, regardless of the policy.
///
/// # Errors
/// [`Error::NotFound`] unless it is their own and not a reblog.
#[model::use_case]
pub async fn set_policy(
    cx: &Cx,
    actor: &Actor,
    id: StatusId,
    rules: PolicyRules,
    quotes: Option<QuotePolicy>,
) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let status = store::status::lock(&mut tx, id).await?;
    let own = |status: &Status| status.account_id == actor.id && status.reblog_of_id.is_none();
    let status = status.filter(own).ok_or(Error::NotFound)?;
    let policy = changed(status.interaction_policy, rules, quotes);
    if policy != status.interaction_policy {
        store::reference::set_policy(&mut tx, id, policy).await?;
        let anew = Change::StatusEdited { status: id, author: actor.id, traits: (&status).into() };
        change::record(cx, &mut tx, anew).await?;
    }
    Ok(tx.commit().await?)
}
