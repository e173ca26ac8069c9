//! Browser sign-in: session cookies and passwords.
//!
//! A session token is random and stored only as a hash. A session expires 14 days after its last use, and ends on
//! sign-out, on a password change, and as soon as the account can no longer be used.

use std::borrow::Cow;

use chrono::Duration;

use crate::oauth::revoke;
use crate::{auth, password, rate_limits, token, user_ip};
use context::Cx;
use context::error::{Error, Result, Validation};
use context::limits::Key;
use crypto::Secret;
use database::Tx;
use model::actor::{Unusable, User};
use model::{Account, AccountId, Actor, Permissions, RowId, Scopes, Time, TokenId};
use store::session::SessionRow;

/// Lifetime of a session after its last use.
const LIFETIME: Duration = Duration::days(14);
/// The scopes of the access token of a session.
const TOKEN_SCOPES: &str = "read push";
/// Longest stored name of a browser, in characters.
const BROWSER_MAX: usize = 300;
/// A session's expiry is extended once a day at most, so that viewing pages does not write.
const EXTEND_AFTER: Duration = Duration::days(1);
/// Shortest and longest password, in characters (docs/contract/rules.md#8-oauth-and-sign-up).
pub const PASSWORD_LENGTH: std::ops::RangeInclusive<usize> = 8..=72;

/// The person signed in to a browser.
#[derive(Debug)]
pub struct Person {
    pub session: RowId,
    pub account: Account,
    pub user: User,
    /// Those of the role; none without one.
    pub permissions: Permissions,
    token: Option<TokenId>,
}

/// Why a sign-in was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Unknown name or wrong password; which one is not disclosed.
    Unknown,
    /// The password is right, but the account cannot be used.
    Unusable(Unusable),
}

/// A browser with a session.
#[derive(Debug)]
pub struct Browser {
    pub id: RowId,
    /// Its user agent; empty when unknown.
    pub name: String,
    /// Rounded to the day.
    pub last_used_at: Time,
}

/// The person of the session `token`; extends the session.
#[model::use_case]
pub async fn find(cx: &Cx, token: &str) -> Result<Option<Person>> {
    let now = cx.clock.now();
    let Some(session) = store::session::find(&cx.db, &crypto::hash(token), now).await? else { return Ok(None) };
    let Some((account, user)) = load(cx, session.account_id).await? else { return Ok(None) };
    if !may_browse(Unusable::of(&account, &user)) {
        return Ok(None);
    }
    if session.expires_at - now < LIFETIME - EXTEND_AFTER {
        let mut tx = cx.db.begin().await?;
        store::session::extend(&mut tx, session.id, now + LIFETIME).await?;
        tx.commit().await?;
    }
    let permissions = match user.role_id {
        Some(role) => Permissions::effective(store::role::permissions(&cx.db, role).await?, 0),
        None => Permissions::default(),
    };
    Ok(Some(Person { session: session.id, account, user, permissions, token: session.token_id }))
}

async fn load(cx: &Cx, id: AccountId) -> Result<Option<(Account, User)>> {
    let account = store::account::find(&cx.db, id).await?;
    let user = store::user::find(&cx.db, id).await?;
    Ok(account.zip(user))
}

/// `person` as an actor, for services.
///
/// # Errors
/// [`Error::NotFound`] when the account was suspended meanwhile.
#[model::use_case]
pub async fn actor(cx: &Cx, person: &Person) -> Result<Actor> {
    auth::viewers(cx, &[person.account.id]).await?.pop().ok_or(Error::NotFound)
}

/// The access token of the session of `person`, for streams and web push, which outlive a request. Created when the
/// session first needs one, with the scopes [`token_scopes`]; it is revoked when the session ends.
///
/// # Errors
/// [`Error::NotFound`] when the session ended meanwhile.
#[model::use_case]
pub async fn token(cx: &Cx, person: &Person) -> Result<TokenId> {
    if let Some(token) = person.token
        && auth::usable(cx, &[token]).await?.contains(&token)
    {
        return Ok(token);
    }
    let scopes = token_scopes()?;
    let mut tx = cx.db.begin().await?;
    let issued = token::issue(cx, &mut tx, None, Some(person.account.id), &scopes).await?;
    if !store::session::set_token(&mut tx, person.session, issued.id, person.token).await? {
        // Another request of the browser was first, or the session ended.
        drop(tx);
        return store::session::find_token(&cx.db, person.session).await?.ok_or(Error::NotFound);
    }
    tx.commit().await?;
    Ok(issued.id)
}

/// The scopes of the access tokens of sessions.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn token_scopes() -> Result<Scopes> {
    Scopes::parse_with(TOKEN_SCOPES, |_| false).map_err(Error::internal)
}

/// The browsers in which `account` is signed in, the last used one first.
#[model::use_case]
pub async fn list(cx: &Cx, account: AccountId) -> Result<Vec<Browser>> {
    let rows = store::session::list(&cx.db, account, cx.clock.now()).await?;
    let browser = |row: SessionRow| Browser { id: row.id, name: row.browser, last_used_at: row.expires_at - LIFETIME };
    Ok(rows.into_iter().map(browser).collect())
}

/// An account that moved may still manage its applications here.
fn may_browse(unusable: Option<Unusable>) -> bool {
    matches!(unusable, None | Some(Unusable::Moved))
}

/// The account with this name (or e-mail address) and password. Takes the same time for unknown names, so that timing
/// does not disclose them.
///
/// # Errors
/// [`Error::RateLimited`] after too many attempts at one account, with any spelling of its name.
#[model::use_case]
pub async fn authenticate(cx: &Cx, name: &str, password: Secret) -> Result<Result<Account, Refusal>> {
    let found = find_by_name(cx, name.trim()).await?;
    let attempts_at = match &found {
        Some((account, _)) => Key::Person(account.id),
        None => Key::email(username(cx, name.trim())),
    };
    rate_limits::require(cx, &rate_limits::SIGN_IN, &attempts_at)?;
    let hash = found.as_ref().and_then(|(_, user)| user.password_hash.clone());
    let right = crypto::verify_password(password, hash).await?;
    Ok(match found {
        Some((account, user)) if right => match Unusable::of(&account, &user) {
            Some(why) if !may_browse(Some(why)) => Err(Refusal::Unusable(why)),
            _ => Ok(account),
        },
        _ => Err(Refusal::Unknown),
    })
}

/// The user name in `name` or `@name@` this domain.
fn username<'a>(cx: &Cx, name: &'a str) -> &'a str {
    let handle = name.strip_prefix('@').unwrap_or(name);
    handle.strip_suffix(&format!("@{}", cx.urls.local_domain)).unwrap_or(handle)
}

/// By user name, `@name@` this domain, or e-mail address.
async fn find_by_name(cx: &Cx, name: &str) -> Result<Option<(Account, User)>> {
    let username = username(cx, name);
    let id = match store::user::find_by_email(&cx.db, name).await? {
        Some(user) => Some(user.account_id),
        None => store::account::find_local(&cx.db, username).await?.map(|account| account.id),
    };
    match id {
        Some(id) => load(cx, id).await,
        None => Ok(None),
    }
}

/// Starts a session of `account` and returns its token. The browser's `previous` session ends, so that a token cannot
/// be fixed beforehand (session fixation). `browser` is the user agent of the browser.
#[model::use_case]
pub async fn start(cx: &Cx, account: AccountId, previous: Option<&str>, browser: &str) -> Result<Secret> {
    let (now, token) = (cx.clock.now(), crypto::random_text(32));
    let session = SessionRow {
        id: cx.ids.next(),
        account_id: account,
        expires_at: now + LIFETIME,
        browser: shortened(browser),
        token_id: None,
    };
    let mut tx = cx.db.begin().await?;
    if let Some(previous) = previous {
        let ended = store::session::delete(&mut tx, &crypto::hash(previous)).await?;
        revoke::of_sessions(cx, &mut tx, &ended).await?;
    }
    clean(cx, &mut tx).await?;
    store::session::insert(&mut tx, &session, crypto::hash(&token), now).await?;
    user_ip::record(cx, &mut tx, account).await?;
    tx.commit().await?;
    Ok(Secret::from(token))
}

/// Ends the session with this `token`.
#[model::use_case]
pub async fn end(cx: &Cx, token: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let ended = store::session::delete(&mut tx, &crypto::hash(token)).await?;
    revoke::of_sessions(cx, &mut tx, &ended).await?;
    tx.commit().await?;
    Ok(())
}

/// Deletes the sessions that expired.
#[model::use_case]
pub async fn clean(cx: &Cx, tx: &mut Tx) -> Result<()> {
    let ended = store::session::delete_expired(tx, cx.clock.now()).await?;
    revoke::of_sessions(cx, tx, &ended).await
}

/// The stored part of the name of a browser.
fn shortened(browser: &str) -> String {
    browser.chars().filter(|letter| !letter.is_control()).take(BROWSER_MAX).collect()
}

/// Ends one of the sessions of `account`.
///
/// # Errors
/// [`Error::NotFound`] when it has ended, or is someone else's.
#[model::use_case]
pub async fn end_one(cx: &Cx, account: AccountId, session: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let ended = store::session::delete_one(&mut tx, account, session).await?;
    if ended.is_empty() {
        return Err(Error::NotFound);
    }
    revoke::of_sessions(cx, &mut tx, &ended).await?;
    tx.commit().await?;
    Ok(())
}

/// Ends all sessions of `person` but the one of this browser.
#[model::use_case]
pub async fn end_others(cx: &Cx, person: &Person) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let ended = store::session::delete_all(&mut tx, person.account.id, Some(person.session)).await?;
    revoke::of_sessions(cx, &mut tx, &ended).await?;
    tx.commit().await?;
    Ok(())
}

/// Adds a fault when `password` is not the password of `person`.
pub(crate) async fn check_current(person: &Person, password: Secret, faults: &mut Validation) -> Result<()> {
    if !crypto::verify_password(password, person.user.password_hash.clone()).await? {
        faults.add("current_password", "ERR_INVALID", "is not your current password");
    }
    Ok(())
}

/// The effect of a password change on the applications of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applications {
    /// Their tokens are revoked: anyone who knew the old password may have authorised an application.
    SignOut,
    /// They stay signed in.
    Keep,
}

/// Changes the password of `person`. Ends all other browser sessions, and revokes tokens according to `applications`.
///
/// # Errors
/// [`Error::Validation`] naming `current_password`, `password` or
/// `password_confirmation`.
#[model::use_case]
pub async fn change_password(
    cx: &Cx,
    person: &Person,
    current: Secret,
    new: Secret,
    confirmation: &Secret,
    applications: Applications,
) -> Result<()> {
    rate_limits::require(cx, &rate_limits::PASSWORD_CHANGE, &Key::Person(person.account.id))?;
    let mut faults = Validation::default();
    check_current(person, current, &mut faults).await?;
    check_password(&new, &mut faults);
    if new != *confirmation {
        faults.add("password_confirmation", "ERR_INVALID", "is not the same");
    }
    faults.check()?;
    let hash = crypto::hash_password(new).await?;
    let mut tx = cx.db.begin().await?;
    password::replace(&mut tx, person.account.id, &hash).await?;
    let ended = store::session::delete_all(&mut tx, person.account.id, Some(person.session)).await?;
    revoke::of_sessions(cx, &mut tx, &ended).await?;
    if applications == Applications::SignOut {
        revoke::all_applications(cx, &mut tx, person.account.id).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Validates a new password.
pub fn check_password(password: &Secret, faults: &mut Validation) {
    let (least, most) = (PASSWORD_LENGTH.start(), PASSWORD_LENGTH.end());
    match password.expose().chars().count() {
        _ if password.expose().trim().is_empty() => faults.add("password", "ERR_BLANK", "can't be blank"),
        length if length < *least => {
            faults.add("password", "ERR_TOO_SHORT", format!("is too short (minimum is {least} characters)"));
        }
        length if length > *most => {
            faults.add("password", "ERR_TOO_LONG", format!("is too long (maximum is {most} characters)"));
        }
        _ => {}
    }
}

impl Refusal {
    /// The message for the form.
    #[must_use]
    pub fn message(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Unknown => "That name and password do not belong together",
            Self::Unusable(Unusable::Suspended) => "This account is suspended",
            Self::Unusable(Unusable::Disabled) => "This account is disabled. The administrators can say why",
            Self::Unusable(Unusable::Unconfirmed) => {
                "Please confirm your e-mail address first: we sent you a link when you signed up"
            }
            Self::Unusable(Unusable::Pending) => "A moderator still has to approve this account",
            Self::Unusable(Unusable::Memorial) => "This account is in memoriam",
            Self::Unusable(Unusable::Moved) => "This account has moved",
        })
    }
}
