//! Like: a favourite of an account of another server.

use context::Cx;
use model::StatusId;

use super::process::Inbound;
use super::refusal::Ignored;

/// Marks a status that is known here as a favourite.
pub(super) async fn like(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let uri = inbound.object()?.id.as_deref().ok_or(Ignored::Because("no_object"))?;
    let status = known(cx, uri).await?.ok_or(Ignored::Because("unknown_status"))?;
    match service::remote::interaction::favourite(cx, inbound.sender.id, status).await {
        Err(context::Error::NotFound | context::Error::Forbidden(_)) => Err(Ignored::Because("not_visible")),
        done => Ok(done?),
    }
}

/// The status `uri`, of this server or another, if it is known here.
pub(super) async fn known(cx: &Cx, uri: &str) -> Result<Option<StatusId>, Ignored> {
    match service::public::local_status(cx, uri).await? {
        Some(status) => Ok(Some(status)),
        None => Ok(store::status::find_by_uri(&cx.db, uri).await?),
    }
}
