//! Activities about follows: the request, its response, and its end.

use context::queue::{self, FillAccount};
use context::{Cx, Error, Result};
use database::Tx;
use model::{AccountId, RowId};
use serde::Serialize;
use store::remote::ActorRow;

use super::activity::{Activity, CONTEXT};
use super::queue::{Outgoing, is_local, send};
use crate::identity;

/// A response to a follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Accept,
    Reject,
}

#[derive(Serialize)]
#[serde(tag = "type")]
struct Follow<'a> {
    id: String,
    actor: &'a str,
    object: &'a str,
}

/// A follow as it is sent itself.
#[derive(Serialize)]
struct SentFollow<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(flatten)]
    follow: Follow<'a>,
}

/// A new follow: of a local account by a remote one, which was accepted; or of a remote account by a local one, whose
/// statuses are fetched.
pub(super) async fn followed(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<()> {
    if is_local(cx, tx, follower).await? {
        if !is_local(cx, tx, target).await? {
            queue::enqueue(cx, tx, &FillAccount { account: target, follower }).await?;
        }
        return Ok(());
    }
    let follow = store::remote::find_follow(&mut *tx, follower, target).await?;
    let uri = follow.and_then(|follow| follow.uri);
    answer_follow(cx, tx, Reply::Accept, Some(target), follower, uri.as_deref()).await
}

/// Sends a response to the follow `uri` of `target`, a local account or the server, by the remote account `follower`.
pub async fn answer_follow(
    cx: &Cx,
    tx: &mut Tx,
    reply: Reply,
    target: Option<AccountId>,
    follower: AccountId,
    uri: Option<&str>,
) -> Result<()> {
    let follower = actor(tx, follower).await?;
    let (signer, target) = match target {
        Some(target) => (target, actor(tx, target).await?.uri),
        None => (AccountId::from(identity::SERVER), cx.urls.path("/actor")),
    };
    let (kind, fragment) = match reply {
        Reply::Accept => ("Accept", "accepts"),
        Reply::Reject => ("Reject", "rejects"),
    };
    let row = store::remote::find_follow(&mut *tx, follower.id, signer).await?;
    let id = row.map_or_else(|| cx.ids.next::<RowId>(), |row| row.id);
    let follow = Follow {
        id: uri.map_or_else(|| format!("{}#follows/{id}", follower.uri), str::to_owned),
        actor: &follower.uri,
        object: &target,
    };
    // A follow that is sent again is answered again.
    let id = format!("{target}#{fragment}/follows/{id}/{}", cx.ids.next::<RowId>());
    let response = Activity { context: CONTEXT, id, kind, actor: &target, to: &[], object: follow };
    send(cx, tx, Outgoing::new(signer, &response)?, inbox(&follower)).await
}

/// A local account requested to follow a remote one.
pub(super) async fn requested(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<()> {
    let (follower, target) = (actor(tx, follower).await?, actor(tx, target).await?);
    if target.domain.is_none() || follower.domain.is_some() {
        return Ok(());
    }
    let row = store::remote::find_follow(&mut *tx, follower.id, target.id).await?.ok_or(Error::NotFound)?;
    let id = follow_id(&follower, row.id);
    // The row of the follow has another id: what undoes it names the activity that was sent.
    store::follow::set_uri(tx, follower.id, target.id, &id).await?;
    let follow = Follow { id, actor: &follower.uri, object: &target.uri };
    let sent = SentFollow { context: CONTEXT, follow };
    let outgoing = Outgoing { urgent: true, ..Outgoing::new(follower.id, &sent)? };
    send(cx, tx, outgoing, inbox(&target)).await
}

/// A follow ended here: undone by a local follower, or refused by a local target.
pub(super) async fn ended(
    cx: &Cx,
    tx: &mut Tx,
    follower: AccountId,
    target: AccountId,
    follow: RowId,
    uri: Option<&str>,
) -> Result<()> {
    let (follower, target) = (actor(tx, follower).await?, actor(tx, target).await?);
    let (kind, sender, receiver, id) = match (&follower.domain, &target.domain) {
        (None, Some(_)) => ("Undo", &follower, &target, format!("{}/undo", follow_id(&follower, follow))),
        (Some(_), None) => ("Reject", &target, &follower, format!("{}#rejects/follows/{follow}", target.uri)),
        (None, None) | (Some(_), Some(_)) => return Ok(()),
    };
    let object = Follow {
        id: uri.map_or_else(|| follow_id(&follower, follow), str::to_owned),
        actor: &follower.uri,
        object: &target.uri,
    };
    let sent = Activity { context: CONTEXT, id, kind, actor: &sender.uri, to: &[], object };
    send(cx, tx, Outgoing::new(sender.id, &sent)?, inbox(receiver)).await
}

/// Takes back a follow of the remote account `target` by the local account `follower` of which only the other server knows;
/// does nothing when there is one, or a request.
pub(crate) async fn not_following(cx: &Cx, tx: &mut Tx, follower: AccountId, target: AccountId) -> Result<bool> {
    if store::remote::find_follow(&mut *tx, follower, target).await?.is_some() {
        return Ok(false);
    }
    ended(cx, tx, follower, target, cx.ids.next(), None).await?;
    Ok(true)
}

fn follow_id(follower: &ActorRow, row: RowId) -> String {
    format!("{}#follows/{row}", follower.uri)
}

/// The inbox of one account: its own, since the response is for it.
pub(super) fn inbox(actor: &ActorRow) -> Vec<String> {
    actor.inbox_url.iter().cloned().collect()
}

pub(super) async fn actor(tx: &mut Tx, id: AccountId) -> Result<ActorRow> {
    store::remote::get_actor(&mut *tx, id).await?.ok_or(Error::NotFound)
}
