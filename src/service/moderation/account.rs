//! Accounts as the staff manages them: lists, sign-ups, and lifting what moderators imposed.
//!
//! Reached from `/api/v1/admin/accounts` and `rookery user`. Actions with a warning are in [`action`](super::action).
//! Nobody acts on an account that they do not outrank.
//!
//! Spec: docs/contract/admin.csv, docs/contract/extensions.md#13-admin-api

use crate::audit::{self, Entry, Target};
use crate::ownership;
use crate::{email, removal, sign_up};
use context::Cx;
use context::error::{Error, Result};
use context::queue::Subject;
use database::Tx;
use model::{Account, AccountId, Cursor, Staff};

pub use store::managed_account::{AccountFilter, ManagedAccount};

/// A page of accounts, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, filter: &AccountFilter, cursor: &Cursor) -> Result<Vec<ManagedAccount>> {
    Ok(store::managed_account::list(&cx.db, filter, cursor).await?)
}

/// The account `id`, in any state.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn find(cx: &Cx, id: AccountId) -> Result<ManagedAccount> {
    store::managed_account::find(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// An account that `staff` may act on, locked until the end of the transaction.
pub(super) struct Managed {
    pub account: Account,
    pub managed: ManagedAccount,
}

impl Managed {
    /// Locks the account `id`.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none, [`Error::Forbidden`] when `staff` does not outrank it.
    pub(super) async fn lock(tx: &mut Tx, staff: &Staff, id: AccountId) -> Result<Self> {
        let account = store::account::lock(tx, &[id]).await?.pop().ok_or(Error::NotFound)?;
        let managed = store::managed_account::find(&mut *tx, id).await?.ok_or(Error::NotFound)?;
        if !staff.outranks(managed.permissions.position()) {
            return Err(Error::forbidden(format!(
                "@{} has a role that is not below yours: you may not act on the account",
                account.acct()
            )));
        }
        Ok(Self { account, managed })
    }

    /// The error for an account without a user.
    ///
    /// # Errors
    /// [`Error::Forbidden`] for a remote account, and for a local one whose removal has begun.
    pub(super) fn require_user(&self) -> Result<()> {
        let acct = self.account.acct();
        match self.managed.user_id {
            Some(_) => Ok(()),
            None if self.account.is_local() => Err(Error::forbidden(format!("@{acct} is removed for good"))),
            None => Err(Error::forbidden(format!("@{acct} is not an account of this server"))),
        }
    }

    fn entry(&self, action: &'static str) -> Entry {
        Entry::new(action, Target::account(&self.account))
    }
}

/// Approves a pending sign-up, and mails the person. `confirm`: treats the e-mail address as confirmed.
///
/// # Errors
/// [`Error::Forbidden`] when nothing is pending, and for an account that `staff` does not outrank.
#[model::use_case]
pub async fn approve(cx: &Cx, staff: &Staff, id: AccountId, confirm: bool) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    found.require_user()?;
    let approved = store::user::approve(&mut tx, id).await?;
    let confirmed = confirm && store::user::confirm(&mut tx, id, cx.clock.now()).await?;
    if !approved && !confirmed {
        return Err(Error::forbidden(format!("@{} is approved already", found.account.username)));
    }
    if approved {
        email::queue(cx, &mut tx, id, Subject::Approved, None).await?;
    }
    if confirmed || found.managed.confirmed_at.is_some() {
        sign_up::admit(cx, &mut tx, id).await?;
    }
    store::account::bump(&mut tx, id).await?;
    audit::record(cx, &mut tx, staff, found.entry("account.approve")).await?;
    Ok(tx.commit().await?)
}

/// Rejects a pending sign-up: the account and its user are deleted, and name and e-mail address are free again.
///
/// # Errors
/// [`Error::Forbidden`] when nothing is pending, and for an account that `staff` does not outrank.
#[model::use_case]
pub async fn reject(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    found.require_user()?;
    if found.managed.approved != Some(false) {
        return Err(Error::forbidden(format!("@{} is approved already", found.account.username)));
    }
    removal::erase(&mut tx, id).await?;
    audit::record(cx, &mut tx, staff, found.entry("account.reject")).await?;
    Ok(tx.commit().await?)
}

/// Begins the deletion of a suspended account with all its data, before its time.
///
/// # Errors
/// [`Error::Forbidden`] when it is not suspended or its deletion has begun, and for an account that `staff` does not
/// outrank.
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    if let Some(account) = store::account::find(&mut tx, id).await? {
        ownership::keep(&mut tx, &account).await?;
    }
    let found = Managed::lock(&mut tx, staff, id).await?;
    let gone = found.account.is_local() && found.managed.user_id.is_none();
    if gone || !found.account.is_suspended() {
        return Err(Error::forbidden(format!("@{} is not suspended for a time", found.account.acct())));
    }
    removal::begin(cx, &mut tx, &found.account).await?;
    audit::record(cx, &mut tx, staff, found.entry("account.delete")).await?;
    Ok(tx.commit().await?)
}

/// Permits a disabled account to sign in again; nothing happens when it may.
///
/// # Errors
/// [`Error::Forbidden`] for a remote account, and for one that `staff` does not outrank.
#[model::use_case]
pub async fn enable(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    found.require_user()?;
    let changed = store::managed_account::set_disabled(&mut tx, id, false).await?;
    store::account::bump(&mut tx, id).await?;
    finish(cx, tx, staff, found.entry("account.enable"), changed).await
}

/// Lifts the limit (silence) of an account; nothing happens when there is none.
///
/// # Errors
/// [`Error::Forbidden`] for an account that `staff` does not outrank.
#[model::use_case]
pub async fn unsilence(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    let changed = store::managed_account::set_limited(&mut tx, id, None).await?;
    finish(cx, tx, staff, found.entry("account.unsilence"), changed).await
}

/// Lifts the mark by which all media of an account are sensitive; nothing happens when there is none.
///
/// # Errors
/// As [`unsilence`].
#[model::use_case]
pub async fn unsensitive(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    let changed = store::managed_account::set_sensitized(&mut tx, id, None).await?;
    finish(cx, tx, staff, found.entry("account.unsensitive"), changed).await
}

/// Lifts a suspension with all that it hid.
///
/// # Errors
/// [`Error::Forbidden`] when the account is not suspended or its deletion has begun, and for an account that `staff`
/// does not outrank.
#[model::use_case]
pub async fn unsuspend(cx: &Cx, staff: &Staff, id: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let found = Managed::lock(&mut tx, staff, id).await?;
    if found.account.is_local() {
        found.require_user()?;
    }
    if !found.account.is_suspended() {
        return Err(Error::forbidden(format!("@{} is not suspended", found.account.acct())));
    }
    removal::reveal(cx, &mut tx, &found.account).await?;
    finish(cx, tx, staff, found.entry("account.unsuspend"), true).await
}

/// Logs `entry` if something changed, and commits.
async fn finish(cx: &Cx, mut tx: Tx, staff: &Staff, entry: Entry, changed: bool) -> Result<()> {
    if changed {
        audit::record(cx, &mut tx, staff, entry).await?;
    }
    Ok(tx.commit().await?)
}
