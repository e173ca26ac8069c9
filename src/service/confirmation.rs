//! Confirming e-mail addresses: the link in a letter, and having the letter sent again.
//!
//! Reached from the confirmation page and `/api/v1/emails`. Contract: rules, section 8.

use crate::app::App;
use crate::error::{Error, OnUnique, Result, Validation};
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::letter::{self, Subject};
use crate::service::limits::{self, Key};
use crate::service::{link, sign_up};
use model::actor::User;
use model::link::LinkKind;
use model::{Account, AccountId, Actor};

/// Confirms the address of the link with this `token`, and gives whose it is; `None` for a link that does not work (any more).
///
/// # Errors
/// When the database does, or [`Error::Validation`] when somebody else took the address meanwhile.
pub async fn confirm(app: &App, token: &str) -> Result<Option<(Account, User)>> {
    let mut tx = app.db.begin().await?;
    let Some(link) = link::redeem(app, &mut tx, LinkKind::ConfirmEmail, token).await? else { return Ok(None) };
    let (Some(account), Some(email)) = (link.account_id, link.email) else { return Ok(None) };
    let before = store::user::find(&mut tx, account).await?;
    store::user::set_email(&mut tx, account, &email, Some(app.clock.now())).await.on_unique(taken)?;
    if before.is_some_and(|user| user.confirmed_at.is_none() && user.approved) {
        hooks::record(app, &mut tx, Change::account(Kind::AccountCreated, account, None)).await?;
    }
    let (user, account) = (store::user::find(&mut tx, account).await?, store::account::find(&mut tx, account).await?);
    tx.commit().await?;
    Ok(account.zip(user))
}

/// Sends the letter again, to whoever waits for it at `email`. Nothing says whether anybody does.
///
/// # Errors
/// [`Error::RateLimited`] for too many letters to one address.
pub async fn resend_to(app: &App, email: &str) -> Result<()> {
    limits::require(app, &limits::MAIL, &Key::email(email))?;
    match store::user::find_by_email(&app.db, email).await? {
        Some(user) if user.confirmed_at.is_none() => send(app, user.account_id, &user.email).await,
        Some(_) | None => Ok(()),
    }
}

/// Sends `actor` the letter again; with `email`, to that address, which becomes theirs when it is confirmed.
///
/// # Errors
/// [`Error::Forbidden`] when nothing awaits confirmation, or the application is not the one they signed up with,
/// [`Error::Validation`] for an address that is none or taken, [`Error::RateLimited`].
pub async fn resend(app: &App, actor: &Actor, email: Option<&str>) -> Result<()> {
    let user = store::user::find(&app.db, actor.id).await?.ok_or(Error::NotFound)?;
    if actor.app.is_none() || user.sign_up_app_id != actor.app {
        return Err(Error::forbidden("This method is only for the application that you signed up with"));
    }
    if user.confirmed_at.is_some() && user.unconfirmed_email.is_none() {
        return Err(Error::forbidden("Your e-mail address is confirmed already"));
    }
    limits::require(app, &limits::MAIL, &Key::Person(actor.id))?;
    let email = email.map(str::trim).filter(|email| *email != user.email);
    match email {
        Some(email) => change(app, &user, email).await,
        None => send(app, actor.id, user.unconfirmed_email.as_deref().unwrap_or(&user.email)).await,
    }
}

/// True when the address of `actor` is confirmed.
///
/// # Errors
/// When the database does.
pub async fn is_confirmed(app: &App, actor: &Actor) -> Result<bool> {
    Ok(store::user::find(&app.db, actor.id).await?.is_some_and(|user| user.confirmed_at.is_some()))
}

async fn change(app: &App, user: &User, email: &str) -> Result<()> {
    let mut faults = Validation::default();
    sign_up::check_email(email, &mut faults);
    faults.check()?;
    if store::user::find_by_email(&app.db, email).await?.is_some_and(|other| other.account_id != user.account_id) {
        return Err(taken());
    }
    let mut tx = app.db.begin().await?;
    if user.confirmed_at.is_some() {
        store::user::set_unconfirmed_email(&mut tx, user.account_id, email).await?;
    } else {
        store::user::set_email(&mut tx, user.account_id, email, None).await.on_unique(taken)?;
    }
    queue(app, &mut tx, user.account_id, email).await?;
    tx.commit().await?;
    Ok(())
}

async fn send(app: &App, account: AccountId, email: &str) -> Result<()> {
    let mut tx = app.db.begin().await?;
    queue(app, &mut tx, account, email).await?;
    tx.commit().await?;
    Ok(())
}

async fn queue(app: &App, tx: &mut store::Tx, account: AccountId, email: &str) -> Result<()> {
    let link = link::create(app, tx, LinkKind::ConfirmEmail, Some(account), Some(email)).await?;
    letter::queue(app, tx, account, Subject::Confirm, Some(link)).await
}

fn taken() -> Error {
    let mut faults = Validation::default();
    faults.add("email", "ERR_TAKEN", "has already been taken");
    Error::Validation(faults)
}
