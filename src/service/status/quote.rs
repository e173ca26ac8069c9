//! Who may quote a status, revoking a quote, and the list of quotes.
//!
//! Reached from `/api/v1/statuses/{id}/quotes`, `…/quotes/{quoting_id}/revoke` and `…/interaction_policy`, and from
//! [`reference`](super::reference), which stores quotes as references. A quote that is not allowed is not created; one that
//! needs approval is pending until the author of the quoted status decides.
//!
//! Spec: <https://docs.joinmastodon.org/client/quotes/>

use super::reference::{Referring, count_quote};
use crate::timeline::TimelinePage;
use crate::visibility::{self, Place, Seen};
use context::Cx;
use context::change::Change;
use context::error::{Error, Result};
use model::interaction::Permission;
use model::{Actor, Cursor, InteractionKind, QuotePolicy, QuoteState, Status, StatusId};
use store::reference::Quote;

/// The state of a new quote of the status `target` by `actor`, who sees it; `None` when its author does not let them quote
/// it. The general policy of a remote author applies as well.
pub(super) async fn consent(cx: &Cx, actor: &Actor, target: &Seen) -> Result<Option<QuoteState>> {
    let head = target.proper();
    let state = match target.marked().may.quote {
        Permission::Denied | Permission::Unknown => return Ok(None),
        Permission::Manual => QuoteState::Pending,
        Permission::Automatic => QuoteState::Accepted,
    };
    if head.account_id == actor.id {
        return Ok(Some(state));
    }
    let author = store::account::find(&cx.db, head.account_id).await?;
    Ok(author.filter(|author| author.is_local() || author.other_settings.allow_quote).map(|_| state))
}

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
    let quote = |state| Some(Quote { target: target.id, state });
    store::reference::insert_revocation(&mut tx, quoting, target.id, cx.clock.now()).await?;
    store::reference::set_quote_state(&mut tx, quoting, QuoteState::Revoked).await?;
    let (before, after) = (quote(QuoteState::Accepted), quote(QuoteState::Revoked));
    count_quote(&mut tx, Referring::from(&status), before, after).await?;
    // It was not edited, but streams must show it again as if it were.
    let anew = Change::StatusEdited { status: quoting, author: status.account_id, traits: (&status).into() };
    cx.live.tell_after(&mut tx, &anew);
    tx.commit().await?;
    Ok(())
}

/// Sets who may quote `actor`'s status from now on; existing quotes stay. A status that is not public can be quoted
/// only by its author, regardless of the policy.
///
/// # Errors
/// [`Error::NotFound`] unless it is their own and not a reblog.
pub async fn set_policy(cx: &Cx, actor: &Actor, id: StatusId, policy: QuotePolicy) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let status = store::status::lock(&mut tx, id).await?;
    let own = |status: &Status| status.account_id == actor.id && status.reblog_of_id.is_none();
    let status = status.filter(own).ok_or(Error::NotFound)?;
    let policy = status.interaction_policy.with(InteractionKind::Quote, policy.into());
    store::reference::set_policy(&mut tx, id, policy).await?;
    Ok(tx.commit().await?)
}
