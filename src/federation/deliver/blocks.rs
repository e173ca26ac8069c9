//! Activities about blocks of remote accounts by local ones.

use context::{Cx, Result};
use database::Tx;
use model::{AccountId, RowId};

use super::activity::{Activity, CONTEXT, Inner};
use super::follows::{actor, inbox};
use super::queue::{Outgoing, send};

/// A local account blocked a remote one.
pub(super) async fn blocked(cx: &Cx, tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    let (account, target) = (actor(tx, account).await?, actor(tx, target).await?);
    let row = store::relationship::find_block(&mut *tx, account.id, target.id).await?;
    let Some(row) = row.filter(|_| account.domain.is_none() && target.domain.is_some()) else { return Ok(()) };
    let id = format!("{}#blocks/{row}", account.uri);
    let object = target.uri.as_str();
    let block = Activity { context: CONTEXT, id, kind: "Block", actor: &account.uri, to: &[], object };
    send(cx, tx, Outgoing::new(account.id, &block)?, inbox(&target)).await
}

/// A local account no longer blocks a remote one.
pub(super) async fn unblocked(cx: &Cx, tx: &mut Tx, account: AccountId, target: AccountId, block: RowId) -> Result<()> {
    let (account, target) = (actor(tx, account).await?, actor(tx, target).await?);
    if account.domain.is_some() || target.domain.is_none() {
        return Ok(());
    }
    let id = format!("{}#blocks/{block}", account.uri);
    let object = Inner { id: &id, kind: "Block", actor: &account.uri, object: &target.uri };
    let undo =
        Activity { context: CONTEXT, id: format!("{id}/undo"), kind: "Undo", actor: &account.uri, to: &[], object };
    send(cx, tx, Outgoing::new(account.id, &undo)?, inbox(&target)).await
}
