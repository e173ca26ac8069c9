//! Password reset: mailing a one-time link, and setting a new password with it.
//!
//! Reached from the pages under `/auth/password`. Changing a password that is known is `service::session`.

use crate::Cx;
use crate::error::{Result, Validation};
use crate::service::email::{self, Subject};
use crate::service::oauth::revoke;
use crate::service::rate_limits::{self, Key};
use crate::service::{link, session};
use crypto::Secret;
use model::Account;
use model::link::LinkKind;

/// Mails a reset link to the account with the address `email`. Returns the same whether or not there is one, so that
/// addresses cannot be enumerated.
///
/// # Errors
/// [`Error::RateLimited`](crate::error::Error::RateLimited) after too many mails to one address.
pub async fn forgot(cx: &Cx, email: &str) -> Result<()> {
    rate_limits::require(cx, &rate_limits::MAIL, &Key::email(email))?;
    let Some(user) = store::user::find_by_email(&cx.db, email.trim()).await? else { return Ok(()) };
    if user.disabled {
        return Ok(());
    }
    let mut tx = cx.db.begin().await?;
    let link = link::create(cx, &mut tx, LinkKind::ResetPassword, Some(user.account_id), None).await?;
    email::queue(cx, &mut tx, user.account_id, Subject::Reset, Some(link)).await?;
    tx.commit().await?;
    Ok(())
}

/// The account whose password the link `token` resets; `None` when the link is unknown, used or expired.
pub async fn whose(cx: &Cx, token: &str) -> Result<Option<Account>> {
    match link::find(cx, LinkKind::ResetPassword, token).await?.and_then(|link| link.account_id) {
        Some(account) => Ok(store::account::find(&cx.db, account).await?),
        None => Ok(None),
    }
}

/// Sets a new password for the account of the link, and ends all its sessions and tokens. False when the link is
/// unknown, used or expired.
///
/// # Errors
/// [`Error::Validation`](crate::error::Error::Validation) naming `password` or `password_confirmation`.
pub async fn reset(cx: &Cx, token: &str, new: Secret, confirmation: &Secret) -> Result<bool> {
    let mut faults = Validation::default();
    session::check_password(&new, &mut faults);
    if new != *confirmation {
        faults.add("password_confirmation", "ERR_INVALID", "is not the same");
    }
    faults.check()?;
    // The link is looked up first: hashing a password costs CPU time, and anyone may send this request.
    if link::find(cx, LinkKind::ResetPassword, token).await?.is_none() {
        return Ok(false);
    }
    let hash = crypto::hash_password(new).await?;
    let mut tx = cx.db.begin().await?;
    let redeemed = link::redeem(cx, &mut tx, LinkKind::ResetPassword, token).await?;
    let Some(account) = redeemed.and_then(|link| link.account_id) else { return Ok(false) };
    store::user::set_password(&mut tx, account, &hash).await?;
    revoke::everything(cx, &mut tx, account).await?;
    tx.commit().await?;
    Ok(true)
}
