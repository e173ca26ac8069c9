//! Blocks of local accounts by accounts of other servers.

use crate::relationship;
use context::Cx;
use context::error::Result;
use model::AccountId;

/// The remote account `account` blocks `target`: follows end both ways, and neither sees the other any more. `uri`: the
/// activity.
///
/// # Errors
/// [`Error::NotFound`](context::Error::NotFound) when one of them is gone or suspended.
#[model::use_case]
pub async fn begin(cx: &Cx, account: AccountId, target: AccountId, uri: Option<&str>) -> Result<()> {
    let actor = super::actor(cx, account).await?;
    relationship::block(cx, &actor, target).await?;
    if let Some(uri) = uri {
        let mut tx = cx.db.begin().await?;
        store::relationship::set_block_uri(&mut tx, account, target, uri).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Ends the block of `target` by the remote account `account`; not an error when there is none.
///
/// # Errors
/// As [`begin`].
#[model::use_case]
pub async fn end(cx: &Cx, account: AccountId, target: AccountId) -> Result<()> {
    let actor = super::actor(cx, account).await?;
    relationship::unblock(cx, &actor, target).await
}
