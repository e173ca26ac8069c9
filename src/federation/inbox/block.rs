//! Block: an account of another server blocks one of this server.

use context::{Cx, Error};
use model::AccountId;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;

/// The sender blocks the local account that is the object.
pub(super) async fn block(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    inbound.is_not_undone(cx).await?;
    let target = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    let target = local(cx, target).await?;
    known(service::remote::block::begin(cx, inbound.sender.id, target, inbound.id()).await)
}

/// The sender no longer blocks `target`.
pub(super) async fn unblock(cx: &Cx, inbound: &Inbound, target: &str) -> Result<(), Ignored> {
    let target = local(cx, target).await?;
    known(service::remote::block::end(cx, inbound.sender.id, target).await)
}

async fn local(cx: &Cx, uri: &str) -> Result<AccountId, Ignored> {
    let account = service::remote::relevance::local_account(cx, uri).await?;
    Ok(account.ok_or(Reason::UnknownTarget)?.id)
}

fn known(done: context::Result<()>) -> Result<(), Ignored> {
    match done {
        Err(Error::NotFound) => Err(Reason::UnknownTarget.into()),
        done => Ok(done?),
    }
}
