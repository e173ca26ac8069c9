//! Follow: an account of another server follows one of this server.

use context::Cx;
use service::remote::follow::{self, Answer};
use service::remote::{relay, relevance};

use super::inbound::Inbound;
use super::reason::Reason;
use super::refusal::Ignored;
use crate::address::WrittenNames;
use crate::deliver::{self, Reply};

/// Follows the local account that is the object, and sends an answer that needs no decision by its owner.
pub(super) async fn follow(cx: &Cx, inbound: &Inbound) -> Result<(), Ignored> {
    let target = inbound.object()?.id.as_deref().ok_or(Reason::NoObject)?;
    let sender = inbound.sender.id;
    if target == cx.urls.path("/actor") {
        // Relays of LitePub's kind follow their subscribers.
        let is_relay = relay::is_followed(cx, &inbound.sender.uri).await?;
        return answer(cx, inbound, if is_relay { Reply::Accept } else { Reply::Reject }, None).await;
    }
    let names = WrittenNames::find(cx, std::iter::once(target)).await?;
    let account = relevance::local_account(cx, &names.actor(&cx.urls, target)).await?;
    let account = account.ok_or(Reason::UnknownTarget)?;
    let uri = inbound.id().map(str::to_owned);
    match follow::receive(cx, sender, account.id, uri).await? {
        // The answer was queued with the follow.
        Answer::Accepted | Answer::Requested => Ok(()),
        Answer::AlreadyAccepted => answer(cx, inbound, Reply::Accept, Some(account.id)).await,
        Answer::Rejected => answer(cx, inbound, Reply::Reject, Some(account.id)).await,
    }
}

async fn answer(cx: &Cx, inbound: &Inbound, reply: Reply, target: Option<model::AccountId>) -> Result<(), Ignored> {
    let mut tx = cx.db.begin().await?;
    deliver::answer_follow(cx, &mut tx, reply, target, inbound.sender.id, inbound.id()).await?;
    Ok(tx.commit().await?)
}
