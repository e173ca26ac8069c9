//! Confirming e-mail addresses: redeeming the link in the confirmation mail, and resending that mail.
//!
//! Reached from the confirmation page and `/api/v1/emails`. Spec: docs/contract/rules.md#8-oauth-and-sign-up.

use crate::session::{self, Person};
use crate::{email, email_block, link, rate_limits, sign_up};
use context::Cx;
use context::error::{Error, OnUnique, Result, Validation};
use context::limits::Key;
use context::queue::Subject;
use crypto::Secret;
use model::actor::User;
use model::link::LinkKind;
use model::{Account, AccountId, Actor};

/// Confirms the e-mail address behind the link `token` and returns its account; `None` when the link is unknown, used
/// or expired.
///
/// # Errors
/// [`Error::Validation`] when the address was taken by someone else meanwhile.
#[model::use_case]
pub async fn confirm(cx: &Cx, token: &str) -> Result<Option<(Account, User)>> {
    let mut tx = cx.db.begin().await?;
    let Some(link) = link::redeem(cx, &mut tx, LinkKind::ConfirmEmail, token).await? else { return Ok(None) };
    let (Some(account), Some(email)) = (link.account_id, link.email) else { return Ok(None) };
    let before = store::user::find(&mut tx, account).await?;
    store::user::set_email(&mut tx, account, &email, Some(cx.clock.now())).await.on_unique(taken)?;
    // Invalidates reset links that were sent to the previous address.
    store::one_time_link::delete_all(&mut tx, LinkKind::ResetPassword, Some(account)).await?;
    if before.is_some_and(|user| user.confirmed_at.is_none() && user.approved) {
        sign_up::admit(cx, &mut tx, account).await?;
    }
    let (user, account) = (store::user::find(&mut tx, account).await?, store::account::find(&mut tx, account).await?);
    tx.commit().await?;
    Ok(account.zip(user))
}

/// Resends the confirmation mail to `email`. The response and its timing do not depend on whether an account awaits
/// confirmation, so that addresses cannot be enumerated.
///
/// # Errors
/// [`Error::RateLimited`] after too many mails to one address.
#[model::use_case]
pub async fn resend_to(cx: &Cx, email: &str) -> Result<()> {
    require_few(cx, email)?;
    email::request(cx, Subject::Confirm, email).await
}

/// Creates a confirmation link for `user`, and queues its mail, if the address awaits confirmation.
pub(crate) async fn send_link(cx: &Cx, tx: &mut database::Tx, user: &User) -> Result<()> {
    if user.confirmed_at.is_some() {
        return Ok(());
    }
    queue(cx, tx, user.account_id, &user.email).await
}

/// Resends the confirmation mail of `actor`, to `email` if given, which becomes the address of the account on
/// confirmation.
///
/// # Errors
/// [`Error::Forbidden`] when nothing awaits confirmation, or the application is not the one used to sign up,
/// [`Error::Validation`] for an address that is malformed, blocked or taken, [`Error::RateLimited`].
#[model::use_case]
pub async fn resend(cx: &Cx, actor: &Actor, email: Option<&str>) -> Result<()> {
    let user = store::user::find(&cx.db, actor.id).await?.ok_or(Error::NotFound)?;
    if actor.app.is_none() || user.sign_up_app_id != actor.app {
        return Err(Error::forbidden("This method is only for the application that you signed up with"));
    }
    if user.confirmed_at.is_some() && user.unconfirmed_email.is_none() {
        return Err(Error::forbidden("Your e-mail address is confirmed already"));
    }
    rate_limits::require(cx, &rate_limits::MAIL, &Key::Person(actor.id))?;
    let email = email.map(str::trim).filter(|email| *email != user.email);
    match email {
        Some(email) => change(cx, &user, email).await,
        None => send(cx, actor.id, user.unconfirmed_email.as_deref().unwrap_or(&user.email)).await,
    }
}

/// Makes `email` the address of `person` once it is confirmed with the link in a mail to it.
///
/// # Errors
/// [`Error::Validation`] naming `current_password` or `email`, when it is malformed, blocked, taken, or the current
/// address.
/// [`Error::RateLimited`].
#[model::use_case]
pub async fn change_by(cx: &Cx, person: &Person, password: Secret, email: &str) -> Result<()> {
    rate_limits::require(cx, &rate_limits::PASSWORD_CHANGE, &Key::Person(person.account.id))?;
    let mut faults = Validation::default();
    session::check_current(person, password, &mut faults).await?;
    email_block::check_email(email, &mut faults);
    if email.eq_ignore_ascii_case(&person.user.email) {
        faults.add("email", "ERR_TAKEN", "is your address already");
    }
    faults.check()?;
    rate_limits::require(cx, &rate_limits::MAIL, &Key::Person(person.account.id))?;
    change(cx, &person.user, email).await
}

/// True when the e-mail address of `actor` is confirmed.
#[model::use_case]
pub async fn is_confirmed(cx: &Cx, actor: &Actor) -> Result<bool> {
    Ok(store::user::find(&cx.db, actor.id).await?.is_some_and(|user| user.confirmed_at.is_some()))
}

async fn change(cx: &Cx, user: &User, email: &str) -> Result<()> {
    let mut faults = Validation::default();
    email_block::check_email(email, &mut faults);
    let needs_approval = email_block::judge(cx, email).await?.check(&mut faults);
    faults.check()?;
    if store::user::find_by_email(&cx.db, email).await?.is_some_and(|other| other.account_id != user.account_id) {
        return Err(taken());
    }
    require_few(cx, email)?;
    let mut tx = cx.db.begin().await?;
    if user.confirmed_at.is_some() {
        store::user::set_unconfirmed_email(&mut tx, user.account_id, email).await?;
    } else {
        store::user::set_email(&mut tx, user.account_id, email, None).await.on_unique(taken)?;
        if needs_approval && user.invited_by_account_id.is_none() {
            // As if it had signed up with this address.
            store::user::withdraw_approval(&mut tx, user.account_id).await?;
        }
    }
    queue(cx, &mut tx, user.account_id, email).await?;
    tx.commit().await?;
    Ok(())
}

/// Counts a mail to `email` against its limit, for every requester. Addresses without an account have the same limit.
fn require_few(cx: &Cx, email: &str) -> Result<()> {
    rate_limits::require(cx, &rate_limits::MAIL, &Key::email(email))
}

async fn send(cx: &Cx, account: AccountId, email: &str) -> Result<()> {
    require_few(cx, email)?;
    let mut tx = cx.db.begin().await?;
    queue(cx, &mut tx, account, email).await?;
    tx.commit().await?;
    Ok(())
}

async fn queue(cx: &Cx, tx: &mut database::Tx, account: AccountId, email: &str) -> Result<()> {
    let link = link::create(cx, tx, LinkKind::ConfirmEmail, Some(account), Some(email)).await?;
    email::queue(cx, tx, account, Subject::Confirm, Some(link)).await
}

fn taken() -> Error {
    let mut faults = Validation::default();
    faults.add("email", "ERR_TAKEN", "has already been taken");
    Error::Validation(faults)
}
