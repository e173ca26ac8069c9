//! Move: an account of another server moved.

use context::Cx;
use service::remote::moving::{self, NotMoved};
use service::remote::relevance;

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::fetch;

/// The followers here of the sender, who is the object, follow the target. The target is fetched again, whatever is known
/// of it: it must name the sender now.
pub(super) async fn moved(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let sender = &inbound.sender;
    if inbound.object()?.id.as_deref() != Some(sender.uri.as_str()) {
        return Err(Reason::NotTheActor.into());
    }
    let target = inbound.activity.target.as_ref().map(|id| id.0.as_str()).ok_or(Reason::NoTarget)?;
    if target == sender.uri {
        return Err(Reason::NotMovable.into());
    }
    let target = match relevance::local_account(cx, target).await? {
        Some(local) => local.id,
        None => fetch::account::fetch(cx, target, None).await?.id,
    };
    match moving::receive(cx, sender.id, target).await? {
        Ok(()) => Ok(()),
        Err(NotMoved::Target) => Err(Reason::NotMovable.into()),
        Err(NotMoved::Alias) => Err(Reason::NotAnAlias.into()),
        Err(NotMoved::Recently) => Err(Reason::MovedRecently.into()),
    }
}
