//! Like: a favourite of an account of another server.

use context::Cx;

use super::inbound::Inbound;
use super::refusal::Ignored;
use crate::reading::known;

/// Marks a status that is known here as a favourite.
pub(super) async fn like(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let uri = inbound.object()?.id.as_deref().ok_or(Ignored::Because("no_object"))?;
    inbound.is_not_undone(cx).await?;
    let status = known(cx, uri).await?.ok_or(Ignored::Because("unknown_status"))?;
    match service::remote::interaction::favourite(cx, inbound.sender.id, status).await {
        Err(context::Error::NotFound | context::Error::Forbidden(_)) => Err(Ignored::Because("not_visible")),
        done => Ok(done?),
    }
}
