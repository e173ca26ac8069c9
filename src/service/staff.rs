//! What staff do with the users of this server: approving, confirming, giving roles and passwords.
//!
//! Reached from the command line, later from the admin API. Whether the one who asks may do so is decided there.

use crate::app::App;
use crate::error::{Error, Result};
use crate::plugins::hooks::{self, Change, Kind};
use crate::service::letter::{self, Subject};
use crate::service::oauth::revoke;
use crypto::Secret;
use model::Account;

/// Random bytes of a password that the server makes.
const PASSWORD_BYTES: usize = 15;

/// The local account called `name`: a user name, with or without `@` and this server's domain.
///
/// # Errors
/// [`Error::Invalid`] when there is none, so that the name is said.
pub async fn find(app: &App, name: &str) -> Result<Account> {
    let bare = name.strip_prefix('@').unwrap_or(name);
    let username = match bare.split_once('@') {
        Some((username, domain)) if app.config.is_local_domain(domain) => username,
        _ => bare,
    };
    let account = store::account::find_local(&app.db, username).await?;
    account.ok_or_else(|| Error::invalid(format!("there is no account {name:?} on this server")))
}

/// Lets in someone whose sign-up waits, tells them by mail, and takes their address as confirmed; false when there was nothing to do.
///
/// # Errors
/// When the database does.
pub async fn approve(app: &App, account: &Account) -> Result<bool> {
    let mut tx = app.db.begin().await?;
    let approved = store::user::approve(&mut tx, account.id).await?;
    let confirmed = store::user::confirm(&mut tx, account.id, app.clock.now()).await?;
    if approved {
        letter::queue(app, &mut tx, account.id, Subject::Approved, None).await?;
    }
    if approved || confirmed {
        hooks::record(app, &mut tx, Change::account(Kind::AccountCreated, account.id, None)).await?;
    }
    tx.commit().await?;
    Ok(approved || confirmed)
}

/// The number of the role called `name`, in any case; `None` for `none`.
///
/// # Errors
/// [`Error::Invalid`] with the roles there are.
pub async fn role(app: &App, name: &str) -> Result<Option<i64>> {
    if name.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let roles = store::role::list(&app.db).await?;
    if let Some(role) = roles.iter().find(|role| role.name.eq_ignore_ascii_case(name)) {
        return Ok(Some(role.id));
    }
    let names: Vec<String> = roles.into_iter().map(|role| role.name).collect();
    Err(Error::invalid(format!("there is no role {name:?}; there are {} and none", names.join(", "))))
}

/// Gives `account` a role, or takes it away.
///
/// # Errors
/// When the database does.
pub async fn set_role(app: &App, account: &Account, role: Option<i64>) -> Result<()> {
    let mut tx = app.db.begin().await?;
    store::user::set_role(&mut tx, account.id, role).await?;
    // A profile shows the role.
    store::account::bump(&mut tx, account.id).await?;
    tx.commit().await?;
    Ok(())
}

/// Gives `account` a new password; `None`: one that the server makes up. Whoever is signed in to a browser is signed out,
/// and every application loses its access.
///
/// # Errors
/// When the database does.
pub async fn set_password(app: &App, account: &Account, password: Option<Secret>) -> Result<Secret> {
    let password = password.unwrap_or_else(|| Secret::from(crypto::random_text(PASSWORD_BYTES)));
    let hash = crypto::hash_password(password.clone()).await?;
    let mut tx = app.db.begin().await?;
    store::user::set_password(&mut tx, account.id, &hash).await?;
    let revoked = revoke::everything(app, &mut tx, account.id).await?;
    tx.commit().await?;
    revoked.announce(app);
    Ok(password)
}
