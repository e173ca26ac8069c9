//! Activities about what local accounts feature: pinned statuses, and hashtags.

use context::json::Fragment;
use context::{Cx, Result};
use database::Tx;
use entity::activity::{FeaturedHashtag, PUBLIC};
use model::{AccountId, RowId, StatusId};
use serde::Serialize;

use super::follows::actor;
use super::queue::{Outgoing, is_local, send};
use crate::documents::with_context;

/// A change of a collection.
#[derive(Serialize)]
struct Change<'a, T> {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    actor: &'a str,
    to: [&'static str; 1],
    object: T,
    target: String,
}

/// A status was `added` to the pinned statuses of an account, or removed from them.
pub(super) async fn changed(cx: &Cx, tx: &mut Tx, account: AccountId, status: StatusId, added: bool) -> Result<()> {
    // Others are not in the collection as others read it.
    let status = store::status::find(&mut *tx, status).await?;
    let Some(status) = status.filter(|status| status.visibility.is_anonymous() && !status.local_only) else {
        return Ok(());
    };
    send_change(cx, tx, account, added, status.uri.as_str()).await
}

/// The hashtag `name` was `added` to the featured hashtags of an account, or removed from them.
pub(super) async fn hashtag_changed(cx: &Cx, tx: &mut Tx, account: AccountId, name: &str, added: bool) -> Result<()> {
    send_change(cx, tx, account, added, FeaturedHashtag::new(&cx.urls, name)).await
}

/// Sends the followers of a local account that `object` was `added` or removed. Both kinds of objects have the same target
/// (docs/contract/federation.md#activities-sent).
async fn send_change<T: Serialize + Send>(
    cx: &Cx,
    tx: &mut Tx,
    account: AccountId,
    added: bool,
    object: T,
) -> Result<()> {
    if !is_local(cx, tx, account).await? {
        return Ok(());
    }
    let inboxes = store::delivery::follower_inboxes(&mut *tx, account).await?;
    if inboxes.is_empty() {
        return Ok(());
    }
    let account = actor(tx, account).await?;
    let target = format!("{}/collections/featured", account.uri);
    let id = format!("{}#featured/{}", account.uri, cx.ids.next::<RowId>());
    let kind = if added { "Add" } else { "Remove" };
    let change = Fragment::of(&Change { id, kind, actor: &account.uri, to: [PUBLIC], object, target })?;
    let outgoing = Outgoing { signer: account.id, private_key: None, body: with_context(&change), urgent: false };
    send(cx, tx, outgoing, inboxes).await
}
