//! Authorizations of quotes and replies by authors of other servers: fetched once, and believed only from the author's own server.
//!
//! Spec: <https://w3id.org/fep/044f>, Verifying a `QuoteAuthorization`

use context::Cx;
use model::{InteractionKind, StatusId};
use service::remote::consent::{self, Verification};
use service::remote::status::RemoteStatus;

use super::document::document;
use crate::Failure;
use crate::address::same_host;
use crate::vocabulary::{Authorization, Id, Note, parse};

/// `status`, which `note` states, with the authorizations of its quote and of its reply, as far as it needs them and they
/// are valid.
///
/// # Errors
/// [`Failure::Deferred`].
#[model::boxed]
pub(crate) async fn authorized(cx: &Cx, note: &Note, status: RemoteStatus) -> Result<RemoteStatus, Failure> {
    let quote = status.references.iter().find(|reference| reference.quote);
    let quoted = match quote.filter(|_| note.quote_authorization.is_some()) {
        Some(quote) => consent::known_status(cx, &quote.url).await?,
        None => None,
    };
    let stamp = note.quote_authorization.as_ref().or(note.approved_by.as_ref());
    let (quote_authorization, quote_later) = tried(cx, &status, InteractionKind::Quote, quoted, stamp).await?;
    let stamp = note.reply_authorization.as_ref().or(note.approved_by.as_ref());
    let parent = status.in_reply_to.filter(|_| stamp.is_some());
    let (reply_authorization, reply_later) = tried(cx, &status, InteractionKind::Reply, parent, stamp).await?;
    Ok(RemoteStatus { quote_authorization, reply_authorization, verify_later: quote_later || reply_later, ..status })
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
    let (author, target) = match consent::verification(cx, status, kind, target, uri).await? {
        Verification::Needless => return Ok(None),
        Verification::Kept => return Ok(Some(uri.to_owned())),
        Verification::Needed { author, target } => (author, target),
    };
    let is_at_home = same_host(uri, &author);
    cx.step("authorization", is_at_home, || format!("{uri} is on the host of {author}: {is_at_home}"));
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
        && stamp.attributed_to.first().is_some_and(|id| id.0 == author)
        && stamp.interacting_object.as_ref().is_some_and(|id| id.0 == status.uri)
        && stamp.interaction_target.as_ref().is_some_and(|id| id.0 == target);
    cx.step("authorization", fits, || format!("{uri} authorizes {}: {fits}", status.uri));
    if fits { Ok(Some(uri.to_owned())) } else { Err(Failure::Disbelieved("the authorization is for something else")) }
}
