//! Accounts of other servers that move, to any server.
//!
//! `federation` fetched the target again, so what is stored about it is what its server says now.
//!
//! Spec: docs/contract/federation.md#7-accepting-activities

use chrono::TimeDelta;

use crate::account::moving;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::AccountId;

/// Time between two moves of an account that are followed.
const PAUSE: TimeDelta = TimeDelta::days(7);

/// Why people here do not follow a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMoved {
    /// The target is the account itself, moved too, or is suspended.
    Target,
    /// The target does not name the account as an alias.
    Alias,
    /// The account moved less than seven days ago.
    Recently,
}

/// The account `sender` moved to `target`: its followers here follow the target.
///
/// # Errors
/// [`Error::NotFound`] when one of them is gone.
#[model::use_case]
pub async fn receive(cx: &Cx, sender: AccountId, target: AccountId) -> Result<Result<(), NotMoved>> {
    if sender == target {
        return Ok(Err(NotMoved::Target));
    }
    let mut tx = cx.db.begin().await?;
    let both = store::account::lock(&mut tx, &[sender, target]).await?;
    let one = |id| both.iter().find(|account| account.id == id).ok_or(Error::NotFound);
    let (sender, target) = (one(sender)?, one(target)?);
    if target.is_suspended() || target.moved_to_account_id.is_some() {
        return Ok(Err(NotMoved::Target));
    }
    if !store::moving::list_aliases(&mut tx, target.id).await?.contains(&sender.uri) {
        return Ok(Err(NotMoved::Alias));
    }
    if store::moving::last(&mut tx, sender.id).await?.is_some_and(|last| last.created_at + PAUSE > cx.clock.now()) {
        return Ok(Err(NotMoved::Recently));
    }
    moving::begin(cx, &mut tx, sender, target.id).await?;
    change::record(cx, &mut tx, Change::AccountUpdated { account: sender.id }).await?;
    tx.commit().await?;
    Ok(Ok(()))
}
