//! The first account of a server: its owner.
//!
//! A server without users prints a link ([`setup_link`]); whoever opens it makes the owner's account and names the server.

use serde_json::Value;

use crate::app::App;
use crate::error::{Result, Validation};
use crate::event::Event;
use crate::service::sign_up::{self, NewAccount};
use crate::service::{link, session};
use crypto::Secret;
use model::AccountId;
use model::link::LinkKind;

/// The role that may do everything; the first migration makes it.
const OWNER_ROLE: i64 = 3;
/// Longest name of a server that the page takes, in characters.
const TITLE_MAX: usize = 60;

/// What the owner says of themselves and their server.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Owner {
    pub site_title: String,
    pub username: String,
    pub email: String,
    pub password: Secret,
}

/// The address at which the owner's account is made, while the server has no user; each call makes the earlier one useless.
///
/// # Errors
/// When the database does.
pub async fn setup_link(app: &App) -> Result<Option<String>> {
    if store::user::any(&app.db).await? {
        return Ok(None);
    }
    let mut tx = app.db.begin().await?;
    let id = link::create(app, &mut tx, LinkKind::OwnerSetup, None, None).await?;
    tx.commit().await?;
    Ok(Some(link::url(app, LinkKind::OwnerSetup, id)))
}

/// True when the link with this `token` works: it is the latest, and there is no user yet.
///
/// # Errors
/// When the database does.
pub async fn may_set_up(app: &App, token: &str) -> Result<bool> {
    Ok(link::find(app, LinkKind::OwnerSetup, token).await?.is_some() && !store::user::any(&app.db).await?)
}

/// Makes the owner's account and names the server; `None` when the link does not work.
///
/// # Errors
/// [`Error::Validation`](crate::error::Error::Validation) with everything that is wrong.
pub async fn set_up(app: &App, token: &str, owner: Owner) -> Result<Option<AccountId>> {
    if !may_set_up(app, token).await? {
        return Ok(None);
    }
    check(&owner)?;
    let hash = crypto::hash_password(owner.password).await?;
    let mut tx = app.db.begin().await?;
    if link::redeem(app, &mut tx, LinkKind::OwnerSetup, token).await?.is_none() || store::user::any(&mut tx).await? {
        return Ok(None);
    }
    let new = NewAccount {
        username: owner.username,
        email: owner.email,
        password_hash: Some(hash),
        confirmed: true,
        approved: true,
        role_id: Some(OWNER_ROLE),
        locale: None,
        time_zone: None,
        app: None,
        reason: None,
    };
    let account = sign_up::create(app, &mut tx, new).await?;
    let now = app.clock.now();
    store::settings::set(&mut tx, "site_title", &Value::String(owner.site_title.trim().to_owned()), now).await?;
    store::settings::touch(&mut tx, now).await?;
    tx.commit().await?;
    app.reload().await?;
    app.events.publish(Event::SettingsChanged);
    Ok(Some(account))
}

fn check(owner: &Owner) -> Result<()> {
    let mut faults = Validation::default();
    sign_up::check_username(&owner.username, &mut faults);
    sign_up::check_email(&owner.email, &mut faults);
    session::check_password(&owner.password, &mut faults);
    match owner.site_title.trim().chars().count() {
        0 => faults.add("site_title", "ERR_BLANK", "can't be blank"),
        length if length > TITLE_MAX => {
            faults.add("site_title", "ERR_TOO_LONG", format!("is too long (maximum is {TITLE_MAX} characters)"));
        }
        _ => {}
    }
    faults.check()
}
