//! The consent of the author of a status to what others do with it: requests, decisions and their effects.
//!
//! What the policy of a status allows at once has no request here, save a quote of another person's status, whose
//! authorization other servers ask for. Reached from publishing and editing, from the routes of requests, and from
//! `remote::consent` for what comes from other servers. Who may do what is decided in [`visibility`](crate::visibility).
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, docs/contract/rules.md#10-statuses

use super::reference::{References, Referring, count_quote, find_quote_row};
use crate::notification;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::interaction::RequestState;
use model::{AccountId, Actor, Cursor, InteractionKind, NotificationType, QuoteState, RowId, Status, StatusId};
use store::interaction_request::InteractionRequest;
use store::reference::Quote;

/// Most requests of one account that wait for a decision.
pub const PENDING_MAX: i64 = 300;

/// A request that is stored with the interaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewRequest {
    pub(crate) kind: InteractionKind,
    pub(crate) target: StatusId,
    /// The author of the target.
    pub(crate) author: AccountId,
    pub(crate) state: RequestState,
    /// By an author of another server.
    pub(crate) authorization: Option<String>,
}

/// Stores the request about the interaction `uri` by `account`, and asks its author or their server. `shown`: the status
/// that a notification shows.
///
/// # Errors
/// [`Error::Forbidden`] when too many requests of the account wait.
pub(crate) async fn ask(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    uri: String,
    shown: StatusId,
    new: NewRequest,
) -> Result<()> {
    let NewRequest { kind, target, author, state, authorization } = new;
    if state == RequestState::Pending {
        bound(tx, account).await?;
    }
    let now = cx.clock.now();
    let request = InteractionRequest {
        id: cx.ids.next(),
        kind,
        target_id: target,
        author_id: author,
        account_id: account,
        uri,
        request_uri: None,
        authorization_uri: authorization,
        state,
        created_at: now,
        decided_at: (state != RequestState::Pending).then_some(now),
    };
    if !store::interaction_request::insert(tx, &request).await? || state != RequestState::Pending {
        return Ok(());
    }
    tell_author(cx, tx, &request, shown).await?;
    change::record(cx, tx, Change::InteractionRequested { request: request.id }).await
}

/// Fails when too many requests of `account` wait for a decision.
pub(crate) async fn bound(tx: &mut Tx, account: AccountId) -> Result<()> {
    if store::interaction_request::count_pending(&mut *tx, account).await? >= PENDING_MAX {
        return Err(Error::forbidden("Too many of your requests wait for approval"));
    }
    Ok(())
}

/// Notifies the author of the target that a request waits; `shown`: the status that the notification shows.
pub(crate) async fn tell_author(cx: &Cx, tx: &mut Tx, request: &InteractionRequest, shown: StatusId) -> Result<()> {
    let kind = match request.kind {
        InteractionKind::Quote => NotificationType::PendingQuote,
        InteractionKind::Reply => NotificationType::PendingReply,
        InteractionKind::Favourite => NotificationType::PendingFavourite,
        InteractionKind::Reblog => NotificationType::PendingReblog,
    };
    let notice = Notice {
        receiver: request.author_id,
        from: request.account_id,
        kind: kind.into(),
        activity: i64::from(request.id),
        status: Some(shown),
    };
    notification::notify(cx, tx, &[notice]).await.map(drop)
}

/// A page of the requests that wait for `actor`, newest first.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn list_pending(cx: &Cx, actor: &Actor, cursor: &Cursor) -> Result<Vec<InteractionRequest>> {
    Ok(store::interaction_request::list_pending(&cx.db, actor.id, cursor).await?)
}

/// The request `id` to `actor`, decided or not.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is to someone else.
#[model::use_case]
pub async fn find(cx: &Cx, actor: &Actor, id: RowId) -> Result<InteractionRequest> {
    let found = store::interaction_request::find(&cx.db, id).await?;
    found.filter(|request| request.author_id == actor.id).ok_or(Error::NotFound)
}

/// Accepts or rejects the request `id` to `actor`, with what follows from it.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is to someone else, or was decided before.
#[model::use_case]
pub async fn decide(cx: &Cx, actor: &Actor, id: RowId, accepted: bool) -> Result<InteractionRequest> {
    let mut tx = cx.db.begin().await?;
    let request = store::interaction_request::lock(&mut tx, id).await?;
    let waits = |request: &InteractionRequest| request.author_id == actor.id && request.state == RequestState::Pending;
    let request = request.filter(waits).ok_or(Error::NotFound)?;
    let state = if accepted { RequestState::Accepted } else { RequestState::Rejected };
    settle(cx, &mut tx, &request, state, None).await?;
    change::record(cx, &mut tx, Change::InteractionDecided { request: id }).await?;
    tx.commit().await?;
    find(cx, actor, id).await
}

/// Stores the decision about `request`, and applies it to the interaction. `authorization`: by an author of another
/// server.
pub(crate) async fn settle(
    cx: &Cx,
    tx: &mut Tx,
    request: &InteractionRequest,
    state: RequestState,
    authorization: Option<&str>,
) -> Result<()> {
    store::interaction_request::decide(tx, request.id, state, authorization, cx.clock.now()).await?;
    match request.kind {
        InteractionKind::Quote => settle_quote(cx, tx, request, state).await,
        InteractionKind::Reply | InteractionKind::Favourite | InteractionKind::Reblog => Ok(()),
    }
}

/// Gives the quote that `request` is about the state of the decision; nothing when the quoting status is not known.
async fn settle_quote(cx: &Cx, tx: &mut Tx, request: &InteractionRequest, state: RequestState) -> Result<()> {
    let state = match state {
        RequestState::Pending => QuoteState::Pending,
        RequestState::Accepted => QuoteState::Accepted,
        RequestState::Rejected => QuoteState::Rejected,
        RequestState::Revoked => QuoteState::Revoked,
    };
    let Some(quoting) = find_quoting(cx, tx, request).await? else { return Ok(()) };
    let Some(before) = quoting.quote_state.filter(|before| *before != state) else { return Ok(()) };
    set_quote(cx, tx, &quoting, request.target_id, before, state).await
}

/// The status that `request` is about, while it quotes its target; locked with it.
async fn find_quoting(cx: &Cx, tx: &mut Tx, request: &InteractionRequest) -> Result<Option<Status>> {
    let local = crate::access::web_address::status(cx, &request.uri).map(|(_, id)| id);
    let id = match local {
        Some(id) => Some(id),
        None => store::status::find_by_uri(&mut *tx, &request.uri).await?,
    };
    let Some(id) = id else { return Ok(None) };
    store::reference::lock_statuses(tx, &[request.target_id, id]).await?;
    let quoting = store::status::find(&mut *tx, id).await?;
    Ok(quoting.filter(|status| status.account_id == request.account_id && status.quote_id == Some(request.target_id)))
}

/// Accepts the pending quote of `quoting`, whose authorization was verified: `found` has it. False when it has no pending
/// quote of the same status.
pub(crate) async fn authorize(cx: &Cx, tx: &mut Tx, quoting: &Status, found: References) -> Result<bool> {
    let Some(quote) = found.quote().filter(|quote| quote.is_accepted()) else { return Ok(false) };
    if quoting.quote_id != Some(quote.target) || quoting.quote_state != Some(QuoteState::Pending) {
        return Ok(false);
    }
    if let Some(request) = found.into_request() {
        ask(cx, tx, quoting.account_id, quoting.uri.clone(), quoting.id, request).await?;
    }
    set_quote(cx, tx, quoting, quote.target, QuoteState::Pending, QuoteState::Accepted).await?;
    Ok(true)
}

/// Changes the state of the quote of `target` in `quoting`, with its counter and notification, and shows the status anew.
/// Both are locked.
pub(crate) async fn set_quote(
    cx: &Cx,
    tx: &mut Tx,
    quoting: &Status,
    target: StatusId,
    before: QuoteState,
    after: QuoteState,
) -> Result<()> {
    store::reference::set_quote_state(tx, quoting.id, after).await?;
    let quote = |state| Some(Quote { target, state });
    count_quote(tx, Referring::from(quoting), quote(before), quote(after)).await?;
    if after == QuoteState::Accepted {
        let author = store::status::find(&mut *tx, target).await?.map(|target| target.account_id);
        let row = find_quote_row(tx, quoting.id, target).await?;
        if let (Some(receiver), Some(row)) = (author.filter(|author| *author != quoting.account_id), row) {
            let notice = Notice {
                receiver,
                from: quoting.account_id,
                kind: NotificationType::Quote.into(),
                activity: i64::from(row),
                status: Some(quoting.id),
            };
            notification::notify(cx, tx, &[notice]).await?;
        }
    }
    // It was not edited, but clients and other servers must see it again as if it were.
    let anew = Change::StatusEdited { status: quoting.id, author: quoting.account_id, traits: quoting.into() };
    change::record(cx, tx, anew).await
}
