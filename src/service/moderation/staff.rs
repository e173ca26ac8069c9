//! User management by staff: finding people, setting passwords. The rest is in
//! [`moderation`](crate::moderation).
//!
//! Reached from the command line and the admin API, which check permission.

use crate::access::accounts;
use crate::audit::{self, Entry, Target};
use crate::oauth::revoke;
use crate::{password, role};
use context::Cx;
use context::error::{Error, Result};
use crypto::Secret;
use model::{Account, RowId, Staff};

/// Random bytes of a generated password.
const PASSWORD_BYTES: usize = 15;

/// The local account named `name`: a user name, with or without `@` and this server's domain.
///
/// # Errors
/// [`Error::Invalid`] naming it, when there is none.
#[model::use_case]
pub async fn find(cx: &Cx, name: &str) -> Result<Account> {
    let bare = name.strip_prefix('@').unwrap_or(name);
    let username = match bare.split_once('@') {
        Some((username, domain)) if cx.config.is_local_domain(domain) => username,
        _ => bare,
    };
    let account = store::account::find_local(&cx.db, username).await?;
    account.ok_or_else(|| Error::invalid(format!("there is no account {name:?} on this server")))
}

/// The account named `name`: as [`find`], or `user@domain` for a remote one that is known here.
///
/// # Errors
/// [`Error::Invalid`] naming it, when there is none.
#[model::use_case]
pub async fn find_any(cx: &Cx, name: &str) -> Result<Account> {
    let handle = accounts::name(cx, name);
    if !handle.contains('@') {
        return find(cx, &handle).await;
    }
    let found = store::account::list_by_handles(&cx.db, &[handle]).await?.pop();
    found.ok_or_else(|| Error::invalid(format!("the account {name:?} is not known here")))
}

/// The id of the role named `name`, ignoring case; `None` for `none`.
///
/// # Errors
/// [`Error::Invalid`] listing the existing roles.
#[model::use_case]
pub async fn role(cx: &Cx, name: &str) -> Result<Option<RowId>> {
    if name.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    Ok(Some(role::find_by_name(cx, name).await?.id))
}

/// Sets the password of `account`; `None` generates one. Ends all its browser sessions and tokens.
#[model::use_case]
pub async fn set_password(cx: &Cx, staff: &Staff, account: &Account, password: Option<Secret>) -> Result<Secret> {
    let password = password.unwrap_or_else(|| Secret::from(crypto::random_text(PASSWORD_BYTES)));
    let hash = crypto::hash_password(password.clone()).await?;
    let mut tx = cx.db.begin().await?;
    password::replace(&mut tx, account.id, &hash).await?;
    revoke::everything(cx, &mut tx, account.id).await?;
    audit::record(cx, &mut tx, staff, Entry::new("account.reset_password", Target::account(account))).await?;
    tx.commit().await?;
    Ok(password)
}
