//! Sign-up: whether it is open, validating the form, and the confirmation mail.
//!
//! Reached from `POST /api/v1/accounts` and the sign-up page. An extension may admit people regardless of the mode,
//! or without approval. It is called before the form is validated, and its claim is part of the transaction that
//! creates the account. Blocked networks, e-mail addresses and user names are refused, or need approval ([`email_block`],
//! [`username_block`]). Not
//! implemented, because the server does not support them: a limit of accounts, sign-in by another service. The command
//! line and the owner's set-up create accounts directly, with `service::sign_up`.
//!
//! Spec: docs/contract/rules.md#8-oauth-and-sign-up.

use std::sync::Arc;

use chrono::{Datelike as _, NaiveDate};

use crate::sign_up::{self, NewAccount};
use crate::token::{self, Issued};
use crate::{email, email_block, link, session, user_ip, username_block};
use context::Cx;
use context::error::{Error, Result, Validation};
use context::extension::Admission;
use context::queue::Subject;
use crypto::Secret;
use database::Tx;
use model::instance::Rule;
use model::ip_block::IpSeverity;
use model::link::LinkKind;
use model::settings::RegistrationsMode;
use model::{Account, AccountId, Grant};
use serde_json::{Map, Value};

/// Longest answer to "Why would you like to join?", in characters.
pub const REASON_MAX: usize = 420;
/// Seconds of a day.
const DAY_SECONDS: i64 = 24 * 60 * 60;
/// Longest language or time zone name that is stored.
const NAME_MAX: usize = 64;

/// The sign-up form.
#[derive(Debug)]
pub struct SignUp {
    pub username: String,
    pub email: String,
    pub password: Secret,
    /// Agrees to the rules and the privacy policy.
    pub agreement: bool,
    pub reason: Option<String>,
    /// The date of birth, `2000-12-31`: checked where the server has a minimum age, and not stored.
    pub date_of_birth: Option<String>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
    /// All other parameters, for extensions.
    pub params: Map<String, Value>,
}

/// The conditions of a sign-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Staff must approve the sign-up.
    pub needs_approval: bool,
    /// The form must contain a reason for joining.
    pub needs_reason: bool,
}

/// A new account that awaits confirmation of its e-mail address.
#[derive(Debug)]
pub struct Registered {
    pub account: AccountId,
    /// It also awaits approval by staff.
    pub needs_approval: bool,
}

/// The registration mode; `None` is closed. Closed too outside of the hours for sign-ups, and once the sign-ups of the
/// day have reached their limit.
#[model::use_case]
pub async fn mode(cx: &Cx) -> Result<RegistrationsMode> {
    let settings = cx.settings();
    let closed = cx.config.access.single_user
        || settings.registrations_mode == RegistrationsMode::None
        || !settings.is_sign_up_hour(hour(cx))
        || limit_is_reached(cx, settings.sign_ups_per_day).await?;
    Ok(if closed { RegistrationsMode::None } else { settings.registrations_mode })
}

async fn limit_is_reached(cx: &Cx, most: i64) -> Result<bool> {
    Ok(most > 0 && store::sign_up_day::count(&cx.db, today(cx)).await? >= most)
}

/// The day in UTC, counted from the epoch.
fn today(cx: &Cx) -> i64 {
    cx.clock.now().timestamp().div_euclid(DAY_SECONDS)
}

/// The hour of the day in UTC.
fn hour(cx: &Cx) -> u32 {
    u32::try_from(cx.clock.now().timestamp().rem_euclid(DAY_SECONDS) / 3_600).unwrap_or_default()
}

/// Counts a sign-up without an invitation, as the last statement of its transaction.
///
/// # Errors
/// [`Error::Forbidden`] when the sign-ups of the day have reached their limit meanwhile.
async fn count(cx: &Cx, tx: &mut Tx) -> Result<()> {
    if store::sign_up_day::admit(tx, today(cx), cx.settings().sign_ups_per_day).await? {
        return Ok(());
    }
    Err(closed())
}

fn closed() -> Error {
    Error::forbidden("This server takes no new members at the moment")
}

/// Creates an account from the sign-up page.
///
/// # Errors
/// [`Error::Forbidden`] while registrations are closed, [`Error::Validation`] with all errors of the form.
#[model::use_case]
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
#[model::use_case]
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
    let offered = judge(cx, &form.params).await?;
    let offered_terms = terms(cx, offered.as_ref()).await?;
    let form_needs_approval = check(cx, &form, offered_terms).await?;
    let hash = crypto::hash_password(form.password).await?;
    let id = cx.ids.next();
    let (mut tx, admission) = claim(cx, offered, &form.params, id).await?;
    let terms = terms(cx, admission.as_ref()).await?;
    let invited = admission.as_ref().is_some_and(|admission| admission.opens);
    if terms != offered_terms {
        let mut faults = Validation::default();
        check_reason(form.reason.as_deref().unwrap_or_default(), terms, &mut faults);
        faults.check()?;
    }
    let approves = admission.as_ref().is_some_and(|admission| admission.approves);
    let needs_approval = terms.needs_approval || (form_needs_approval && !approves);
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
    let invited_by = admission.and_then(|admission| admission.invited_by);
    let account = sign_up::create_as(cx, &mut tx, id, invited_by, new).await?;
    let link = link::create(cx, &mut tx, LinkKind::ConfirmEmail, Some(account), Some(&form.email)).await?;
    email::queue(cx, &mut tx, account, Subject::Confirm, Some(link)).await?;
    user_ip::record(cx, &mut tx, account).await?;
    if !invited {
        count(cx, &mut tx).await?;
    }
    Ok((tx, Registered { account, needs_approval }))
}

/// The decision of an extension on a sign-up with these parameters. No extension is called on a single-user server.
///
/// # Errors
/// [`Error::Plugin`] when a required extension does not respond.
#[model::use_case]
pub async fn judge(cx: &Cx, params: &Map<String, Value>) -> Result<Option<Admission>> {
    if params.is_empty() || cx.config.access.single_user {
        return Ok(None);
    }
    cx.extensions().judge_sign_up(cx, params).await
}

/// The transaction that creates the account, and the admission by the extension that claimed it in this transaction.
async fn claim(
    cx: &Cx,
    offered: Option<Admission>,
    params: &Map<String, Value>,
    account: AccountId,
) -> Result<(Tx, Option<Admission>)> {
    if let Some(offered) = offered
        && let Some((tx, admission)) = cx.extensions().claim_sign_up(cx, &offered, params, account).await?
    {
        return Ok((tx, Some(admission)));
    }
    Ok((cx.db.begin().await?, None))
}

/// The conditions of a sign-up with this admission, or without one.
///
/// # Errors
/// [`Error::Forbidden`] while registrations are closed, and for a client in a network that may not sign up.
#[model::use_case]
pub async fn terms(cx: &Cx, admission: Option<&Admission>) -> Result<Terms> {
    let from_network_needs_approval = match cx.client_block() {
        Some(IpSeverity::NoAccess | IpSeverity::SignUpBlock) => {
            return Err(Error::forbidden("Sign-up is not possible from your network"));
        }
        Some(IpSeverity::SignUpRequiresApproval) => true,
        None => false,
    };
    let (opens, approves) = admission.map_or((false, false), |admission| (admission.opens, admission.approves));
    let mode = mode(cx).await?;
    let needs_approval = match mode {
        RegistrationsMode::Open => from_network_needs_approval && !approves,
        RegistrationsMode::Approved => !approves,
        RegistrationsMode::None if opens && !cx.config.access.single_user => !approves,
        RegistrationsMode::None => return Err(closed()),
    };
    let needs_reason = needs_approval && mode != RegistrationsMode::Open && cx.settings().require_invite_text;
    Ok(Terms { needs_approval, needs_reason })
}

/// Collects all errors, so that one response contains them all; true when the user name or the e-mail address needs
/// approval.
async fn check(cx: &Cx, form: &SignUp, terms: Terms) -> Result<bool> {
    let mut faults = Validation::default();
    sign_up::check_username(&form.username, &mut faults);
    email_block::check_email(&form.email, &mut faults);
    session::check_password(&form.password, &mut faults);
    let mut name_needs_approval = false;
    let reserved = &cx.config.accounts.reserved_usernames;
    if reserved.iter().any(|name| name.eq_ignore_ascii_case(&form.username)) {
        faults.add("username", "ERR_RESERVED", "is reserved");
    } else if store::username::find_account(&cx.db, &form.username).await?.is_some()
        || store::username::is_former(&cx.db, &form.username).await?
    {
        faults.add("username", "ERR_TAKEN", "has already been taken");
    } else {
        name_needs_approval = username_block::judge(cx, &form.username).await?.check(&mut faults);
    }
    let email_needs_approval = if store::user::find_by_email(&cx.db, &form.email).await?.is_some() {
        faults.add("email", "ERR_TAKEN", "has already been taken");
        false
    } else {
        email_block::judge_sign_up(cx, &form.email).await?.check(&mut faults)
    };
    if !form.agreement {
        faults.add("agreement", "ERR_ACCEPTED", "must be accepted");
    }
    check_reason(form.reason.as_deref().unwrap_or_default(), terms, &mut faults);
    check_age(cx, form.date_of_birth.as_deref().unwrap_or_default().trim(), &mut faults);
    faults.check()?;
    Ok(name_needs_approval || email_needs_approval)
}

/// The inviting account, to be shown to the invited person; `None` when the account is not visible.
#[model::use_case]
pub async fn inviter(cx: &Cx, id: AccountId) -> Result<Option<Account>> {
    Ok(store::account::find_known(&cx.db, id).await?.filter(|account| !account.is_suspended()))
}

/// The rules to agree to.
#[model::use_case]
pub async fn rules(cx: &Cx) -> Result<Vec<Rule>> {
    Ok(store::instance::rules(&cx.db).await?)
}

/// Requires the age of the setting `min_age` of a person who was born on the day `born`.
fn check_age(cx: &Cx, born: &str, faults: &mut Validation) {
    let age = cx.settings().min_age;
    if age <= 0 {
        return;
    }
    if born.is_empty() {
        faults.add("date_of_birth", "ERR_BLANK", "can't be blank");
        return;
    }
    let today = cx.clock.now().date_naive();
    let date = NaiveDate::parse_from_str(born, "%Y-%m-%d").ok().filter(|date| (1..=9999).contains(&date.year()));
    match date.and_then(|date| today.years_since(date)) {
        Some(years) if i64::from(years) >= age => {}
        Some(_) => faults.add("date_of_birth", "ERR_BELOW_LIMIT", "is below the age limit"),
        None => faults.add("date_of_birth", "ERR_INVALID", "is not a valid date"),
    }
}

fn check_reason(reason: &str, terms: Terms, faults: &mut Validation) {
    if terms.needs_reason && reason.trim().is_empty() {
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
