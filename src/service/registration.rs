//! Signing up: who may, what they must say, and the letter that confirms their address.
//!
//! Reached from `POST /api/v1/accounts` and the sign-up page. The command line and the owner's set-up make accounts
//! directly, by `service::sign_up`. Contract: rules, section 8.

use std::sync::Arc;

use crate::app::App;
use crate::error::{Error, Result, Validation};
use crate::service::auth::Grant;
use crate::service::letter::{self, Subject};
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
/// Longest name of a language or time zone that is kept.
const NAME_MAX: usize = 64;

/// What someone who signs up says.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct SignUp {
    pub username: String,
    pub email: String,
    pub password: Secret,
    /// To the rules and the privacy policy.
    pub agreement: bool,
    pub reason: Option<String>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
}

/// An account that was made and waits for its address to be confirmed.
#[derive(Debug)]
pub struct Registered {
    /// The account.
    pub account: AccountId,
    /// Someone of the staff has to agree as well.
    pub needs_approval: bool,
}

/// How one can sign up; `None` when nobody can.
#[must_use]
pub fn mode(app: &App) -> RegistrationsMode {
    if app.config.access.single_user { RegistrationsMode::None } else { app.settings().registrations_mode }
}

/// Makes an account for someone at the sign-up page.
///
/// # Errors
/// [`Error::Forbidden`] while registrations are closed, [`Error::Validation`] with everything that is wrong.
pub async fn register(app: &App, form: SignUp) -> Result<Registered> {
    let (tx, registered) = begin(app, form, None).await?;
    tx.commit().await?;
    Ok(registered)
}

/// Makes an account for someone at the application of `grant`, and gives that a token of theirs, with all scopes that
/// it registered. It can be used once the address is confirmed.
///
/// # Errors
/// As [`register`].
pub async fn register_by_app(app: &App, form: SignUp, grant: &Arc<Grant>) -> Result<Issued> {
    let (mut tx, registered) = begin(app, form, Some(grant)).await?;
    let application = match grant.app {
        Some(id) => store::application::find(&mut tx, id).await?,
        None => None,
    };
    let scopes = application.map_or_else(|| grant.scopes.clone(), |application| application.scopes());
    let token = token::issue(app, &mut tx, grant.app, Some(registered.account), &scopes).await?;
    tx.commit().await?;
    Ok(token)
}

async fn begin(app: &App, form: SignUp, grant: Option<&Arc<Grant>>) -> Result<(Tx, Registered)> {
    let mode = mode(app);
    let needs_approval = match mode {
        RegistrationsMode::Open => false,
        RegistrationsMode::Approved => true,
        RegistrationsMode::None => return Err(Error::forbidden("This server takes no new members at the moment")),
    };
    check(app, &form, mode).await?;
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
    let mut tx = app.db.begin().await?;
    let account = sign_up::create(app, &mut tx, new).await?;
    let link = link::create(app, &mut tx, LinkKind::ConfirmEmail, Some(account), Some(&form.email)).await?;
    letter::queue(app, &mut tx, account, Subject::Confirm, Some(link)).await?;
    Ok((tx, Registered { account, needs_approval }))
}

/// Everything that is wrong at once, so that nobody fills the form in five times.
async fn check(app: &App, form: &SignUp, mode: RegistrationsMode) -> Result<()> {
    let mut faults = Validation::default();
    sign_up::check_username(&form.username, &mut faults);
    sign_up::check_email(&form.email, &mut faults);
    session::check_password(&form.password, &mut faults);
    let reserved = &app.config.accounts.reserved_usernames;
    if reserved.iter().any(|name| name.eq_ignore_ascii_case(&form.username)) {
        faults.add("username", "ERR_RESERVED", "is reserved");
    } else if store::account::find_local(&app.db, &form.username).await?.is_some() {
        faults.add("username", "ERR_TAKEN", "has already been taken");
    }
    if store::user::find_by_email(&app.db, &form.email).await?.is_some() {
        faults.add("email", "ERR_TAKEN", "has already been taken");
    }
    if !form.agreement {
        faults.add("agreement", "ERR_ACCEPTED", "must be accepted");
    }
    check_reason(form.reason.as_deref().unwrap_or_default(), reason_required(app, mode), &mut faults);
    faults.check()
}

/// True when whoever signs up must say why.
#[must_use]
pub fn reason_required(app: &App, mode: RegistrationsMode) -> bool {
    mode == RegistrationsMode::Approved && app.settings().require_invite_text
}

/// What whoever signs up agrees to.
///
/// # Errors
/// When the database does.
pub async fn rules(app: &App) -> Result<Vec<Rule>> {
    Ok(store::instance::rules(&app.db).await?)
}

fn check_reason(reason: &str, required: bool, faults: &mut Validation) {
    if required && reason.trim().is_empty() {
        faults.add("reason", "ERR_BLANK", "can't be blank");
    } else if reason.chars().count() > REASON_MAX {
        faults.add("reason", "ERR_TOO_LONG", format!("is too long (maximum is {REASON_MAX} characters)"));
    }
}

/// True for what may be the name of a language or time zone; others are as if nothing was said.
fn is_name(text: &str) -> bool {
    (1..=NAME_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_-+".contains(&byte))
}
