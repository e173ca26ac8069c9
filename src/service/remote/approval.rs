//! How replies and reblogs of other servers are stored: shown, or hidden until an author approves them.
//!
//! Reached from the use cases that store them. Spec: docs/contract/federation.md#15-who-may-interact

use crate::status::consent::{self, NewRequest};
use crate::visibility::{self, Seen};
use context::Cx;
use context::error::{Error, Result};
use model::interaction::{Group, Permission, RequestState};
use model::{Actor, Approval, InteractionKind, Status};

/// How an interaction of an account of another server is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided {
    /// Why it is hidden.
    pub(super) approval: Option<Approval>,
    /// The request that goes with it.
    pub(super) request: Option<NewRequest>,
}

/// How the interaction `uri` of `actor` with `seen` is stored: by an earlier decision about it, or by the policy. In a
/// thread of another server, `authorization` is the one that was verified.
///
/// # Errors
/// [`Error::Forbidden`] when the author of a local status does not allow it.
pub(super) async fn decided_before(
    cx: &Cx,
    actor: &Actor,
    seen: &Seen,
    kind: InteractionKind,
    uri: &str,
    authorization: Option<&str>,
) -> Result<Decided> {
    let head = seen.proper();
    if head.account_id == actor.id || head.interaction_policy.rule(kind).always.contains(Group::Public) {
        return Ok(Decided::default());
    }
    let known = store::interaction_request::find_by_uri(&cx.db, kind, uri).await?;
    if let Some(known) = known.filter(|known| known.account_id == actor.id && known.target_id == head.id) {
        let approval = match known.state {
            RequestState::Accepted => None,
            RequestState::Pending => Some(Approval::Pending),
            RequestState::Rejected => Some(Approval::Rejected),
            RequestState::Revoked => Some(Approval::Removed),
        };
        return Ok(Decided { approval, request: None });
    }
    let author = store::account::find(&cx.db, head.account_id).await?.ok_or(Error::NotFound)?;
    if author.is_local() {
        let request = consent::needed(cx, actor, seen, kind).await?;
        let approval = request.as_ref().and_then(NewRequest::approval);
        return Ok(Decided { approval, request });
    }
    if seen.marked().may.of(kind) == Permission::Automatic {
        return Ok(Decided::default());
    }
    let Some(authorization) = authorization else {
        return Ok(Decided { approval: Some(Approval::Pending), request: None });
    };
    let request = NewRequest {
        kind,
        target: head.id,
        author: author.id,
        state: RequestState::Accepted,
        authorization: Some(authorization.to_owned()),
    };
    Ok(Decided { approval: None, request: Some(request) })
}

/// How the reply `uri` of `actor` to `parent` is stored.
///
/// # Errors
/// As [`decided_before`].
pub(super) async fn reply(
    cx: &Cx,
    actor: &Actor,
    parent: &Status,
    uri: &str,
    authorization: Option<&str>,
) -> Result<Decided> {
    if parent.interaction_policy.is_open() {
        return Ok(Decided::default());
    }
    let kind = InteractionKind::Reply;
    match visibility::status(cx, Some(actor), parent.id).await {
        Ok(seen) => decided_before(cx, actor, &seen, kind, uri, authorization).await,
        // It is not a matter of the policy.
        Err(Error::NotFound) => Ok(Decided::default()),
        Err(error) => Err(error),
    }
}
