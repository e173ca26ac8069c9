//! Forgotten passwords: a letter with a link, by which another is chosen.
//!
//! Reached from the pages under `/auth/password`. Changing a password that is known is `service::session`.

use crate::app::App;
use crate::error::{Result, Validation};
use crate::service::letter::{self, Subject};
use crate::service::limits::{self, Key};
use crate::service::oauth::revoke;
use crate::service::{link, session};
use crypto::Secret;
use model::Account;
use model::link::LinkKind;

/// Sends a link to whoever has the address `email`. Nothing says whether anybody does.
///
/// # Errors
/// [`Error::RateLimited`](crate::error::Error::RateLimited) for too many letters to one address.
pub async fn forgot(app: &App, email: &str) -> Result<()> {
    limits::require(app, &limits::MAIL, &Key::email(email))?;
    let Some(user) = store::user::find_by_email(&app.db, email.trim()).await? else { return Ok(()) };
    if user.disabled {
        return Ok(());
    }
    let mut tx = app.db.begin().await?;
    let link = link::create(app, &mut tx, LinkKind::ResetPassword, Some(user.account_id), None).await?;
    letter::queue(app, &mut tx, user.account_id, Subject::Reset, Some(link)).await?;
    tx.commit().await?;
    Ok(())
}

/// Whose password the link with this `token` changes; `None` for one that does not work (any more).
///
/// # Errors
/// When the database does.
pub async fn whose(app: &App, token: &str) -> Result<Option<Account>> {
    match link::find(app, LinkKind::ResetPassword, token).await?.and_then(|link| link.account_id) {
        Some(account) => Ok(store::account::find(&app.db, account).await?),
        None => Ok(None),
    }
}

/// Gives the person of the link another password, and ends every session and token of theirs. False for a link that does
/// not work (any more).
///
/// # Errors
/// [`Error::Validation`](crate::error::Error::Validation) naming `password` or `password_confirmation`.
pub async fn reset(app: &App, token: &str, new: Secret, confirmation: &Secret) -> Result<bool> {
    let mut faults = Validation::default();
    session::check_password(&new, &mut faults);
    if new != *confirmation {
        faults.add("password_confirmation", "ERR_INVALID", "is not the same");
    }
    faults.check()?;
    // The link is looked up first: hashing costs a processor some time, and anybody may ask.
    if link::find(app, LinkKind::ResetPassword, token).await?.is_none() {
        return Ok(false);
    }
    let hash = crypto::hash_password(new).await?;
    let mut tx = app.db.begin().await?;
    let redeemed = link::redeem(app, &mut tx, LinkKind::ResetPassword, token).await?;
    let Some(account) = redeemed.and_then(|link| link.account_id) else { return Ok(false) };
    store::user::set_password(&mut tx, account, &hash).await?;
    let revoked = revoke::everything(app, &mut tx, account).await?;
    tx.commit().await?;
    revoked.announce(app);
    Ok(true)
}
