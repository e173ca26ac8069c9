//! Authorizations of quotes by authors of other servers: fetched once, and believed only from the author's own server.
//!
//! Spec: <https://w3id.org/fep/044f>, Verifying a `QuoteAuthorization`

use context::queue::{Failure as JobFailure, VerifyQuote};
use context::{Cx, job};
use model::InteractionKind;
use model::interaction::RequestState;
use service::remote::status::RemoteStatus;

use super::document::document;
use super::status::{note_document, status_of};
use crate::Failure;
use crate::address::same_host;
use crate::reading::known;
use crate::vocabulary::{Authorization, Note, parse};

/// `status`, which `note` states, with the authorization of its quote if it needs one that is valid.
///
/// # Errors
/// [`Failure::Deferred`].
pub(crate) async fn authorized(cx: &Cx, note: &Note, status: RemoteStatus) -> Result<RemoteStatus, Failure> {
    match verify(cx, note, &status).await {
        Ok(quote_authorization) => Ok(RemoteStatus { quote_authorization, ..status }),
        Err(Failure::Deferred) => Err(Failure::Deferred),
        Err(failure) => {
            tracing::debug!(%failure, uri = status.uri, "the authorization of a quote was not verified");
            Ok(RemoteStatus { verify_later: failure.is_transient(), ..status })
        }
    }
}

/// The authorization that `note` names, if it is new and valid; `None` when none is needed.
async fn verify(cx: &Cx, note: &Note, status: &RemoteStatus) -> Result<Option<String>, Failure> {
    let Some(uri) = note.quote_authorization.as_ref().map(|id| id.0.as_str()) else { return Ok(None) };
    let Some(quote) = status.references.iter().find(|reference| reference.quote) else { return Ok(None) };
    let target = match known(cx, &quote.url).await? {
        Some(target) => Some(target),
        None => store::remote::find_status_by_url(&cx.db, &quote.url).await?,
    };
    let Some(target) = target else { return Ok(None) };
    let Some(target) = store::status::find(&cx.db, target).await? else { return Ok(None) };
    let states = target.interaction_policy.stated(InteractionKind::Quote).is_some();
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
    cx.step("authorization", is_at_home, || format!("{uri} is on the host of the quoted author: {is_at_home}"));
    if !is_at_home {
        return Err(Failure::Disbelieved("the authorization is on another host than the author"));
    }
    let fetched = document(cx, uri).await?;
    let stamp: Authorization = parse(&fetched.body)?;
    let fits = fetched.is(&stamp.id, uri)
        && stamp.kind.iter().any(|kind| kind == "QuoteAuthorization")
        && stamp.attributed_to.first().is_some_and(|id| id.0 == author.uri)
        && stamp.interacting_object.as_ref().is_some_and(|id| id.0 == status.uri)
        && stamp.interaction_target.as_ref().is_some_and(|id| id.0 == target.uri);
    cx.step("authorization", fits, || format!("{uri} authorizes this quote: {fits}"));
    if fits { Ok(Some(uri.to_owned())) } else { Err(Failure::Disbelieved("the authorization is for something else")) }
}

/// Tries again to verify the quote of a status, which its server states anew.
#[model::use_case]
#[job]
async fn verify_quote(cx: &Cx, job: VerifyQuote) -> Result<(), JobFailure> {
    let Some(status) = store::status::find(&cx.db, job.status).await? else { return Ok(()) };
    let note = note_document(cx, &status.uri).await?;
    let found = authorized(cx, &note, status_of(cx, &note).await?).await?;
    if found.verify_later {
        return Err(JobFailure::Retry("the authorization of the quote cannot be fetched".into()));
    }
    service::remote::consent::restate(cx, &found).await?;
    Ok(())
}
