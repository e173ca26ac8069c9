//! Password reset: mailing a one-time link, and setting a new password with it.
//!
//! Reached from the pages under `/auth/password`. Changing a password that is known is `service::session`.

use crate::oauth::revoke;
use crate::{email, link, rate_limits, session};
use context::Cx;
use context::error::{Result, Validation};
use context::limits::Key;
use context::queue::Subject;
use crypto::Secret;
use database::Tx;
use model::actor::User;
use model::link::LinkKind;
use model::{Account, AccountId};

/// Mails a reset link to the account with the address `email`. The response and its timing do not depend on whether
/// it exists, so that addresses cannot be enumerated.
///
/// # Errors
/// [`Error::RateLimited`](context::error::Error::RateLimited) after too many mails to one address.
#[model::use_case]
pub async fn forgot(cx: &Cx, email: &str) -> Result<()> {
    rate_limits::require(cx, &rate_limits::MAIL, &Key::email(email))?;
    email::request(cx, Subject::Reset, email.trim()).await
}

/// Creates a reset link for `user`, and queues its mail. Does nothing if the account is disabled.
pub(crate) async fn send_link(cx: &Cx, tx: &mut Tx, user: &User) -> Result<()> {
    if user.disabled {
        return Ok(());
    }
    let link = link::create(cx, tx, LinkKind::ResetPassword, Some(user.account_id), None).await?;
    email::queue(cx, tx, user.account_id, Subject::Reset, Some(link)).await
}

/// Sets the password of `account`. Invalidates earlier reset links.
pub(crate) async fn replace(tx: &mut Tx, account: AccountId, hash: &str) -> Result<()> {
    store::user::set_password(tx, account, hash).await?;
    Ok(store::one_time_link::delete_all(tx, LinkKind::ResetPassword, Some(account)).await?)
}

/// The account whose password the link `token` resets; `None` when the link is unknown, used or expired.
#[model::use_case]
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
/// [`Error::Validation`](context::error::Error::Validation) naming `password` or `password_confirmation`.
#[model::use_case]
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
    replace(&mut tx, account, &hash).await?;
    revoke::everything(cx, &mut tx, account).await?;
    tx.commit().await?;
    Ok(true)
}
