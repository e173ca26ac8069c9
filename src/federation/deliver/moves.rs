//! Move: an account of this server moved.

use context::{Cx, Result};
use database::Tx;
use model::{AccountId, RowId};
use serde::Serialize;

use super::activity::{Activity, CONTEXT};
use super::follows::actor;
use super::queue::{Outgoing, send};

/// A move with the account that it leads to.
#[derive(Serialize)]
struct Move<'a> {
    #[serde(flatten)]
    activity: Activity<'a, &'a str>,
    target: &'a str,
}

/// A local account moved: its followers, and accounts that block it, are sent so.
pub(super) async fn moved(cx: &Cx, tx: &mut Tx, account: AccountId, target: AccountId, id: RowId) -> Result<()> {
    let (account, target) = (actor(tx, account).await?, actor(tx, target).await?);
    if account.domain.is_some() {
        return Ok(());
    }
    let mut inboxes = store::delivery::follower_inboxes(&mut *tx, account.id).await?;
    inboxes.extend(store::delivery::blocking_inboxes(&mut *tx, account.id).await?);
    let to = [format!("{}/followers", account.uri)];
    let activity = Activity {
        context: CONTEXT,
        id: format!("{}#moves/{id}", account.uri),
        kind: "Move",
        actor: &account.uri,
        to: &to,
        object: account.uri.as_str(),
    };
    send(cx, tx, Outgoing::new(account.id, &Move { activity, target: &target.uri })?, inboxes).await
}
