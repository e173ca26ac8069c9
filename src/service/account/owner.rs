//! First-run set-up: creating the owner's account and naming the server.
//!
//! A server without an owner who can sign in prints a one-time link ([`setup_link`]) when it starts. The first person to open
//! it becomes the owner.

use crate::email_block;
use serde_json::Value;

use crate::sign_up::{self, NewAccount};
use crate::{link, ownership, session};
use context::Cx;
use context::error::{Result, Validation};
use crypto::Secret;
use model::AccountId;
use model::link::LinkKind;
use model::staff::OWNER_ROLE;

/// Longest server title that the page accepts, in characters.
const TITLE_MAX: usize = 60;

/// The set-up form.
#[derive(Debug)]
pub struct Owner {
    pub site_title: String,
    pub username: String,
    pub email: String,
    pub password: Secret,
}

/// The URL of the set-up page while the server has no owner who can sign in, else `None`; each call invalidates the earlier
/// link.
#[model::use_case]
pub async fn setup_link(cx: &Cx) -> Result<Option<String>> {
    if ownership::exists(&cx.db).await? {
        return Ok(None);
    }
    let mut tx = cx.db.begin().await?;
    let id = link::create(cx, &mut tx, LinkKind::OwnerSetup, None, None).await?;
    tx.commit().await?;
    Ok(Some(link::url(cx, LinkKind::OwnerSetup, id)))
}

/// True when `token` is valid: the latest link, and there is no owner yet.
#[model::use_case]
pub async fn may_set_up(cx: &Cx, token: &str) -> Result<bool> {
    Ok(link::find(cx, LinkKind::OwnerSetup, token).await?.is_some() && !ownership::exists(&cx.db).await?)
}

/// Creates the owner's account and names the server; `None` when the link is invalid.
///
/// # Errors
/// [`Error::Validation`](context::error::Error::Validation) with all errors of the form.
#[model::use_case]
pub async fn set_up(cx: &Cx, token: &str, owner: Owner) -> Result<Option<AccountId>> {
    if !may_set_up(cx, token).await? {
        return Ok(None);
    }
    check(&owner)?;
    let hash = crypto::hash_password(owner.password).await?;
    let mut tx = cx.db.begin().await?;
    // The link is redeemed once, so of two people with it one becomes the owner.
    if link::redeem(cx, &mut tx, LinkKind::OwnerSetup, token).await?.is_none() || ownership::exists(&mut tx).await? {
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
    let account = sign_up::create(cx, &mut tx, new).await?;
    let now = cx.clock.now();
    store::settings::set(&mut tx, "site_title", &Value::String(owner.site_title.trim().to_owned()), now).await?;
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(Some(account))
}

fn check(owner: &Owner) -> Result<()> {
    let mut faults = Validation::default();
    sign_up::check_username(&owner.username, &mut faults);
    email_block::check_email(&owner.email, &mut faults);
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
