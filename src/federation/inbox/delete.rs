//! Delete: of a status, of the authorization of an interaction, or of the sender.

use context::{Cx, Error};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::floods::{Flood, domain_of};
use crate::state::Network;

/// Deletes a status of the sender, also one that is not here yet; an authorization by the sender; or the sender's account.
pub(super) async fn delete(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let id = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    if id == inbound.sender.uri {
        return Ok(service::removal::remove_remote(cx, inbound.sender.id).await?);
    }
    if !crate::address::same_host(id, &inbound.sender.uri) {
        return Err(Reason::ForeignObject.into());
    }
    if service::remote::consent::revoked(cx, inbound.sender.id, id).await? {
        return Ok(());
    }
    if store::remote::find_account(&cx.db, id).await?.is_some() {
        return Err(Reason::NotTheAuthor.into());
    }
    // Others are remembered, in case they come later: not any number of them.
    let domain = domain_of(&inbound.sender.uri);
    if store::remote::find_status(&cx.db, id).await?.is_none()
        && !Network::of(cx)?.floods.admit(Flood::Deletions, &domain, cx.clock.now())
    {
        return Err(Reason::TooManyDeletions.into());
    }
    match service::remote::status::delete(cx, inbound.sender.id, id).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Reason::UnknownStatus.into()),
        Err(Error::Forbidden(_)) => Err(Reason::NotTheAuthor.into()),
        Err(error) => Err(error.into()),
    }
}
