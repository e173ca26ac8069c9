//! Requests to interact, the decisions about them, and authorizations that are taken back.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use context::json::Fragment;
use context::queue::{self, Distribute, Distribution};
use context::{Cx, Result};
use database::Tx;
use entity::activity::PUBLIC;
use model::interaction::{InteractionKind, RequestState};
use model::{AccountId, RowId, StatusId, urls};
use serde::Serialize;
use service::status::decision::{self, Parties};
use store::remote::ActorRow;

use super::activity::{Activity, CONTEXT};
use super::follows::{actor, inbox};
use super::queue::{Outgoing, send};
use crate::documents::with_context;

/// A request to interact.
#[derive(Serialize)]
struct Request<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    object: &'a str,
    instrument: Instrument<'a>,
}

/// What the sender asks to do.
#[derive(Serialize)]
#[serde(untagged)]
enum Instrument<'a> {
    Uri(&'a str),
    /// A Like or an Announce, of which there is no document yet.
    Activity {
        id: &'a str,
        #[serde(rename = "type")]
        kind: &'static str,
        actor: &'a str,
        object: &'a str,
        to: [&'a str; 1],
    },
}

/// What a decision is about: a request, or an interaction that came without one.
#[derive(Serialize)]
#[serde(untagged)]
enum About<'a> {
    Request(Request<'a>),
    Interaction(&'a str),
}

/// The decision about a request.
#[derive(Serialize)]
struct Decision<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    to: [&'a str; 1],
    object: About<'a>,
    /// The authorization.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<String>,
}

fn type_of(kind: InteractionKind) -> &'static str {
    match kind {
        InteractionKind::Quote => "QuoteRequest",
        InteractionKind::Reply => "ReplyRequest",
        InteractionKind::Favourite => "LikeRequest",
        InteractionKind::Reblog => "AnnounceRequest",
    }
}

fn about<'a>(
    kind: InteractionKind,
    request: Option<&str>,
    actor: &'a str,
    object: &'a str,
    interaction: &'a str,
) -> About<'a> {
    match request {
        Some(id) => About::Request(Request {
            id: id.to_owned(),
            kind: type_of(kind),
            actor,
            object,
            instrument: Instrument::Uri(interaction),
        }),
        None => About::Interaction(interaction),
    }
}

/// A local account requests to interact with a remote status.
pub(super) async fn requested(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(Parties { request, target, account, author }) = decision::find_parties(tx, id).await? else {
        return Ok(());
    };
    if account.domain.is_some() || author.domain.is_none() {
        return Ok(());
    }
    let kind = match request.kind {
        // They are rendered with the note.
        InteractionKind::Quote | InteractionKind::Reply => {
            return queue::enqueue(cx, tx, &Distribute { what: Distribution::Requested(id) }).await;
        }
        InteractionKind::Favourite => "Like",
        InteractionKind::Reblog => "Announce",
    };
    let (actor, object) = (account.uri.as_str(), target.as_str());
    let activity = Request {
        id: urls::request(&account.uri, id),
        kind: type_of(request.kind),
        actor,
        object,
        instrument: Instrument::Activity { id: &request.uri, kind, actor, object, to: [&author.uri] },
    };
    post(cx, tx, &account, &author, &activity).await
}

/// A local author decided about an interaction: a remote account that requested it is sent the decision.
pub(super) async fn decided(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(Parties { request, target, account, author }) = decision::find_parties(tx, id).await? else {
        return Ok(());
    };
    if author.domain.is_some() || (request.request_uri.is_none() && request.kind == InteractionKind::Quote) {
        return Ok(());
    }
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
        object: about(request.kind, request.request_uri.as_deref(), &account.uri, &target, &request.uri),
        result: accepted.then(|| urls::authorization(&author.uri, id)),
    };
    post(cx, tx, &author, &account, &decision).await
}

/// A policy forbade the interaction `uri` of a remote account with a local status: its server is told. `request`: the
/// activity that requested it.
pub(super) async fn refused(
    cx: &Cx,
    tx: &mut Tx,
    kind: InteractionKind,
    sides: (StatusId, AccountId),
    uri: &str,
    request: Option<&str>,
) -> Result<()> {
    let (target, account) = sides;
    let Some((target, author)) = decision::find_target(tx, target).await? else { return Ok(()) };
    let account = actor(tx, account).await?;
    if author.domain.is_some() {
        return Ok(());
    }
    let decision = Decision {
        id: format!("{}#rejects/requests/{}", author.uri, cx.ids.next::<RowId>()),
        kind: "Reject",
        actor: &author.uri,
        to: [&account.uri],
        object: about(kind, request, &account.uri, &target, uri),
        result: None,
    };
    post(cx, tx, &author, &account, &decision).await
}

/// A local author took back an authorization: its owner is told, and the followers of the author.
pub(super) async fn revoked(cx: &Cx, tx: &mut Tx, id: RowId) -> Result<()> {
    let Some(Parties { account, author, .. }) = decision::find_parties(tx, id).await? else { return Ok(()) };
    if author.domain.is_some() {
        return Ok(());
    }
    let mut inboxes = decision::follower_inboxes(tx, author.id).await?;
    if account.domain.is_some() {
        inboxes.extend(inbox(&account));
    }
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

/// Sends `activity` of `sender` to the remote account `receiver`.
async fn post(cx: &Cx, tx: &mut Tx, sender: &ActorRow, receiver: &ActorRow, activity: &impl Serialize) -> Result<()> {
    if receiver.domain.is_none() {
        return Ok(());
    }
    let body = with_context(&Fragment::of(activity)?);
    let outgoing = Outgoing { signer: sender.id, private_key: None, body, urgent: true };
    send(cx, tx, outgoing, inbox(receiver)).await
}
