//! Changing the user name of a local account. Its id stays, and with it followers, statuses and everything that refers to
//! it; the old name stays reserved, and addresses with it lead to the account.
//!
//! Reached from `rookery account rename` and from the settings of its owner.
//!
//! Spec: docs/contract/federation.md#2-uris, docs/contract/rules.md#9-accounts

use chrono::TimeDelta;
use serde_json::json;

use super::sign_up::{check_username, taken};
use crate::audit::{self, Entry, Target};
use crate::rate_limits;
use crate::session::{self, Person};
use crate::username_block::{self, Judgement};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, OnUnique, Result, Validation};
use context::limits::Key;
use crypto::Secret;
use database::Tx;
use model::{Account, Staff, Time};

/// Time between two changes by the owner.
const PAUSE: TimeDelta = TimeDelta::days(30);

/// What the owner of an account can change of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changeable {
    /// The setting `usernames_changeable` is off.
    Never,
    Now,
    /// The name changed less than 30 days ago.
    After(Time),
}

/// Whether the owner of `account` may change its name.
#[model::use_case]
pub async fn changeable(cx: &Cx, account: &Account) -> Result<Changeable> {
    if !cx.settings().usernames_changeable {
        return Ok(Changeable::Never);
    }
    let last = store::username::last_change(&cx.db, account.id).await?.map(|last| last + PAUSE);
    Ok(last.filter(|next| *next > cx.clock.now()).map_or(Changeable::Now, Changeable::After))
}

/// Gives `account`, a local one, the name `new`, as a decision of `staff`. Returns the account.
///
/// # Errors
/// [`Error::Validation`] naming `username` for a name that is malformed, reserved for another account, taken, or the
/// present one.
#[model::use_case]
pub async fn rename(cx: &Cx, staff: &Staff, account: &Account, new: &str) -> Result<Account> {
    let mut faults = Validation::default();
    check(account, new, &mut faults);
    faults.check()?;
    let mut tx = cx.db.begin().await?;
    let renamed = replace(cx, &mut tx, account, new).await?;
    let entry = Entry::new("account.rename", Target::account(&renamed)).with(json!({ "from": account.username }));
    audit::record(cx, &mut tx, staff, entry).await?;
    tx.commit().await?;
    Ok(renamed)
}

/// Gives the account of `person` the name `new` at their request, after checking their password.
///
/// # Errors
/// As [`rename`]; also [`Error::Validation`] naming `current_password` when it is wrong, and `username` for a name that
/// the configuration reserves or the staff blocks. [`Error::Forbidden`] unless it is [changeable](changeable); [`Error::RateLimited`].
#[model::use_case]
pub async fn change(cx: &Cx, person: &Person, password: Secret, new: &str) -> Result<Account> {
    rate_limits::require(cx, &rate_limits::PASSWORD_CHANGE, &Key::Person(person.account.id))?;
    let mut faults = Validation::default();
    session::check_current(person, password, &mut faults).await?;
    check(&person.account, new, &mut faults);
    if cx.config.accounts.reserved_usernames.iter().any(|name| name.eq_ignore_ascii_case(new)) {
        faults.add("username", "ERR_RESERVED", "is reserved");
    } else if username_block::judge(cx, new).await? != Judgement::Accepted {
        // Also where a sign-up would wait: there is no approval of a change.
        Judgement::Blocked.check(&mut faults);
    }
    faults.check()?;
    let mut tx = cx.db.begin().await?;
    // The lock makes concurrent requests wait, so that the second one finds the change of the first.
    let account = store::account::lock(&mut tx, &[person.account.id]).await?.pop().ok_or(Error::NotFound)?;
    match changeable(cx, &account).await? {
        Changeable::Now => {}
        Changeable::Never => return Err(Error::forbidden("User names cannot be changed on this server")),
        Changeable::After(_) => return Err(Error::forbidden("A user name can be changed once in 30 days")),
    }
    let renamed = replace(cx, &mut tx, &account, new).await?;
    tx.commit().await?;
    Ok(renamed)
}

fn check(account: &Account, new: &str, faults: &mut Validation) {
    check_username(new, faults);
    if account.username == new {
        faults.add("username", "ERR_TAKEN", "is the name already");
    }
}

async fn replace(cx: &Cx, tx: &mut Tx, account: &Account, new: &str) -> Result<Account> {
    let url = cx.urls.profile(new);
    store::username::rename(tx, account, new, &url, cx.clock.now()).await.on_unique(|| taken("username"))?;
    // Still there, unless it was a former name of this account: reserved for another one.
    if store::username::is_former(&mut *tx, new).await? {
        return Err(taken("username"));
    }
    change::record(cx, tx, Change::AccountUpdated { account: account.id }).await?;
    store::account::find(&mut *tx, account.id).await?.ok_or(Error::NotFound)
}
