//! Authorizations of quotes and replies by authors of other servers: fetched once, and believed only from the author's own server.
//!
//! Spec: <https://w3id.org/fep/044f>, Verifying a `QuoteAuthorization`

use context::queue::{Failure as JobFailure, VerifyQuote};
use context::{Cx, job};
use model::interaction::{Group, RequestState};
use model::{InteractionKind, StatusId};
use service::remote::status::RemoteStatus;

use super::document::document;
use super::status::{note_document, status_of};
use crate::Failure;
use crate::address::same_host;
use crate::reading::known;
use crate::vocabulary::{Authorization, Id, Note, parse};

/// `status`, which `note` states, with the authorizations of its quote and of its reply, as far as it needs them and they
/// are valid.
///
/// # Errors
/// [`Failure::Deferred`].
pub(crate) async fn authorized(cx: &Cx, note: &Note, status: RemoteStatus) -> Result<RemoteStatus, Failure> {
    let quote = status.references.iter().find(|reference| reference.quote);
    let quoted = match quote.filter(|_| note.quote_authorization.is_some()) {
        Some(quote) => quoted(cx, &quote.url).await?,
        None => None,
    };
    let stamp = note.quote_authorization.as_ref().or(note.approved_by.as_ref());
    let (quote_authorization, quote_later) = tried(cx, &status, InteractionKind::Quote, quoted, stamp).await?;
    let stamp = note.reply_authorization.as_ref().or(note.approved_by.as_ref());
    let parent = status.in_reply_to.filter(|_| stamp.is_some());
    let (reply_authorization, reply_later) = tried(cx, &status, InteractionKind::Reply, parent, stamp).await?;
    Ok(RemoteStatus { quote_authorization, reply_authorization, verify_later: quote_later || reply_later, ..status })
}

/// The quoted status at `url`, if it is known.
async fn quoted(cx: &Cx, url: &str) -> Result<Option<StatusId>, Failure> {
    match known(cx, url).await? {
        Some(target) => Ok(Some(target)),
        None => Ok(store::remote::find_status_by_url(&cx.db, url).await?),
    }
}

/// The valid authorization at `stamp`, and whether it is to be tried again.
async fn tried(
    cx: &Cx,
    status: &RemoteStatus,
    kind: InteractionKind,
    target: Option<StatusId>,
    stamp: Option<&Id>,
) -> Result<(Option<String>, bool), Failure> {
    let (Some(target), Some(stamp)) = (target, stamp) else { return Ok((None, false)) };
    match verify(cx, status, kind, target, &stamp.0).await {
        Ok(authorization) => Ok((authorization, false)),
        Err(Failure::Deferred) => Err(Failure::Deferred),
        Err(failure) => {
            tracing::debug!(%failure, uri = status.uri, "an authorization was not verified");
            Ok((None, failure.is_transient()))
        }
    }
}

/// The authorization `uri`, if `status` needs one to interact with `target`, and it is valid.
async fn verify(
    cx: &Cx,
    status: &RemoteStatus,
    kind: InteractionKind,
    target: StatusId,
    uri: &str,
) -> Result<Option<String>, Failure> {
    let Some(target) = store::status::find(&cx.db, target).await? else { return Ok(None) };
    let states = match target.interaction_policy.stated(kind) {
        Some(rule) => kind == InteractionKind::Quote || !rule.always.contains(Group::Public),
        None => false,
    };
    if target.local || target.account_id == status.author || !states {
        return Ok(None);
    }
    let kept = store::interaction_request::find_by_authorization(&cx.db, uri).await?;
    if let Some(kept) = kept {
        let same = kept.uri == status.uri && kept.target_id == target.id && kept.state == RequestState::Accepted;
        return Ok(same.then(|| uri.to_owned()));
    }
    let Some(author) = store::account::find(&cx.db, target.account_id).await? else { return Ok(None) };
    let is_at_home = same_host(uri, &author.uri);
    cx.step("authorization", is_at_home, || format!("{uri} is on the host of {}: {is_at_home}", author.uri));
    if !is_at_home {
        return Err(Failure::Disbelieved("the authorization is on another host than the author"));
    }
    let fetched = document(cx, uri).await?;
    let stamp: Authorization = parse(&fetched.body)?;
    let types = match kind {
        InteractionKind::Quote => ["QuoteAuthorization", "QuoteAuthorization"],
        InteractionKind::Reply => ["ReplyAuthorization", "ReplyApproval"],
        InteractionKind::Favourite => ["LikeAuthorization", "LikeApproval"],
        InteractionKind::Reblog => ["AnnounceAuthorization", "AnnounceApproval"],
    };
    let fits = fetched.is(&stamp.id, uri)
        && stamp.kind.iter().any(|kind| types.contains(&kind.as_str()))
        && stamp.attributed_to.first().is_some_and(|id| id.0 == author.uri)
        && stamp.interacting_object.as_ref().is_some_and(|id| id.0 == status.uri)
        && stamp.interaction_target.as_ref().is_some_and(|id| id.0 == target.uri);
    cx.step("authorization", fits, || format!("{uri} authorizes {}: {fits}", status.uri));
    if fits { Ok(Some(uri.to_owned())) } else { Err(Failure::Disbelieved("the authorization is for something else")) }
}

/// Tries again to verify the quote or reply of a status, which its server states anew.
#[model::use_case]
#[job]
async fn verify_quote(cx: &Cx, job: VerifyQuote) -> Result<(), JobFailure> {
    let Some(status) = store::status::find(&cx.db, job.status).await? else { return Ok(()) };
    let note = note_document(cx, &status.uri).await?;
    let found = authorized(cx, &note, status_of(cx, &note).await?).await?;
    if found.verify_later {
        return Err(JobFailure::Retry("the authorization cannot be fetched".into()));
    }
    service::remote::consent::restate(cx, &found).await?;
    Ok(())
}
