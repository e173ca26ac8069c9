//! Creating local accounts, for the API, the web pages and the command line.

use crate::email_block;
use std::borrow::Cow;

use crate::notification::{self, StaffNotice};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, OnUnique, Result, Validation};
use database::Tx;
use model::actor::User;
use model::{Account, AccountId, AppId};
use store::account::ActorObject;

/// Longest user name, in characters (docs/contract/rules.md#8-oauth-and-sign-up).
pub const USERNAME_MAX: usize = 30;

/// A new account; the password is hashed already.
#[derive(Debug)]
pub struct NewAccount {
    pub username: String,
    pub email: String,
    pub password_hash: Option<String>,
    /// The e-mail address is confirmed already.
    pub confirmed: bool,
    /// No approval by staff is needed (any longer).
    pub approved: bool,
    pub role_id: Option<i64>,
    pub locale: Option<String>,
    pub time_zone: Option<String>,
    pub app: Option<AppId>,
    pub reason: Option<String>,
}

/// Creates account and user; a job generates the signing key.
///
/// # Errors
/// [`Error::Validation`] when name or address is taken or malformed.
#[model::use_case]
pub async fn create(cx: &Cx, tx: &mut Tx, new: NewAccount) -> Result<AccountId> {
    create_as(cx, tx, cx.ids.next(), None, new).await
}

/// As [`create`], with a given id and the inviting account.
///
/// # Errors
/// As [`create`].
pub(super) async fn create_as(
    cx: &Cx,
    tx: &mut Tx,
    id: AccountId,
    invited_by: Option<AccountId>,
    new: NewAccount,
) -> Result<AccountId> {
    let mut faults = Validation::default();
    check_username(&new.username, &mut faults);
    email_block::check_email(&new.email, &mut faults);
    faults.check()?;
    let now = cx.clock.now();
    let (account, actor) = local(cx, id, &new.username);
    store::account::insert(tx, &account, actor).await.on_unique(|| taken("username"))?;
    if store::username::is_former(&mut *tx, &new.username).await? {
        return Err(taken("username"));
    }
    let user = User {
        password_hash: new.password_hash,
        confirmed_at: new.confirmed.then_some(now),
        approved: new.approved,
        role_id: new.role_id,
        locale: new.locale,
        time_zone: new.time_zone,
        sign_up_app_id: new.app,
        sign_up_reason: new.reason,
        invited_by_account_id: invited_by,
        ..User::new(id, new.email, now)
    };
    let known = new.confirmed && new.approved;
    store::user::insert(tx, &user).await.on_unique(|| taken("email"))?;
    change::record(cx, tx, Change::AccountRegistered { account: id }).await?;
    if known {
        change::record(cx, tx, Change::AccountCreated { account: id }).await?;
    }
    Ok(id)
}

/// Records that a new account can be used from now on, and notifies the staff who manage users. Accounts created by
/// the command line do not notify staff.
pub(crate) async fn admit(cx: &Cx, tx: &mut Tx, account: AccountId) -> Result<()> {
    change::record(cx, tx, Change::AccountCreated { account }).await?;
    notification::notify_staff(cx, tx, StaffNotice::SignUp, account, account).await
}

/// Validates a user name: ASCII letters, digits and `_`, at most [`USERNAME_MAX`].
pub fn check_username(username: &str, faults: &mut Validation) {
    if username.is_empty() {
        faults.add("username", "ERR_BLANK", "can't be blank");
    } else if !username.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        faults.add("username", "ERR_INVALID", "must contain only letters, numbers and underscores");
    } else if username.len() > USERNAME_MAX {
        faults.add("username", "ERR_TOO_LONG", format!("is too long (maximum is {USERNAME_MAX} characters)"));
    }
}

pub(super) fn taken(attribute: &'static str) -> Error {
    let mut faults = Validation::default();
    faults.add(attribute, "ERR_TAKEN", Cow::Borrowed("has already been taken"));
    Error::Validation(faults)
}

/// A new local account, with the row that federation reads.
pub(super) fn local(cx: &Cx, id: AccountId, username: &str) -> (Account, ActorObject) {
    let uri = cx.urls.actor(id);
    let actor = ActorObject {
        inbox_url: Some(format!("{uri}/inbox")),
        outbox_url: Some(format!("{uri}/outbox")),
        shared_inbox_url: Some(cx.urls.path("/inbox")),
        followers_url: Some(format!("{uri}/followers")),
        following_url: Some(format!("{uri}/following")),
        featured_url: Some(format!("{uri}/collections/featured")),
        ..ActorObject::default()
    };
    let url = Some(cx.urls.profile(username));
    (Account { url, ..Account::new(id, username.to_owned(), uri, cx.clock.now()) }, actor)
}
