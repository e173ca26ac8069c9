//! The consent of the author of a status to what others do with it: what needs it, and the requests for it. Decisions are in
//! [`decision`](super::decision).
//!
//! What the policy of a status allows at once has no request here, save a quote of another person's status, whose
//! authorization other servers ask for. Reached from publishing and editing, from the routes of requests, and from
//! `remote::consent` for what comes from other servers. Who may do what is decided in [`visibility`](crate::visibility).
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, docs/contract/rules.md#10-statuses

use crate::notification;
use crate::visibility::Seen;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::interaction::{Group, Permission, RequestState};
use model::{AccountId, Actor, Approval, ConversationId, InteractionKind, NotificationType, RowId, Status, StatusId};
use store::interaction_request::InteractionRequest;

/// Most requests of one account that wait for a decision.
pub(crate) const PENDING_MAX: i64 = 300;

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
    let kind = notification_type(request.kind);
    let notice = Notice {
        receiver: request.author_id,
        from: request.account_id,
        kind: kind.into(),
        activity: i64::from(request.id),
        status: Some(shown),
    };
    notification::notify(cx, tx, &[notice]).await.map(drop)
}

/// The notification that a request waits.
fn notification_type(kind: InteractionKind) -> NotificationType {
    match kind {
        InteractionKind::Quote => NotificationType::PendingQuote,
        InteractionKind::Reply => NotificationType::PendingReply,
        InteractionKind::Favourite => NotificationType::PendingFavourite,
        InteractionKind::Reblog => NotificationType::PendingReblog,
    }
}

/// Takes back the request of `account` to do this with `target`, if there is one.
pub(crate) async fn withdraw(tx: &mut Tx, kind: InteractionKind, account: AccountId, target: StatusId) -> Result<()> {
    if let Some(request) = store::interaction_request::take(tx, kind, account, target).await? {
        notification::retract(tx, notification_type(kind), request.id).await?;
    }
    Ok(())
}

/// Notifies the author who is to approve `reply`, which came after its request.
pub(crate) async fn came(cx: &Cx, tx: &mut Tx, reply: &Status) -> Result<()> {
    let row = store::interaction_request::find_by_uri(&mut *tx, InteractionKind::Reply, &reply.uri).await?;
    match row.filter(|row| row.state == RequestState::Pending) {
        Some(row) => tell_author(cx, tx, &row, reply.id).await,
        None => Ok(()),
    }
}
