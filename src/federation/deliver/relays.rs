//! Relays: the follow by the server's actor, and public statuses of this server.
//!
//! A relay of Mastodon's kind receives the activities of authors. To one of LitePub's kind the server's actor announces a new
//! status; edits and deletions are the author's.
//!
//! Spec: docs/contract/federation.md#13-relays

use context::federation::RelayFollow;
use context::{Cx, Result};
use database::Tx;
use entity::activity::PUBLIC;
use model::relay::RelayKind;
use model::{Account, AccountId, Status, Visibility};
use serde::Serialize;

use super::activity::{Activity, CONTEXT, Inner};
use super::queue::{Outgoing, send};
use crate::identity;

#[derive(Serialize)]
struct Announce<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    published: String,
    to: [&'static str; 1],
    cc: [&'a str; 1],
    object: &'a str,
}

/// Queues the follow of a relay, or its undoing.
pub async fn follow_relay(cx: &Cx, tx: &mut Tx, follow: RelayFollow) -> Result<()> {
    let RelayFollow { id, object, inbox, undone } = follow;
    let (actor, signer) = (cx.urls.path("/actor"), AccountId::from(identity::SERVER));
    let outgoing = if undone {
        let object = Inner { id: &id, kind: "Follow", actor: &actor, object: &object };
        let undo =
            Activity { context: CONTEXT, id: format!("{id}/undo"), kind: "Undo", actor: &actor, to: &[], object };
        Outgoing::new(signer, &undo)?
    } else {
        let follow = Activity { context: CONTEXT, id, kind: "Follow", actor: &actor, to: &[], object: object.as_str() };
        Outgoing { urgent: true, ..Outgoing::new(signer, &follow)? }
    };
    send(cx, tx, outgoing, vec![inbox]).await
}

/// The inboxes of relays that accepted, of `kind` or of both kinds, if `status` is passed on by relays: a public one that is
/// no reblog.
pub(super) async fn inboxes(cx: &Cx, tx: &mut Tx, status: &Status, kind: Option<RelayKind>) -> Result<Vec<String>> {
    let is_relayed = status.visibility == Visibility::Public && status.reblog_of_id.is_none() && status.local;
    if !is_relayed || cx.config.access.limited_federation {
        return Ok(Vec::new());
    }
    let relays = store::relay::list_accepted(&mut *tx).await?;
    let relays = relays.into_iter().filter(|relay| kind.is_none_or(|kind| kind == relay.kind));
    Ok(relays.map(|relay| relay.inbox_url).collect())
}

/// Queues the announcement of `status` by the server's actor.
pub(super) async fn announce(
    cx: &Cx,
    tx: &mut Tx,
    author: &Account,
    status: &Status,
    inboxes: Vec<String>,
) -> Result<()> {
    if inboxes.is_empty() {
        return Ok(());
    }
    let actor = cx.urls.path("/actor");
    let announce = Announce {
        context: CONTEXT,
        id: format!("{actor}#announces/{}", status.id),
        kind: "Announce",
        actor: &actor,
        published: status.created_at.to_api(),
        to: [PUBLIC],
        cc: [&author.uri],
        object: &status.uri,
    };
    send(cx, tx, Outgoing::new(AccountId::from(identity::SERVER), &announce)?, inboxes).await
}
