//! Consent between servers: requests by accounts of other servers, and the decisions of authors of other servers.
//!
//! Reached from `federation`, which read the activities and verified authorizations.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, <https://w3id.org/fep/044f>

use super::approval;
use super::status::RemoteStatus;
use crate::status::consent::{self, PENDING_MAX};
use crate::status::quoting::Claim;
use crate::status::{decision, reference};
use crate::visibility;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::interaction::{Group, Permission, RequestState};
use model::{AccountId, Approval, InteractionKind, QuoteState, RowId, StatusId};
use store::interaction_request::InteractionRequest;

/// A request by an account of another server.
#[derive(Clone, Debug)]
pub struct RemoteRequest {
    pub kind: InteractionKind,
    pub account: AccountId,
    /// The status of this server.
    pub target: StatusId,
    /// Of the interaction.
    pub uri: String,
    /// Of the request.
    pub request_uri: String,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is queued, or the author is to decide.
    Recorded,
    /// The policy of the status forbids it.
    Refused,
}

/// True when `new` may reply to what it replies to, as far as that is known: its thread is not closed, and the author of a
/// local status does not forbid it.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn may_reply(cx: &Cx, new: &RemoteStatus) -> Result<bool> {
    let Some(parent) = new.in_reply_to else { return Ok(true) };
    let Some(parent) = store::status::find(&cx.db, parent).await? else { return Ok(true) };
    let actor = super::actor(cx, new.author).await?;
    match consent::refuse_closed(cx, &actor, parent.conversation_id).await {
        Err(Error::Forbidden(_)) => return Ok(false),
        checked => checked?,
    }
    match approval::reply(cx, &actor, &parent, &new.uri, new.reply_authorization.as_deref()).await {
        Err(Error::Forbidden(_)) => Ok(false),
        decided => decided.map(|_| true),
    }
}

/// Decides about a request as the policy of its target says, or lets the author decide. A request that is repeated gets the
/// same decision.
///
/// # Errors
/// [`Error::NotFound`] when the account may not see the target; [`Error::Forbidden`] when the interaction is someone
/// else's.
#[model::use_case]
pub async fn request(cx: &Cx, new: RemoteRequest) -> Result<Outcome> {
    let actor = super::actor(cx, new.account).await?;
    let seen = visibility::status(cx, Some(&actor), new.target).await?;
    let target = seen.head();
    if seen.original().is_some() {
        return Err(Error::NotFound);
    }
    let mut tx = cx.db.begin().await?;
    let known = store::interaction_request::find_by_uri(&mut tx, new.kind, &new.uri).await?;
    if let Some(known) = known {
        if known.account_id != new.account || known.target_id != target.id {
            return Err(Error::forbidden("the interaction is someone else's"));
        }
        store::interaction_request::set_request(&mut tx, known.id, &new.request_uri).await?;
        if known.state != RequestState::Pending {
            change::record(cx, &mut tx, Change::InteractionDecided { request: known.id }).await?;
        }
        tx.commit().await?;
        return Ok(Outcome::Recorded);
    }
    if new.kind == InteractionKind::Reply {
        match consent::refuse_closed(cx, &actor, target.conversation_id).await {
            Err(Error::Forbidden(_)) => return Ok(Outcome::Refused),
            checked => checked?,
        }
    }
    let state = match seen.marked().may.of(new.kind) {
        Permission::Automatic => RequestState::Accepted,
        Permission::Manual => RequestState::Pending,
        Permission::Denied | Permission::Unknown => return Ok(Outcome::Refused),
    };
    let waits = state == RequestState::Pending;
    if waits && store::interaction_request::count_pending(&mut tx, new.account).await? >= PENDING_MAX {
        return Ok(Outcome::Refused);
    }
    let now = cx.clock.now();
    let row = InteractionRequest {
        id: cx.ids.next(),
        kind: new.kind,
        target_id: target.id,
        author_id: target.account_id,
        account_id: new.account,
        uri: new.uri,
        request_uri: Some(new.request_uri),
        authorization_uri: None,
        state,
        created_at: now,
        decided_at: (!waits).then_some(now),
    };
    if store::interaction_request::insert(&mut tx, &row).await? {
        if waits {
            let shown = store::status::find_by_uri(&mut tx, &row.uri).await?.unwrap_or(target.id);
            // The notification of a reply shows the reply, which comes with the request.
            if new.kind != InteractionKind::Reply {
                consent::tell_author(cx, &mut tx, &row, shown).await?;
            }
        } else {
            decision::settle(cx, &mut tx, &row, state, None).await?;
            change::record(cx, &mut tx, Change::InteractionDecided { request: row.id }).await?;
        }
    }
    tx.commit().await?;
    Ok(Outcome::Recorded)
}

/// Tells another server that a policy forbade the interaction `uri` of its account `account`. `request`: the activity that
/// requested it.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn refuse(
    cx: &Cx,
    kind: InteractionKind,
    target: StatusId,
    account: AccountId,
    uri: &str,
    request: Option<&str>,
) -> Result<()> {
    let (uri, request) = (uri.to_owned(), request.map(str::to_owned));
    let mut tx = cx.db.begin().await?;
    change::record(cx, &mut tx, Change::InteractionRefused { kind, target, account, uri, request }).await?;
    Ok(tx.commit().await?)
}

/// The author `author` of another server accepted the request `id` of an account of this one, or rejected it.
/// `authorization`: of an acceptance. False when there is no such request.
#[model::use_case]
pub async fn decided(
    cx: &Cx,
    author: AccountId,
    id: RowId,
    accepted: bool,
    authorization: Option<&str>,
) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let Some(request) = store::interaction_request::lock(&mut tx, id).await? else { return Ok(false) };
    if request.author_id != author {
        return Ok(false);
    }
    let state = match (accepted, request.state) {
        (true, RequestState::Pending | RequestState::Rejected | RequestState::Revoked) => RequestState::Accepted,
        (false, RequestState::Pending) => RequestState::Rejected,
        (false, RequestState::Accepted) => RequestState::Revoked,
        (true, RequestState::Accepted) | (false, RequestState::Rejected | RequestState::Revoked) => return Ok(true),
    };
    decision::settle(cx, &mut tx, &request, state, authorization).await?;
    tx.commit().await?;
    Ok(true)
}

/// The author `author` of another server accepted or rejected the interaction `uri` of an account of this one, which it did
/// not request. False when it is no request, nor a reply to the author.
#[model::use_case]
pub async fn decided_unasked(
    cx: &Cx,
    author: AccountId,
    uri: &str,
    accepted: bool,
    authorization: Option<&str>,
) -> Result<bool> {
    for kind in InteractionKind::ALL {
        let known = store::interaction_request::find_by_uri(&cx.db, *kind, uri).await?;
        if let Some(known) = known.filter(|known| known.author_id == author) {
            return decided(cx, author, known.id, accepted, authorization).await;
        }
    }
    let Some((_, reply)) = crate::access::web_address::status(cx, uri) else { return Ok(false) };
    let Some(reply) = store::status::find(&cx.db, reply).await? else { return Ok(false) };
    let Some(parent) = reply.in_reply_to_id else { return Ok(false) };
    let parent = store::status::find(&cx.db, parent).await?;
    let Some(parent) = parent.filter(|parent| parent.account_id == author) else { return Ok(false) };
    let now = cx.clock.now();
    let row = InteractionRequest {
        id: cx.ids.next(),
        kind: InteractionKind::Reply,
        target_id: parent.id,
        author_id: author,
        account_id: reply.account_id,
        uri: reply.uri,
        request_uri: None,
        authorization_uri: authorization.map(str::to_owned),
        state: if accepted { RequestState::Accepted } else { RequestState::Rejected },
        created_at: now,
        decided_at: Some(now),
    };
    let mut tx = cx.db.begin().await?;
    if store::interaction_request::insert(&mut tx, &row).await? && !accepted {
        decision::settle(cx, &mut tx, &row, RequestState::Rejected, None).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// The author `author` of another server deleted the authorization `uri`; false when it is not known.
#[model::use_case]
pub async fn revoked(cx: &Cx, author: AccountId, uri: &str) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let found = store::interaction_request::find_by_authorization(&mut tx, uri).await?;
    let Some(request) = found.filter(|request| request.author_id == author) else { return Ok(false) };
    let Some(request) = store::interaction_request::lock(&mut tx, request.id).await? else { return Ok(false) };
    if request.state == RequestState::Accepted {
        decision::settle(cx, &mut tx, &request, RequestState::Revoked, None).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// What an authorization has to state so that an interaction needs it no longer.
#[derive(Clone, Debug)]
pub enum Verification {
    /// None is needed, or it can have none.
    Needless,
    /// It was verified before.
    Kept,
    /// The author of the target, and the target.
    Needed { author: String, target: String },
}

/// What the authorization `uri` of the interaction of `status` with `target` has to state.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn verification(
    cx: &Cx,
    status: &RemoteStatus,
    kind: InteractionKind,
    target: StatusId,
    uri: &str,
) -> Result<Verification> {
    let Some(target) = store::status::find(&cx.db, target).await? else { return Ok(Verification::Needless) };
    let states = match target.interaction_policy.stated(kind) {
        Some(rule) => kind == InteractionKind::Quote || !rule.always.contains(Group::Public),
        None => false,
    };
    if target.local || target.account_id == status.author || !states {
        return Ok(Verification::Needless);
    }
    let kept = store::interaction_request::find_by_authorization(&cx.db, uri).await?;
    if let Some(kept) = kept {
        let same = kept.uri == status.uri && kept.target_id == target.id && kept.state == RequestState::Accepted;
        return Ok(if same { Verification::Kept } else { Verification::Needless });
    }
    let author = store::account::find(&cx.db, target.account_id).await?;
    Ok(author.map_or(Verification::Needless, |author| Verification::Needed { author: author.uri, target: target.uri }))
}

/// The status at `url`, by its id or its page, if it is known.
#[model::use_case]
pub async fn known_status(cx: &Cx, url: &str) -> Result<Option<StatusId>> {
    if let Some(local) = crate::public::local_status(cx, url).await? {
        return Ok(Some(local));
    }
    if let Some(known) = store::status::find_by_uri(&cx.db, url).await? {
        return Ok(Some(known));
    }
    Ok(store::remote::find_status_by_url(&cx.db, url).await?)
}

/// The URI of the status `id`.
#[model::use_case]
pub async fn find_uri(cx: &Cx, id: StatusId) -> Result<Option<String>> {
    Ok(store::status::find(&cx.db, id).await?.map(|status| status.uri))
}

/// Keeps what the server of a known status states anew without an edit: who may interact with it, and the authorization of
/// its quote. False when nothing changed.
///
/// # Errors
/// [`Error::Forbidden`] when the status is another account's.
#[model::use_case]
pub async fn restate(cx: &Cx, new: &RemoteStatus) -> Result<bool> {
    let Some(id) = store::status::find_by_uri(&cx.db, &new.uri).await? else { return Ok(false) };
    let Some(known) = store::status::find(&cx.db, id).await? else { return Ok(false) };
    if known.account_id != new.author {
        return Err(Error::forbidden("the status is someone else's"));
    }
    let waits = known.quote_state == Some(QuoteState::Pending) && new.quote_authorization.is_some();
    let hidden = known.approval == Some(Approval::Pending) && new.reply_authorization.is_some();
    if !waits && !hidden && known.interaction_policy == new.interaction_policy {
        return Ok(false);
    }
    let mut changed = false;
    let actor = super::actor(cx, new.author).await?;
    let claim = Claim { uri: &new.uri, authorization: new.quote_authorization.as_deref() };
    let references = if waits {
        let found = &new.references;
        Some(reference::resolve_remote(cx, &actor, found, known.visibility, Some(&known), claim).await?)
    } else {
        None
    };
    let parent = match known.in_reply_to_id.filter(|_| hidden) {
        Some(parent) => store::status::find(&cx.db, parent).await?,
        None => None,
    };
    let reply = match &parent {
        Some(parent) => {
            approval::reply(cx, &actor, parent, &new.uri, new.reply_authorization.as_deref()).await?.request
        }
        None => None,
    };
    let mut tx = cx.db.begin().await?;
    let Some(known) = store::status::lock(&mut tx, id).await? else { return Ok(false) };
    if let Some(request) = reply.filter(|request| request.state == RequestState::Accepted) {
        decision::authorize_reply(cx, &mut tx, &known, request).await?;
        changed = true;
    }
    if known.interaction_policy != new.interaction_policy {
        store::reference::set_policy(&mut tx, id, new.interaction_policy).await?;
        changed = true;
    }
    if let Some(references) = references {
        changed |= decision::authorize(cx, &mut tx, &known, references).await?;
    }
    tx.commit().await?;
    Ok(changed)
}
