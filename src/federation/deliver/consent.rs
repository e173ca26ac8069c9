//! Requests to interact, the decisions about them, and authorizations that are taken back.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use context::{Cx, Error, Result};
use database::Tx;
use entity::activity::PUBLIC;
use model::interaction::{InteractionKind, RequestState};
use model::{AccountId, RowId, StatusId, urls};
use serde::Serialize;
use store::interaction_request::InteractionRequest;
use store::remote::ActorRow;

use super::activity::{Activity, CONTEXT};
use super::follows::{actor, inbox};
use super::queue::{Outgoing, send};

/// The terms of requests.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Terms {
    quote_request: &'static str,
    gts: &'static str,
    like_request: &'static str,
    reply_request: &'static str,
    announce_request: &'static str,
}

const TERMS: Terms = Terms {
    quote_request: "https://w3id.org/fep/044f#QuoteRequest",
    gts: "https://gotosocial.org/ns#",
    like_request: "https://gotosocial.org/ns#LikeRequest",
    reply_request: "https://gotosocial.org/ns#ReplyRequest",
    announce_request: "https://gotosocial.org/ns#AnnounceRequest",
};

/// A document with the terms of requests.
#[derive(Serialize)]
struct WithTerms<T> {
    #[serde(rename = "@context")]
    context: (&'static str, Terms),
    #[serde(flatten)]
    activity: T,
}

/// A request to interact.
#[derive(Serialize)]
struct Request<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    object: &'a str,
    instrument: &'a str,
}

/// The decision about a request.
#[derive(Serialize)]
struct Decision<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    to: [&'a str; 1],
    object: Request<'a>,
    /// The authorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

/// A request that a policy forbids, which has no row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused<'a> {
    pub(crate) kind: InteractionKind,
    pub(crate) target: StatusId,
    /// The remote account that requested it.
    pub(crate) account: AccountId,
    /// Of the interaction.
    pub(crate) uri: &'a str,
    pub(crate) request_uri: &'a str,
}

fn type_of(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Quote => "QuoteRequest",
        InteractionKind::Reply => "ReplyRequest",
        InteractionKind::Favourite => "LikeRequest",
        InteractionKind::Reblog => "AnnounceRequest",
    }
}

/// A local account requests to interact with a remote status.
pub(super) async fn requested(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(request) = store::interaction_request::find(&mut *tx, id).await? else { return Ok(()) };
    let (account, author) = (actor(tx, request.account_id).await?, actor(tx, request.author_id).await?);
    if account.domain.is_some() || author.domain.is_none() {
        return Ok(());
    }
    let Some(target) = store::status::find(&mut *tx, request.target_id).await? else { return Ok(()) };
    let activity = Request {
        id: format!("{}#requests/{id}", account.uri),
        kind: type_of(request.kind),
        actor: &account.uri,
        object: &target.uri,
        instrument: &request.uri,
    };
    post(cx, tx, &account, &author, activity).await
}

/// A local author decided about an interaction: a remote account that requested it is sent the decision.
pub(super) async fn decided(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(request) = store::interaction_request::find(&mut *tx, id).await? else { return Ok(()) };
    let (account, author) = (actor(tx, request.account_id).await?, actor(tx, request.author_id).await?);
    let Some(request_uri) = request.request_uri.clone().filter(|_| author.domain.is_none()) else { return Ok(()) };
    let Some(target) = store::status::find(&mut *tx, request.target_id).await? else { return Ok(()) };
    let accepted = match request.state {
        RequestState::Pending => return Ok(()),
        RequestState::Accepted => true,
        RequestState::Rejected | RequestState::Revoked => false,
    };
    let (kind, name) = if accepted { ("Accept", "accepts") } else { ("Reject", "rejects") };
    let decision = Decision {
        // A request that is sent again is answered again.
        id: format!("{}#{name}/requests/{id}/{}", author.uri, cx.ids.next::<RowId>()),
        kind,
        actor: &author.uri,
        to: [&account.uri],
        object: Request {
            id: request_uri,
            kind: type_of(request.kind),
            actor: &account.uri,
            object: &target.uri,
            instrument: &request.uri,
        },
        result: accepted.then(|| urls::authorization(&author.uri, id)),
    };
    post(cx, tx, &author, &account, decision).await
}

/// Sends the rejection of a request.
pub(crate) async fn refuse(cx: &Cx, tx: &mut Tx, refused: Refused<'_>) -> Result<()> {
    let Some(target) = store::status::find(&mut *tx, refused.target).await? else { return Ok(()) };
    let (account, author) = (actor(tx, refused.account).await?, actor(tx, target.account_id).await?);
    let decision = Decision {
        id: format!("{}#rejects/requests/{}", author.uri, cx.ids.next::<RowId>()),
        kind: "Reject",
        actor: &author.uri,
        to: [&account.uri],
        object: Request {
            id: refused.request_uri.to_owned(),
            kind: type_of(refused.kind),
            actor: &account.uri,
            object: &target.uri,
            instrument: refused.uri,
        },
        result: None,
    };
    post(cx, tx, &author, &account, decision).await
}

/// A local author took back an authorization: its owner is told, and the followers of the author.
pub(super) async fn revoked(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(request) = store::interaction_request::find(&mut *tx, id).await? else { return Ok(()) };
    let author = actor(tx, request.author_id).await?;
    if author.domain.is_some() {
        return Ok(());
    }
    let inboxes = audience(tx, &request).await?;
    let object = urls::authorization(&author.uri, id);
    let activity = Activity {
        context: CONTEXT,
        id: format!("{object}#delete"),
        kind: "Delete",
        actor: &author.uri,
        to: &[PUBLIC.to_owned()],
        object,
    };
    send(cx, tx, Outgoing { urgent: true, ..Outgoing::new(author.id, &activity)? }, inboxes).await
}

/// The inboxes of the account that interacted, and of the followers of the author.
async fn audience(tx: &mut Tx, request: &InteractionRequest) -> Result<Vec<String>> {
    let mut inboxes = store::delivery::follower_inboxes(&mut *tx, request.author_id).await?;
    let account = actor(tx, request.account_id).await?;
    if account.domain.is_some() {
        inboxes.extend(inbox(&account));
    }
    Ok(inboxes)
}

/// Sends `activity` of `sender` to the remote account `receiver`.
async fn post(cx: &Cx, tx: &mut Tx, sender: &ActorRow, receiver: &ActorRow, activity: impl Serialize) -> Result<()> {
    if receiver.domain.is_none() {
        return Ok(());
    }
    let body = WithTerms { context: (CONTEXT, TERMS), activity };
    let outgoing = Outgoing { urgent: true, ..Outgoing::new(sender.id, &body).map_err(Error::internal)? };
    send(cx, tx, outgoing, inbox(receiver)).await
}
