//! Who may quote a status, revoking a quote, and the list of quotes.
//!
//! Reached from `/api/v1/statuses/{id}/quotes`, `…/quotes/{quoting_id}/revoke` and `…/interaction_policy`, and from
//! [`reference`](super::reference), which stores quotes as references. A deliberate addition to the reference level
//! of the API: the parameters and members of later clients, while a quoted status itself remains the member `quote`
//! of the contract. There is no manual approval: a quote is either allowed or not created.
//!
//! Spec: <https://docs.joinmastodon.org/client/quotes/>

use super::reference::{Referring, count_quote};
use crate::relations;
use crate::timeline::TimelinePage;
use crate::visibility::{self, Place};
use context::Cx;
use context::change::Change;
use context::error::{Error, Result};
use model::{Actor, Cursor, QuotePolicy, StatusId, Visibility};
use store::status::Head;

/// True when anyone may read `target` and its author lets `actor` quote it, or when it is `actor`'s own, for their
/// followers. The general policy of a remote author applies as well.
pub(super) async fn may_quote(cx: &Cx, actor: &Actor, target: &Head) -> Result<bool> {
    if target.account_id == actor.id {
        return Ok(target.visibility.is_anonymous() || target.visibility == Visibility::Private);
    }
    let following = relations::of(cx, actor).await?.is_following(target.account_id);
    if !target.quote_policy.allows(target.visibility, following) {
        return Ok(false);
    }
    let author = store::account::find(&cx.db, target.account_id).await?;
    Ok(author.is_some_and(|author| author.is_local() || author.other_settings.allow_quote))
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
/// reference to the status stays. Repeating it is not an error.
///
/// # Errors
/// [`Error::NotFound`] when one of the two is missing or hidden, or `quoting` does not quote the other and never did;
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
    if status.quote_id != Some(target.id) {
        let revoked = store::reference::list_revoked(&mut tx, quoting).await?;
        return if revoked.contains(&target.id) { Ok(()) } else { Err(Error::NotFound) };
    }
    store::reference::insert_revocation(&mut tx, quoting, target.id, cx.clock.now()).await?;
    store::reference::clear_quote(&mut tx, quoting).await?;
    count_quote(&mut tx, Referring::from(&status), status.quote_id, None).await?;
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
    status.filter(|status| status.account_id == actor.id && status.reblog_of_id.is_none()).ok_or(Error::NotFound)?;
    store::reference::set_quote_policy(&mut tx, id, policy).await?;
    Ok(tx.commit().await?)
}
