//! Requests to interact with statuses of this server, and what authors of other servers decide about requests of this one.
//!
//! Spec: docs/contract/federation.md#15-who-may-interact

use context::{Cx, Error};
use model::{InteractionKind, RowId};
use service::remote::consent::{self, Answer, RemoteRequest};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::same_host;
use crate::deliver::{self, Refused};
use crate::floods::{Flood, domain_of};
use crate::state::Network;

/// Decides about the quote that is the instrument, or lets the author of the object decide.
pub(super) async fn quote(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    request(cx, inbound, InteractionKind::Quote).await
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
        Ok(Answer::Recorded) => Ok(()),
        Ok(Answer::Refused) => {
            let mut tx = cx.db.begin().await?;
            let refused = Refused { kind, target, account: inbound.sender.id, uri: instrument, request_uri: id };
            deliver::refuse(cx, &mut tx, refused).await?;
            Ok(tx.commit().await?)
        }
        Err(Error::NotFound) => Err(Reason::NotVisible.into()),
        Err(Error::Forbidden(_)) => Err(Reason::NotTheAuthor.into()),
        Err(error) => Err(error.into()),
    }
}

/// True when the object of an Accept (`accepted`) or Reject is a request by an account of this server, which is decided.
pub(super) async fn decided(cx: &Cx, inbound: &Inbound, accepted: bool) -> Result<bool, Ignored> {
    let Some(request) = inbound.object()?.id.as_deref().and_then(|id| of_this_server(cx, id)) else { return Ok(false) };
    let result = inbound.activity.result.as_ref().map(|result| result.0.as_str());
    let result = result.filter(|result| same_host(result, &inbound.sender.uri));
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
