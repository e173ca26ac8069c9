//! Signing in with a browser: sessions and passwords.
//!
//! A session's token is random and stored only as a hash. It ends 14 days after it was last used, when its person signs
//! out or changes the password, and at once when the account can no longer be used.

use std::borrow::Cow;

use chrono::Duration;

use crate::app::App;
use crate::error::{Result, Validation};
use crate::service::limits::{self, Key};
use crypto::Secret;
use model::actor::{Unusable, User};
use model::{Account, AccountId, RowId};
use store::session::NewSession;

/// How long a session lasts after it was last used.
const LIFETIME: Duration = Duration::days(14);
/// A session's end is moved once a day at most, so that looking at pages does not write.
const EXTEND_AFTER: Duration = Duration::days(1);
/// Shortest and longest password, in characters (contract rules, section 8).
pub const PASSWORD_LENGTH: std::ops::RangeInclusive<usize> = 8..=72;

/// Who is signed in to a browser.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Person {
    pub session: RowId,
    pub account: Account,
    pub user: User,
}

/// Why nobody was signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// No such name and password; which of both is wrong is not told.
    Unknown,
    /// The password is right, and the account cannot be used.
    Unusable(Unusable),
}

/// The person whose session has this `token`; their session is prolonged.
///
/// # Errors
/// When the database does.
pub async fn find(app: &App, token: &str) -> Result<Option<Person>> {
    let now = app.clock.now();
    let Some(session) = store::session::find(&app.db, &crypto::hash(token), now).await? else { return Ok(None) };
    let Some((account, user)) = load(app, session.account_id).await? else { return Ok(None) };
    if !may_browse(Unusable::of(&account, &user)) {
        return Ok(None);
    }
    if session.expires_at - now < LIFETIME - EXTEND_AFTER {
        let mut tx = app.db.begin().await?;
        store::session::extend(&mut tx, session.id, now + LIFETIME).await?;
        tx.commit().await?;
    }
    Ok(Some(Person { session: session.id, account, user }))
}

async fn load(app: &App, id: AccountId) -> Result<Option<(Account, User)>> {
    let account = store::account::find(&app.db, id).await?;
    let user = store::user::find(&app.db, id).await?;
    Ok(account.zip(user))
}

/// Whoever moved away still manages their applications here.
fn may_browse(unusable: Option<Unusable>) -> bool {
    matches!(unusable, None | Some(Unusable::Moved))
}

/// Who has this name (or e-mail address) and password. The same time passes whether or not the name is known.
///
/// # Errors
/// When the database does.
pub async fn authenticate(app: &App, name: &str, password: Secret) -> Result<Result<Account, Refusal>> {
    let found = find_by_name(app, name.trim()).await?;
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

/// By user name, `@name@` this domain, or e-mail address.
async fn find_by_name(app: &App, name: &str) -> Result<Option<(Account, User)>> {
    let handle = name.strip_prefix('@').unwrap_or(name);
    let username = handle.strip_suffix(&format!("@{}", app.urls.local_domain)).unwrap_or(handle);
    let id = match store::user::find_by_email(&app.db, name).await? {
        Some(user) => Some(user.account_id),
        None => store::account::find_local(&app.db, username).await?.map(|account| account.id),
    };
    match id {
        Some(id) => load(app, id).await,
        None => Ok(None),
    }
}

/// Starts a session of `account` and gives its token; the session that the browser had, `previous`, ends.
///
/// # Errors
/// When the database does.
pub async fn start(app: &App, account: AccountId, previous: Option<&str>) -> Result<Secret> {
    let (now, token) = (app.clock.now(), crypto::random_text(32));
    let session = NewSession {
        id: app.ids.next(),
        token_hash: crypto::hash(&token),
        account_id: account,
        now,
        expires_at: now + LIFETIME,
    };
    let mut tx = app.db.begin().await?;
    if let Some(previous) = previous {
        store::session::delete(&mut tx, &crypto::hash(previous)).await?;
    }
    store::session::delete_expired(&mut tx, now).await?;
    store::session::insert(&mut tx, session).await?;
    tx.commit().await?;
    Ok(Secret::from(token))
}

/// Ends the session with this `token`.
///
/// # Errors
/// When the database does.
pub async fn end(app: &App, token: &str) -> Result<()> {
    let mut tx = app.db.begin().await?;
    store::session::delete(&mut tx, &crypto::hash(token)).await?;
    tx.commit().await?;
    Ok(())
}

/// Gives `person` another password; every other browser is signed out, applications stay.
///
/// # Errors
/// [`Error::Validation`](crate::error::Error::Validation) naming `current_password`, `password` or `password_confirmation`.
pub async fn change_password(
    app: &App,
    person: &Person,
    current: Secret,
    new: Secret,
    confirmation: &Secret,
) -> Result<()> {
    limits::require(app, &limits::PASSWORD_CHANGE, &Key::Person(person.account.id))?;
    let mut faults = Validation::default();
    if !crypto::verify_password(current, person.user.password_hash.clone()).await? {
        faults.add("current_password", "ERR_INVALID", "is not your current password");
    }
    check_password(&new, &mut faults);
    if new != *confirmation {
        faults.add("password_confirmation", "ERR_INVALID", "is not the same");
    }
    faults.check()?;
    let hash = crypto::hash_password(new).await?;
    let mut tx = app.db.begin().await?;
    store::user::set_password(&mut tx, person.account.id, &hash).await?;
    store::session::delete_all(&mut tx, person.account.id, Some(person.session)).await?;
    tx.commit().await?;
    Ok(())
}

/// Adds what is wrong with a new password.
pub fn check_password(password: &Secret, faults: &mut Validation) {
    let (least, most) = (PASSWORD_LENGTH.start(), PASSWORD_LENGTH.end());
    match password.expose().chars().count() {
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
    /// What the person at the form is told.
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
