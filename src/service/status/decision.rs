//! Decisions about interactions, by the author of a status or by another server, and what follows from them.
//!
//! Reached from the routes and the page of requests, from [`quote`](super::quote) and [`thread`](super::thread), and from
//! `remote::consent`. What needs a request is decided in [`consent`].
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, docs/contract/rules.md#10-statuses

use super::consent::{self, NewRequest};
use super::reference::{References, Referring, count_quote, find_quote_row};
use super::{insert, interaction, mentions};
use crate::access::web_address;
use crate::notification;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::interaction::RequestState;
use model::{
    AccountId, Actor, Approval, Cursor, InteractionKind, NotificationType, QuoteState, RowId, Status, StatusId,
};
use store::interaction_request::InteractionRequest;
use store::reference::Quote;
use store::remote::ActorRow;

/// Most accounts that are notified of a reply when it is approved, and do not follow its author.
const NOTIFIED_MAX: usize = 100;

/// A request with the status that interacts, if there is one.
#[derive(Clone, Debug)]
pub struct ShownRequest {
    pub request: InteractionRequest,
    /// The reply, quote or reblog.
    pub status: Option<StatusId>,
    /// Key of the cached rendering of the account that interacts.
    pub account_version: i64,
}

/// A page of the requests to `actor` in this state, newest first.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn list(cx: &Cx, actor: &Actor, state: RequestState, cursor: &Cursor) -> Result<Vec<ShownRequest>> {
    shown(cx, store::interaction_request::list(&cx.db, actor.id, state, cursor).await?).await
}

/// The request `id` to `actor`.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is to someone else.
#[model::use_case]
pub async fn show(cx: &Cx, actor: &Actor, id: RowId) -> Result<ShownRequest> {
    let request = find(cx, actor, id).await?;
    shown(cx, vec![request]).await?.pop().ok_or(Error::NotFound)
}

async fn shown(cx: &Cx, requests: Vec<InteractionRequest>) -> Result<Vec<ShownRequest>> {
    let with_status = requests.iter().filter(|request| request.kind != InteractionKind::Favourite);
    let foreign = with_status.filter(|request| local_status(cx, &request.uri).is_none());
    let uris: Vec<String> = foreign.map(|request| request.uri.clone()).collect();
    let statuses = match uris.is_empty() {
        true => Vec::new(),
        false => store::interaction_request::list_statuses(&cx.db, &uris).await?,
    };
    let accounts: Vec<AccountId> = requests.iter().map(|request| request.account_id).collect();
    let versions = store::account::versions(&cx.db, &accounts).await?;
    let of = |request: InteractionRequest| {
        let foreign = || statuses.iter().find(|(uri, _)| *uri == request.uri).map(|(_, id)| *id);
        let version = versions.iter().find(|(id, _)| *id == request.account_id).map(|(_, version)| *version);
        Some(ShownRequest {
            status: local_status(cx, &request.uri).or_else(foreign),
            account_version: version?,
            request,
        })
    };
    Ok(requests.into_iter().filter_map(of).collect())
}

/// The status of this server, a note or a reblog, with this URI.
fn local_status(cx: &Cx, uri: &str) -> Option<StatusId> {
    web_address::status(cx, uri.strip_suffix("/activity").unwrap_or(uri)).map(|(_, id)| id)
}

/// The status that interacts in `request`, which is of this server.
#[model::use_case]
pub async fn find_local(cx: &Cx, tx: &mut Tx, request: &InteractionRequest) -> Result<Option<Status>> {
    match local_status(cx, &request.uri) {
        Some(id) => Ok(store::status::find(&mut *tx, id).await?),
        None => Ok(None),
    }
}

/// A request with its two sides.
#[derive(Clone, Debug)]
pub struct Parties {
    pub request: InteractionRequest,
    /// The URI of the target.
    pub target: String,
    /// Who interacts.
    pub account: ActorRow,
    /// The author of the target.
    pub author: ActorRow,
}

/// The request `id` with its two sides; `None` when one of them is gone.
#[model::use_case]
pub async fn find_parties(tx: &mut Tx, id: RowId) -> Result<Option<Parties>> {
    let Some(request) = store::interaction_request::find(&mut *tx, id).await? else { return Ok(None) };
    let Some(target) = store::status::find(&mut *tx, request.target_id).await? else { return Ok(None) };
    let Some(account) = store::remote::get_actor(&mut *tx, request.account_id).await? else { return Ok(None) };
    let Some(author) = store::remote::get_actor(&mut *tx, request.author_id).await? else { return Ok(None) };
    Ok(Some(Parties { request, target: target.uri, account, author }))
}

/// The URI of a target, and its author; `None` when it is gone.
#[model::use_case]
pub async fn find_target(tx: &mut Tx, target: StatusId) -> Result<Option<(String, ActorRow)>> {
    let Some(target) = store::status::find(&mut *tx, target).await? else { return Ok(None) };
    let author = store::remote::get_actor(&mut *tx, target.account_id).await?;
    Ok(author.map(|author| (target.uri, author)))
}

/// The inboxes of the followers of `author`, who may have seen what was authorized.
#[model::use_case]
pub async fn follower_inboxes(tx: &mut Tx, author: AccountId) -> Result<Vec<String>> {
    Ok(store::delivery::follower_inboxes(&mut *tx, author).await?)
}

/// The request `id` with its two sides, while it waits.
#[model::use_case]
pub async fn find_waiting(cx: &Cx, id: RowId) -> Result<Option<Parties>> {
    let mut tx = cx.db.begin().await?;
    let found = find_parties(&mut tx, id).await?;
    Ok(found.filter(|parties| parties.request.state == RequestState::Pending))
}

/// The accepted request `id` to `author`, as its authorization shows it.
///
/// # Errors
/// [`Error::NotFound`] when it is not accepted, or to someone else.
#[model::use_case]
pub async fn find_accepted(cx: &Cx, author: AccountId, id: RowId) -> Result<InteractionRequest> {
    let found = store::interaction_request::find(&cx.db, id).await?;
    let valid = |one: &InteractionRequest| one.author_id == author && one.state == RequestState::Accepted;
    found.filter(valid).ok_or(Error::NotFound)
}

/// The accepted requests about the interactions `uris`, of any kind.
#[model::use_case]
pub async fn list_accepted(cx: &Cx, uris: &[String]) -> Result<Vec<InteractionRequest>> {
    Ok(store::interaction_request::list_accepted(&cx.db, uris).await?)
}

/// The request `id` to `actor`, decided or not.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is to someone else.
async fn find(cx: &Cx, actor: &Actor, id: RowId) -> Result<InteractionRequest> {
    let found = store::interaction_request::find(&cx.db, id).await?;
    found.filter(|request| request.author_id == actor.id).ok_or(Error::NotFound)
}

/// Accepts or rejects the request `id` to `actor`, with what follows from it.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is to someone else, or was decided before.
#[model::use_case]
pub async fn decide(cx: &Cx, actor: &Actor, id: RowId, accepted: bool) -> Result<ShownRequest> {
    let mut tx = cx.db.begin().await?;
    let request = store::interaction_request::lock(&mut tx, id).await?;
    let waits = |request: &InteractionRequest| request.author_id == actor.id && request.state == RequestState::Pending;
    let request = request.filter(waits).ok_or(Error::NotFound)?;
    let state = if accepted { RequestState::Accepted } else { RequestState::Rejected };
    settle(cx, &mut tx, &request, state, None).await?;
    change::record(cx, &mut tx, Change::InteractionDecided { request: id }).await?;
    tx.commit().await?;
    show(cx, actor, id).await
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
        InteractionKind::Reply | InteractionKind::Reblog => settle_status(cx, tx, request, state).await,
        InteractionKind::Favourite if state == RequestState::Accepted => {
            interaction::mark(cx, tx, request.account_id, request.target_id, request.author_id, request.id).await
        }
        InteractionKind::Favourite => Ok(()),
    }
}

/// Publishes the reply or reblog that `request` is about, or hides it; nothing when it is not known.
async fn settle_status(cx: &Cx, tx: &mut Tx, request: &InteractionRequest, state: RequestState) -> Result<()> {
    let Some(id) = find_interacting(cx, tx, request).await? else { return Ok(()) };
    store::account::lock(tx, &[request.account_id]).await?;
    store::reference::lock_statuses(tx, &[request.target_id, id]).await?;
    let Some(status) = store::status::find(&mut *tx, id).await? else { return Ok(()) };
    if status.account_id != request.account_id {
        return Ok(());
    }
    match state {
        RequestState::Pending => Ok(()),
        RequestState::Accepted => approve(cx, tx, status, request).await,
        RequestState::Rejected => hide(cx, tx, status, Approval::Rejected).await,
        RequestState::Revoked => hide(cx, tx, status, Approval::Removed).await,
    }
}

/// Shows a reply or reblog that was hidden; one that waited is published.
async fn approve(cx: &Cx, tx: &mut Tx, status: Status, request: &InteractionRequest) -> Result<()> {
    let Some(before) = status.approval else { return Ok(()) };
    store::status::set_approval(tx, status.id, None).await?;
    let status = Status { approval: None, ..status };
    insert::count_targets(tx, &status, 1).await?;
    if before == Approval::Removed {
        let anew = Change::StatusEdited { status: status.id, author: status.account_id, traits: (&status).into() };
        return change::record(cx, tx, anew).await;
    }
    if request.kind == InteractionKind::Reblog {
        let notice = Notice {
            receiver: request.author_id,
            from: status.account_id,
            kind: NotificationType::Reblog.into(),
            activity: i64::from(status.id),
            status: Some(request.target_id),
        };
        notification::notify(cx, tx, &[notice]).await?;
    } else {
        let mentioned = store::mention::list(&mut *tx, status.id).await?;
        let loud = mentioned.into_iter().filter(|(.., silent)| !silent).map(|(row, account, _)| (row, account));
        let loud = mentions::notifiable(tx, status.account_id, loud.collect(), NOTIFIED_MAX).await?;
        mentions::notify_from(cx, tx, status.account_id, status.id, &loud).await?;
    }
    let published = Change::StatusPublished { status: status.id, author: status.account_id, traits: (&status).into() };
    change::record(cx, tx, published).await
}

/// Hides a reply or reblog from everyone but its author.
async fn hide(cx: &Cx, tx: &mut Tx, status: Status, why: Approval) -> Result<()> {
    if status.approval.is_none() {
        insert::count_targets(tx, &status, -1).await?;
        cx.live.tell_after(tx, &Change::status_deleted(&status, Vec::new()));
    }
    Ok(store::status::set_approval(tx, status.id, Some(why)).await?)
}

/// The status that `request` is about.
async fn find_interacting(cx: &Cx, tx: &mut Tx, request: &InteractionRequest) -> Result<Option<StatusId>> {
    match local_status(cx, &request.uri) {
        Some(id) => Ok(Some(id)),
        None => Ok(store::status::find_by_uri(&mut *tx, &request.uri).await?),
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
    let Some(id) = find_interacting(cx, tx, request).await? else { return Ok(None) };
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
        consent::ask(cx, tx, quoting.account_id, |_| quoting.uri.clone(), quoting.id, request).await?;
    }
    set_quote(cx, tx, quoting, quote.target, QuoteState::Pending, QuoteState::Accepted).await?;
    Ok(true)
}

/// Shows the reply `status`, whose authorization was verified.
pub(crate) async fn authorize_reply(cx: &Cx, tx: &mut Tx, status: &Status, request: NewRequest) -> Result<()> {
    consent::ask(cx, tx, status.account_id, |_| status.uri.clone(), status.id, request).await?;
    let row = store::interaction_request::find_by_uri(&mut *tx, InteractionKind::Reply, &status.uri).await?;
    match row {
        Some(row) => approve(cx, tx, status.clone(), &row).await,
        None => Ok(()),
    }
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
