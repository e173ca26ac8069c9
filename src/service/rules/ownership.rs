//! The owners of the server: one who can sign in always stays, whatever happens to the others.

use context::error::{Error, Result};
use database::{Conn, Tx};
use model::staff::OWNER_ROLE;
use model::{Account, RowId};

/// Checks that an owner who can sign in is left when `account` no longer can. To be called before the account is locked,
/// since a change of roles locks those first.
///
/// # Errors
/// [`Error::Forbidden`] for the last one.
pub(crate) async fn keep(tx: &mut Tx, account: &Account) -> Result<()> {
    let role = store::user::find(&mut *tx, account.id).await?.and_then(|user| user.role_id);
    if role != Some(OWNER_ROLE) {
        return Ok(());
    }
    store::role::lock_all(tx).await?;
    require_other(tx, account).await
}

/// As [`keep`], for an owner, with the roles locked.
pub(crate) async fn require_other(tx: &mut Tx, account: &Account) -> Result<()> {
    if store::role::has_other_holder(&mut *tx, RowId::from(OWNER_ROLE), Some(account.id)).await? {
        return Ok(());
    }
    Err(Error::forbidden(format!(
        "@{} is the last owner who can sign in: make another account an owner first",
        account.username
    )))
}

/// Whether the server has an owner who can sign in.
///
/// # Errors
/// When the database fails.
#[model::use_case]
pub async fn exists(db: Conn<'_>) -> Result<bool> {
    Ok(store::role::has_other_holder(db, RowId::from(OWNER_ROLE), None).await?)
}
