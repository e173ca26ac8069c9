//! Like: a favourite of an account of another server.

use context::Cx;
use model::InteractionKind;
use service::remote::consent;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::reading::known;

/// Marks a status that is known here as a favourite.
pub(super) async fn like(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let uri = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    inbound.is_not_undone(cx).await?;
    if service::remote::rejects_favourites(cx, inbound.sender.id).await? {
        return Err(Reason::FavouritesRejected.into());
    }
    let status = known(cx, uri).await?.ok_or(Reason::UnknownStatus)?;
    match service::remote::interaction::favourite(cx, inbound.sender.id, status, inbound.id()).await {
        Err(context::Error::NotFound) => Err(Reason::NotVisible.into()),
        Err(context::Error::Forbidden(_)) => {
            let (kind, uri) = (InteractionKind::Favourite, inbound.id().ok_or(Reason::NotVisible)?);
            consent::refuse(cx, kind, status, inbound.sender.id, uri, None).await?;
            Err(Reason::NotAllowed.into())
        }
        done => Ok(done?),
    }
}
