//! Requests to interact with statuses of this server, and what authors of other servers decide about requests of this one.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use context::{Cx, Error};
use model::{InteractionKind, RowId};
use service::remote::consent::{self, Outcome, RemoteRequest};

use super::create;
use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::same_host;
use crate::fetch;
use crate::floods::{Flood, domain_of};
use crate::state::Network;
use crate::vocabulary::Note;

/// Decides about the quote that is the instrument, or lets the author of the object decide.
pub(super) async fn quote(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    request(cx, inbound, InteractionKind::Quote).await
}

/// As [`quote`], for a favourite: it counts once it is accepted.
pub(super) async fn like(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    if service::remote::rejects_favourites(cx, inbound.sender.id).await? {
        return Err(Reason::FavouritesRejected.into());
    }
    request(cx, inbound, InteractionKind::Favourite).await
}

/// As [`quote`], for a reblog, which is sent once it is accepted.
pub(super) async fn announce(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    request(cx, inbound, InteractionKind::Reblog).await
}

/// As [`quote`], for a reply, which comes with its request.
pub(super) async fn reply(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    request(cx, inbound, InteractionKind::Reply).await?;
    let instrument = inbound.activity.instrument.as_ref().ok_or(Reason::NoObject)?;
    let note: Option<Note> = instrument.read();
    let note = match (note, instrument.id.as_deref()) {
        (Some(note), _) => note,
        (None, Some(id)) => fetch::note_document(cx, id).await?,
        (None, None) => return Err(Reason::NoObject.into()),
    };
    create::store(cx, inbound, &note, true).await
}

async fn request(cx: &Cx, inbound: &Inbound, kind: InteractionKind) -> Result<(), Ignored> {
    let id = inbound.id().ok_or(Reason::ForeignId)?;
    inbound.is_not_undone(cx).await?;
    let object = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    let instrument = inbound.activity.instrument.as_ref().and_then(|instrument| instrument.id.as_deref());
    let instrument = instrument.ok_or(Reason::NoObject)?;
    if !same_host(instrument, &inbound.sender.uri) {
        return Err(Reason::ForeignObject.into());
    }
    let target = service::public::local_status(cx, object).await?.ok_or(Reason::UnknownStatus)?;
    let domain = domain_of(&inbound.sender.uri);
    if !Network::of(cx)?.floods.admit(Flood::Requests, &domain, cx.clock.now()) {
        return Err(Reason::TooManyRequests.into());
    }
    let new = RemoteRequest {
        kind,
        account: inbound.sender.id,
        target,
        uri: instrument.to_owned(),
        request_uri: id.to_owned(),
    };
    match consent::request(cx, new).await {
        Ok(Outcome::Recorded) => Ok(()),
        Ok(Outcome::Refused) => {
            consent::refuse(cx, kind, target, inbound.sender.id, instrument, Some(id)).await?;
            Err(Reason::NotAllowed.into())
        }
        Err(Error::NotFound) => Err(Reason::NotVisible.into()),
        Err(Error::Forbidden(_)) => Err(Reason::NotTheAuthor.into()),
        Err(error) => Err(error.into()),
    }
}

/// True when the object of an Accept (`accepted`) or Reject is a request by an account of this server, which is decided.
pub(super) async fn decided(cx: &Cx, inbound: &Inbound, accepted: bool) -> Result<bool, Ignored> {
    let Some(id) = inbound.object()?.id.as_deref() else { return Ok(false) };
    let result = inbound.activity.result.as_ref().map(|result| result.0.as_str());
    let result = result.filter(|result| same_host(result, &inbound.sender.uri));
    let Some(request) = of_this_server(cx, id) else {
        return Ok(consent::decided_unasked(cx, inbound.sender.id, id, accepted, result).await?);
    };
    match consent::decided(cx, inbound.sender.id, request, accepted, result).await? {
        true => Ok(true),
        false => Err(Reason::NotRequested.into()),
    }
}

/// The request of this server with the id `uri`.
fn of_this_server(cx: &Cx, uri: &str) -> Option<RowId> {
    let (actor, id) = uri.split_once("#requests/")?;
    cx.urls.owner(actor)?;
    id.parse().ok()
}
