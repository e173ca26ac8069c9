//! Activities about the pinned statuses of local accounts.

use context::{Cx, Result};
use database::Tx;
use entity::activity::PUBLIC;
use model::{AccountId, StatusId};
use serde::Serialize;

use super::activity::CONTEXT;
use super::follows::actor;
use super::queue::{Outgoing, is_local, send};

/// A change of a collection.
#[derive(Serialize)]
struct Change<'a> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    to: [&'static str; 1],
    object: &'a str,
    target: String,
}

/// A status was added to (`kind`: `Add`) or removed from (`Remove`) the pinned statuses of an account.
pub(super) async fn changed(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    status: StatusId,
    kind: &'static str,
) -> Result<()> {
    if !is_local(cx, tx, account).await? {
        return Ok(());
    }
    // Others are not in the collection as others read it.
    let Some(status) = store::status::find(&mut *tx, status).await?.filter(|status| status.visibility.is_anonymous())
    else {
        return Ok(());
    };
    let inboxes = store::delivery::follower_inboxes(&mut *tx, account).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let account = actor(tx, account).await?;
    let change = Change {
        context: CONTEXT,
        kind,
        actor: &account.uri,
        to: [PUBLIC],
        object: &status.uri,
        target: format!("{}/collections/featured", account.uri),
    };
    send(cx, tx, Outgoing::new(account.id, &change)?, inboxes).await
}
