//! Consent between servers: requests by accounts of other servers, and the decisions of authors of other servers.
//!
//! Reached from `federation`, which read the activities and verified authorizations.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact, <https://w3id.org/fep/044f>

use super::status::RemoteStatus;
use crate::status::consent::{self, PENDING_MAX};
use crate::status::quote::Claim;
use crate::status::reference;
use crate::visibility;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::interaction::{Permission, RequestState};
use model::{AccountId, InteractionKind, QuoteState, RowId, StatusId};
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

/// The answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is queued, or the author is to decide.
    Recorded,
    /// The policy of the status forbids it.
    Refused,
}

/// Decides about a request as the policy of its target says, or lets the author decide. A request that is repeated gets the
/// same answer.
///
/// # Errors
/// [`Error::NotFound`] when the account may not see the target; [`Error::Forbidden`] when the interaction is someone
/// else's.
#[model::use_case]
pub async fn request(cx: &Cx, new: RemoteRequest) -> Result<Answer> {
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
        return Ok(Answer::Recorded);
    }
    let permission = match new.kind {
        InteractionKind::Quote => seen.marked().may.quote,
        InteractionKind::Reply | InteractionKind::Favourite | InteractionKind::Reblog => Permission::Denied,
    };
    let state = match permission {
        Permission::Automatic => RequestState::Accepted,
        Permission::Manual => RequestState::Pending,
        Permission::Denied | Permission::Unknown => return Ok(Answer::Refused),
    };
    let waits = state == RequestState::Pending;
    if waits && store::interaction_request::count_pending(&mut tx, new.account).await? >= PENDING_MAX {
        return Ok(Answer::Refused);
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
            consent::tell_author(cx, &mut tx, &row, shown).await?;
        } else {
            consent::settle(cx, &mut tx, &row, state, None).await?;
            change::record(cx, &mut tx, Change::InteractionDecided { request: row.id }).await?;
        }
    }
    tx.commit().await?;
    Ok(Answer::Recorded)
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
        (true, RequestState::Pending | RequestState::Rejected) => RequestState::Accepted,
        (false, RequestState::Pending) => RequestState::Rejected,
        (false, RequestState::Accepted) => RequestState::Revoked,
        (true, RequestState::Accepted | RequestState::Revoked)
        | (false, RequestState::Rejected | RequestState::Revoked) => return Ok(true),
    };
    consent::settle(cx, &mut tx, &request, state, authorization).await?;
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
        consent::settle(cx, &mut tx, &request, RequestState::Revoked, None).await?;
    }
    tx.commit().await?;
    Ok(true)
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
    if !waits && known.interaction_policy == new.interaction_policy {
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
    let mut tx = cx.db.begin().await?;
    let Some(known) = store::status::lock(&mut tx, id).await? else { return Ok(false) };
    if known.interaction_policy != new.interaction_policy {
        store::reference::set_policy(&mut tx, id, new.interaction_policy).await?;
        changed = true;
    }
    if let Some(references) = references {
        changed |= consent::authorize(cx, &mut tx, &known, references).await?;
    }
    tx.commit().await?;
    Ok(changed)
}
