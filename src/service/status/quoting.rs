//! The state of a new quote: whether the author of the quoted status allows it, has to decide, or is to be asked by their
//! server.
//!
//! Reached from [`reference`](super::reference). Spec: docs/contract/federation.md#15-who-may-interact

use super::consent::NewRequest;
use crate::visibility::Seen;
use context::Cx;
use context::error::Result;
use model::interaction::{Permission, RequestState};
use model::{Actor, InteractionKind, QuoteState};

/// What the server of the quoting status, another one, states about its quote.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim<'a> {
    /// The quoting status.
    pub(crate) uri: &'a str,
    /// The authorization that was verified.
    pub(crate) authorization: Option<&'a str>,
}

/// The state of a new quote of the status `target` by `actor`, who sees it, and the request that goes with it; `None` when
/// its author does not let them quote it. `claim`: of an actor of another server.
pub(super) async fn consent(
    cx: &Cx,
    actor: &Actor,
    target: &Seen,
    claim: Option<Claim<'_>>,
) -> Result<Option<(QuoteState, Option<NewRequest>)>> {
    let head = target.proper();
    if head.account_id == actor.id {
        return Ok((target.marked().may.quote == Permission::Automatic).then_some((QuoteState::Accepted, None)));
    }
    if let Some(claim) = claim
        && let Some(known) = store::interaction_request::find_by_uri(&cx.db, InteractionKind::Quote, claim.uri).await?
        && known.account_id == actor.id
        && known.target_id == head.id
        && claim.authorization.is_none()
    {
        return Ok(Some((state_of(known.state), None)));
    }
    let Some(author) = store::account::find(&cx.db, head.account_id).await? else { return Ok(None) };
    let request = |state| NewRequest {
        kind: InteractionKind::Quote,
        target: head.id,
        author: author.id,
        state,
        authorization: claim.and_then(|claim| claim.authorization).map(str::to_owned),
    };
    let stated = head.interaction_policy.stated(InteractionKind::Quote).is_some();
    let may = target.marked().may.quote;
    if author.is_local() {
        return Ok(match may {
            Permission::Automatic => Some((QuoteState::Accepted, Some(request(RequestState::Accepted)))),
            Permission::Manual => Some((QuoteState::Pending, Some(request(RequestState::Pending)))),
            Permission::Denied | Permission::Unknown => None,
        });
    }
    if !stated {
        // Its server knows no consent: the general policy of the author applies.
        let allowed = may == Permission::Automatic && author.other_settings.allow_quote;
        return Ok(allowed.then_some((QuoteState::Accepted, None)));
    }
    match claim {
        // Its author's server decides.
        None if may == Permission::Denied => Ok(None),
        None => Ok(Some((QuoteState::Pending, Some(request(RequestState::Pending))))),
        Some(Claim { authorization: Some(_), .. }) => {
            Ok(Some((QuoteState::Accepted, Some(request(RequestState::Accepted)))))
        }
        Some(_) => {
            let mentions = store::mention::list(&cx.db, head.id).await?;
            let mentioned = mentions.iter().any(|(_, account, _)| *account == actor.id);
            Ok(Some((if mentioned { QuoteState::Accepted } else { QuoteState::Pending }, None)))
        }
    }
}

fn state_of(decision: RequestState) -> QuoteState {
    match decision {
        RequestState::Pending => QuoteState::Pending,
        RequestState::Accepted => QuoteState::Accepted,
        RequestState::Rejected => QuoteState::Rejected,
        RequestState::Revoked => QuoteState::Revoked,
    }
}
