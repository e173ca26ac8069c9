//! The consent of the author of a status to what others do with it: requests, decisions and their effects.
//!
//! What the policy of a status allows at once has no request here, save a quote of another person's status, whose
//! authorization other servers ask for. Reached from publishing and editing, from the routes of requests, and from
//! `remote::consent` for what comes from other servers. Who may do what is decided in [`visibility`](crate::visibility).
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, docs/contract/rules.md#10-statuses

use super::reference::{References, Referring, count_quote, find_quote_row};
use super::{insert, interaction, mentions};
use crate::notification;
use crate::visibility::Seen;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::interaction::{Group, Permission, RequestState};
use model::{
    AccountId, Actor, Approval, ConversationId, Cursor, InteractionKind, NotificationType, QuoteState, RowId, Status,
    StatusId,
};
use store::interaction_request::InteractionRequest;
use store::reference::Quote;

/// Most accounts that are notified of a reply when it is approved, and do not follow its author.
const NOTIFIED_MAX: usize = 100;
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

impl NewRequest {
    /// Why a reply or reblog with this request is shown to its author alone.
    pub(crate) fn approval(&self) -> Option<Approval> {
        (self.state == RequestState::Pending).then_some(Approval::Pending)
    }
}

/// The request that an interaction of `actor` with `seen` needs; `None` when everyone may, or nobody asks for it.
///
/// # Errors
/// [`Error::Forbidden`] when the author of the status does not allow it.
pub(crate) async fn needed(cx: &Cx, actor: &Actor, seen: &Seen, kind: InteractionKind) -> Result<Option<NewRequest>> {
    let head = seen.proper();
    let rule = head.interaction_policy.rule(kind);
    if head.account_id == actor.id || rule.always.contains(Group::Public) {
        return Ok(None);
    }
    let author = store::account::find(&cx.db, head.account_id).await?.ok_or(Error::NotFound)?;
    let state = match seen.marked().may.of(kind) {
        // Other servers ask for the authorization of a reply.
        Permission::Automatic if author.is_local() && kind == InteractionKind::Reply => RequestState::Accepted,
        Permission::Automatic => return Ok(None),
        Permission::Manual => RequestState::Pending,
        Permission::Unknown if !author.is_local() && !actor.remote => RequestState::Pending,
        Permission::Unknown | Permission::Denied => return Err(Error::forbidden(refusal(kind))),
    };
    Ok(Some(NewRequest { kind, target: head.id, author: author.id, state, authorization: None }))
}

/// The sentence that says what the author of a status does not allow.
fn refusal(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Quote => "The author of this post does not let you quote it",
        InteractionKind::Reply => "The author of this post does not let you reply to it",
        InteractionKind::Favourite => "The author of this post does not let you mark it as a favourite",
        InteractionKind::Reblog => "The author of this post does not let you boost it",
    }
}

/// Fails when `conversation` is closed for `actor`.
///
/// # Errors
/// [`Error::Forbidden`].
pub(crate) async fn refuse_closed(cx: &Cx, actor: &Actor, conversation: Option<ConversationId>) -> Result<()> {
    let Some(conversation) = conversation else { return Ok(()) };
    match store::status::find_closer(&cx.db, conversation).await? {
        Some(closer) if closer != actor.id => {
            Err(Error::forbidden("The author of this thread closed it: nobody may reply to it any more"))
        }
        Some(_) | None => Ok(()),
    }
}

/// Stores the request about an interaction by `account`, and asks its author or their server. `uri`: of the interaction,
/// after the id of the request. `shown`: the status that a notification shows.
///
/// # Errors
/// [`Error::Forbidden`] when too many requests of the account wait.
pub(crate) async fn ask(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    uri: impl FnOnce(RowId) -> String,
    shown: StatusId,
    new: NewRequest,
) -> Result<()> {
    let NewRequest { kind, target, author, state, authorization } = new;
    if state == RequestState::Pending {
        bound(tx, account).await?;
    }
    let (now, id) = (cx.clock.now(), cx.ids.next());
    let request = InteractionRequest {
        id,
        kind,
        target_id: target,
        author_id: author,
        account_id: account,
        uri: uri(id),
        request_uri: None,
        authorization_uri: authorization,
        state,
        created_at: now,
        decided_at: (state != RequestState::Pending).then_some(now),
    };
    if !store::interaction_request::insert(tx, &request).await? {
        return Ok(());
    }
    if state == RequestState::Pending {
        tell_author(cx, tx, &request, shown).await?;
        return change::record(cx, tx, Change::InteractionRequested { request: id }).await;
    }
    if kind == InteractionKind::Reply && request.authorization_uri.is_none() {
        // Its server shows the authorization to others.
        change::record(cx, tx, Change::InteractionDecided { request: id }).await?;
    }
    Ok(())
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

/// Takes back the request of `account` to do this with `target`, if there is one.
pub(crate) async fn withdraw(tx: &mut Tx, kind: InteractionKind, account: AccountId, target: StatusId) -> Result<()> {
    if let Some(request) = store::interaction_request::take(tx, kind, account, target).await? {
        let pending = match kind {
            InteractionKind::Quote => NotificationType::PendingQuote,
            InteractionKind::Reply => NotificationType::PendingReply,
            InteractionKind::Favourite => NotificationType::PendingFavourite,
            InteractionKind::Reblog => NotificationType::PendingReblog,
        };
        notification::retract(tx, pending, request.id).await?;
    }
    Ok(())
}

/// A request with the status that interacts, if there is one.
#[derive(Clone, Debug)]
pub struct ShownRequest {
    pub request: InteractionRequest,
    /// The reply, quote or reblog.
    pub status: Option<StatusId>,
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
    let uris: Vec<String> = with_status.map(|request| request.uri.clone()).collect();
    let statuses = match uris.is_empty() {
        true => Vec::new(),
        false => store::interaction_request::list_statuses(&cx.db, &uris).await?,
    };
    let of = |request: InteractionRequest| {
        let status = statuses.iter().find(|(uri, _)| *uri == request.uri).map(|(_, id)| *id);
        ShownRequest { request, status }
    };
    Ok(requests.into_iter().map(of).collect())
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
    let local = crate::access::web_address::status(cx, &request.uri).map(|(_, id)| id);
    match local {
        Some(id) => Ok(Some(id)),
        None => Ok(store::interaction_request::find_status(&mut *tx, &request.uri).await?),
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
        ask(cx, tx, quoting.account_id, |_| quoting.uri.clone(), quoting.id, request).await?;
    }
    set_quote(cx, tx, quoting, quote.target, QuoteState::Pending, QuoteState::Accepted).await?;
    Ok(true)
}

/// Notifies the author who is to approve `reply`, which came after its request.
pub(crate) async fn came(cx: &Cx, tx: &mut Tx, reply: &Status) -> Result<()> {
    let row = store::interaction_request::find_by_uri(&mut *tx, InteractionKind::Reply, &reply.uri).await?;
    match row.filter(|row| row.state == RequestState::Pending) {
        Some(row) => tell_author(cx, tx, &row, reply.id).await,
        None => Ok(()),
    }
}

/// Shows the reply `status`, whose authorization was verified.
pub(crate) async fn authorize_reply(cx: &Cx, tx: &mut Tx, status: &Status, request: NewRequest) -> Result<()> {
    ask(cx, tx, status.account_id, |_| status.uri.clone(), status.id, request).await?;
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
