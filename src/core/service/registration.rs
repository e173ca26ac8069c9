//! Sign-up: whether it is open, validating the form, and the confirmation mail.
//!
//! Reached from `POST /api/v1/accounts` and the sign-up page. The command line and the owner's set-up create accounts
//! directly, by `service::sign_up`. Contract: rules, section 8.

use std::sync::Arc;

use crate::Cx;
use crate::error::{Error, Result, Validation};
use crate::service::auth::Grant;
use crate::service::email::{self, Subject};
use crate::service::sign_up::{self, NewAccount};
use crate::service::token::{self, Issued};
use crate::service::{link, session};
use crypto::Secret;
use model::AccountId;
use model::instance::Rule;
use model::link::LinkKind;
use model::settings::RegistrationsMode;
use store::Tx;

/// Longest answer to "Why would you like to join?", in characters.
pub const REASON_MAX: usize = 420;
/// Longest language or time zone name that is stored.
const NAME_MAX: usize = 64;

/// The sign-up form.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SignUp {
    pub username: String,
    pub email: String,
    pub password: Secret,
    /// Agrees to the rules and the privacy policy.
    pub agreement: bool,
    pub reason: Option<String>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
}

/// A new account that awaits confirmation of its address.
#[derive(Debug)]
pub struct Registered {
    /// The account.
    pub account: AccountId,
    /// It awaits approval by staff as well.
    pub needs_approval: bool,
}

/// The registration mode; `None` is closed.
#[must_use]
pub fn mode(cx: &Cx) -> RegistrationsMode {
    if cx.config.access.single_user { RegistrationsMode::None } else { cx.settings().registrations_mode }
}

/// Creates an account from the sign-up page.
///
/// # Errors
/// [`Error::Forbidden`] while registrations are closed, [`Error::Validation`] with all errors of the form.
pub async fn register(cx: &Cx, form: SignUp) -> Result<Registered> {
    let (tx, registered) = begin(cx, form, None).await?;
    tx.commit().await?;
    Ok(registered)
}

/// Creates an account from the application of `grant`, and issues it a token of the new account with all scopes that it
/// registered. The token works once the address is confirmed.
///
/// # Errors
/// As [`register`].
pub async fn register_by_app(cx: &Cx, form: SignUp, grant: &Arc<Grant>) -> Result<Issued> {
    let (mut tx, registered) = begin(cx, form, Some(grant)).await?;
    let application = match grant.app {
        Some(id) => store::application::find(&mut tx, id).await?,
        None => None,
    };
    let scopes = application.map_or_else(|| grant.scopes.clone(), |application| application.scopes());
    let token = token::issue(cx, &mut tx, grant.app, Some(registered.account), &scopes).await?;
    tx.commit().await?;
    Ok(token)
}

async fn begin(cx: &Cx, form: SignUp, grant: Option<&Arc<Grant>>) -> Result<(Tx, Registered)> {
    let mode = mode(cx);
    let needs_approval = match mode {
        RegistrationsMode::Open => false,
        RegistrationsMode::Approved => true,
        RegistrationsMode::None => return Err(Error::forbidden("This server takes no new members at the moment")),
    };
    check(cx, &form, mode).await?;
    let hash = crypto::hash_password(form.password).await?;
    let new = NewAccount {
        username: form.username,
        email: form.email.clone(),
        password_hash: Some(hash),
        confirmed: false,
        approved: !needs_approval,
        role_id: None,
        locale: form.locale.filter(|name| is_name(name)),
        time_zone: form.time_zone.filter(|name| is_name(name)),
        app: grant.and_then(|grant| grant.app),
        reason: form.reason.filter(|reason| !reason.trim().is_empty()),
    };
    let mut tx = cx.db.begin().await?;
    let account = sign_up::create(cx, &mut tx, new).await?;
    let link = link::create(cx, &mut tx, LinkKind::ConfirmEmail, Some(account), Some(&form.email)).await?;
    email::queue(cx, &mut tx, account, Subject::Confirm, Some(link)).await?;
    Ok((tx, Registered { account, needs_approval }))
}

/// Reports all errors at once, so that the form need not be sent again for each.
async fn check(cx: &Cx, form: &SignUp, mode: RegistrationsMode) -> Result<()> {
    let mut faults = Validation::default();
    sign_up::check_username(&form.username, &mut faults);
    sign_up::check_email(&form.email, &mut faults);
    session::check_password(&form.password, &mut faults);
    let reserved = &cx.config.accounts.reserved_usernames;
    if reserved.iter().any(|name| name.eq_ignore_ascii_case(&form.username)) {
        faults.add("username", "ERR_RESERVED", "is reserved");
    } else if store::account::find_local(&cx.db, &form.username).await?.is_some() {
        faults.add("username", "ERR_TAKEN", "has already been taken");
    }
    if store::user::find_by_email(&cx.db, &form.email).await?.is_some() {
        faults.add("email", "ERR_TAKEN", "has already been taken");
    }
    if !form.agreement {
        faults.add("agreement", "ERR_ACCEPTED", "must be accepted");
    }
    check_reason(form.reason.as_deref().unwrap_or_default(), reason_required(cx, mode), &mut faults);
    faults.check()
}

/// True when a sign-up must give a reason.
#[must_use]
pub fn reason_required(cx: &Cx, mode: RegistrationsMode) -> bool {
    mode == RegistrationsMode::Approved && cx.settings().require_invite_text
}

/// The rules to agree to.
pub async fn rules(cx: &Cx) -> Result<Vec<Rule>> {
    Ok(store::instance::rules(&cx.db).await?)
}

fn check_reason(reason: &str, required: bool, faults: &mut Validation) {
    if required && reason.trim().is_empty() {
        faults.add("reason", "ERR_BLANK", "can't be blank");
    } else if reason.chars().count() > REASON_MAX {
        faults.add("reason", "ERR_TOO_LONG", format!("is too long (maximum is {REASON_MAX} characters)"));
    }
}

/// True for a plausible language or time zone name; others count as absent.
fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-+".contains(&byte))
}
