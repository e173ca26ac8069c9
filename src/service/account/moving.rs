//! Moving to another account, and back: aliases, the move, and a redirect without one.
//!
//! An account that moved leads to its target everywhere. Its owner may still read, and move back; followers follow the
//! target from then on, here by a job ([`carry_over`](super::carry_over)) and elsewhere by their own servers, which are sent
//! `Move`. Statuses, media, accounts that one follows and the settings stay where they are. Moves of accounts of other
//! servers arrive in [`remote::moving`](crate::remote::moving).
//!
//! Spec: docs/contract/rules.md#9-accounts, docs/contract/federation.md#7-accepting-activities

use chrono::TimeDelta;

use crate::access::{accounts, owner};
use crate::rate_limits;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result, Validation};
use context::federation::Resolved;
use context::limits::Key;
use crypto::Secret;
use database::Tx;
use model::{Account, AccountId, Time};
use store::moving::Move;

/// Time between two moves of an account.
pub const COOLDOWN: TimeDelta = TimeDelta::days(30);
/// Most aliases of an account.
pub const ALIASES_MAX: usize = 20;

/// Another account of the same person, which may move here.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The id of its actor.
    pub uri: String,
    /// `None` when it is no longer known here.
    pub account: Option<Account>,
}

/// Where an account is on its way.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The account that it moved or redirects to.
    pub moved_to: Option<Account>,
    /// The earliest time of the next move; `None` when that may be now.
    pub next_move_at: Option<Time>,
}

/// Whether and where `account` moved, and when it may move again.
#[model::use_case]
pub async fn standing(cx: &Cx, account: &Account) -> Result<Standing> {
    let moved_to = match account.moved_to_account_id {
        Some(target) => store::account::find(&cx.db, target).await?,
        None => None,
    };
    let last = store::moving::last(&cx.db, account.id).await?.map(|last| last.created_at + COOLDOWN);
    Ok(Standing { moved_to, next_move_at: last.filter(|next| *next > cx.clock.now()) })
}

/// The aliases of `account`, in the order in which they were added.
#[model::use_case]
pub async fn aliases(cx: &Cx, account: AccountId) -> Result<Vec<Alias>> {
    let mut uris = store::moving::list_aliases(&cx.db, account).await?;
    uris.truncate(ALIASES_MAX);
    let mut accounts = store::remote::find_accounts(&cx.db, &uris).await?;
    let mut account = |uri: &str| {
        let index = accounts.iter().position(|account| account.uri == uri)?;
        Some(accounts.swap_remove(index))
    };
    Ok(uris.into_iter().map(|uri| Alias { account: account(&uri), uri }).collect())
}

/// Adds the account `named` (`user@domain`, or a URL), looked up on its server, to the aliases of `account`. Returns it; an
/// alias that is there already is not added again.
///
/// # Errors
/// [`Error::Validation`] naming `alias` when there is no such account, for the account itself, and beyond
/// [`ALIASES_MAX`].
#[model::use_case]
pub async fn add_alias(cx: &Cx, account: &Account, named: &str) -> Result<Account> {
    let other = find(cx, named).await?.ok_or_else(|| invalid("alias", "cannot be found"))?;
    if other.id == account.id {
        return Err(invalid("alias", "is this account itself"));
    }
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account.id]).await?;
    let mut aliases = store::moving::list_aliases(&mut tx, account.id).await?;
    if aliases.contains(&other.uri) {
        return Ok(other);
    }
    if aliases.len() >= ALIASES_MAX {
        return Err(invalid("alias", "is one too many: an account has at most 20"));
    }
    aliases.push(other.uri.clone());
    replace_aliases(cx, tx, account.id, aliases).await?;
    Ok(other)
}

/// Removes the alias `uri` of `account`; not an error when there is none.
#[model::use_case]
pub async fn remove_alias(cx: &Cx, account: &Account, uri: &str) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account.id]).await?;
    let mut aliases = store::moving::list_aliases(&mut tx, account.id).await?;
    let before = aliases.len();
    aliases.retain(|alias| alias != uri);
    if aliases.len() == before { Ok(()) } else { replace_aliases(cx, tx, account.id, aliases).await }
}

/// Replaces the aliases of `account` by the accounts `named`, all or none.
///
/// # Errors
/// As [`add_alias`].
#[model::use_case]
pub async fn set_aliases(cx: &Cx, account: &Account, named: &[String]) -> Result<()> {
    if named.len() > ALIASES_MAX {
        return Err(invalid("alias", "is one too many: an account has at most 20"));
    }
    let mut aliases = Vec::new();
    for name in named {
        let other = find(cx, name).await?.ok_or_else(|| invalid("alias", "cannot be found"))?;
        if other.id == account.id {
            return Err(invalid("alias", "is this account itself"));
        }
        if !aliases.contains(&other.uri) {
            aliases.push(other.uri);
        }
    }
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[account.id]).await?;
    replace_aliases(cx, tx, account.id, aliases).await
}

async fn replace_aliases(cx: &Cx, mut tx: Tx, account: AccountId, aliases: Vec<String>) -> Result<()> {
    store::moving::set_aliases(&mut tx, account, aliases).await?;
    change::record(cx, &mut tx, Change::AccountUpdated { account }).await?;
    Ok(tx.commit().await?)
}

/// Moves `account` to the account `named` (`user@domain`, or a URL), after checking the password of its owner. The profile
/// of the target is fetched again, and must name `account` as an alias.
///
/// # Errors
/// [`Error::Validation`] naming `current_password`, or `target` when there is no such account, when it does not name this
/// one, or moved itself, and while an earlier move is less than 30 days old; [`Error::RateLimited`].
#[model::use_case]
pub async fn move_to(cx: &Cx, account: &Account, password: Secret, named: &str) -> Result<Account> {
    let target = destination(cx, account, password, named).await?;
    if !store::moving::list_aliases(&cx.db, target.id).await?.contains(&account.uri) {
        return Err(invalid("target", "does not name this account as an alias: add it there first"));
    }
    let mut tx = cx.db.begin().await?;
    let account = lock(&mut tx, account.id).await?;
    if store::moving::last(&mut tx, account.id).await?.is_some_and(|last| last.created_at + COOLDOWN > cx.clock.now()) {
        return Err(invalid("target", "must wait: an account can move once in 30 days"));
    }
    begin(cx, &mut tx, &account, target.id).await?;
    change::record(cx, &mut tx, Change::AccountUpdated { account: account.id }).await?;
    tx.commit().await?;
    Ok(target)
}

/// Lets `account` lead to the account `named`, without moving followers, after checking the password of its owner.
///
/// # Errors
/// As [`move_to`], without conditions about aliases and earlier moves.
#[model::use_case]
pub async fn redirect(cx: &Cx, account: &Account, password: Secret, named: &str) -> Result<Account> {
    let target = destination(cx, account, password, named).await?;
    let mut tx = cx.db.begin().await?;
    let account = lock(&mut tx, account.id).await?;
    store::moving::set_target(&mut tx, account.id, Some(target.id)).await?;
    change::record(cx, &mut tx, Change::AccountUpdated { account: account.id }).await?;
    tx.commit().await?;
    Ok(target)
}

/// Ends a move or redirect: the account can be used as before. Followers stay where they are. Not an error for an account
/// that did not move.
#[model::use_case]
pub async fn move_back(cx: &Cx, account: &Account) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let account = lock(&mut tx, account.id).await?;
    if account.moved_to_account_id.is_some() {
        store::moving::set_target(&mut tx, account.id, None).await?;
        change::record(cx, &mut tx, Change::AccountUpdated { account: account.id }).await?;
    }
    Ok(tx.commit().await?)
}

/// Marks a locked account as moved, and begins to carry its followers over.
pub(crate) async fn begin(cx: &Cx, tx: &mut Tx, account: &Account, target: AccountId) -> Result<()> {
    let moved = Move {
        id: cx.ids.next(),
        account_id: account.id,
        target_account_id: target,
        followers_count: account.followers_count,
        created_at: cx.clock.now(),
    };
    store::moving::set_target(tx, account.id, Some(target)).await?;
    store::moving::insert(tx, &moved).await?;
    change::record(cx, tx, Change::AccountMoved { account: account.id, target, id: moved.id }).await
}

/// The account that `account` is to move or lead to, fetched again.
async fn destination(cx: &Cx, account: &Account, password: Secret, named: &str) -> Result<Account> {
    rate_limits::require(cx, &rate_limits::PASSWORD_CHANGE, &Key::Person(account.id))?;
    let user = store::user::find(&cx.db, account.id).await?.ok_or(Error::NotFound)?;
    if !crypto::verify_password(password, user.password_hash).await? {
        return Err(invalid("current_password", "is not your current password"));
    }
    let found = find(cx, named).await?.ok_or_else(|| invalid("target", "cannot be found"))?;
    // Its server may have been told only now, and what is stored may be old.
    if !found.is_local() && !cx.federation.refresh_account(cx, found.id).await? {
        return Err(invalid("target", "is of a server that cannot be asked now"));
    }
    let target = store::account::find(&cx.db, found.id).await?.filter(|target| !target.is_suspended());
    let target = target.ok_or_else(|| invalid("target", "cannot be found"))?;
    if target.id == account.id {
        return Err(invalid("target", "is this account itself"));
    }
    // Also a ring: the target leads back here.
    if target.moved_to_account_id.is_some() {
        return Err(invalid("target", "has moved itself"));
    }
    Ok(target)
}

/// The account `user@domain`, or with a URL, looked up on its server.
async fn find(cx: &Cx, named: &str) -> Result<Option<Account>> {
    let named = named.trim();
    let id = if named.starts_with(cx.urls.origin.as_str()) {
        owner::id_of(cx, named).await?
    } else if named.starts_with("https://") || named.starts_with("http://") {
        match cx.federation.find_by_url(cx, named).await? {
            Some(Resolved::Account(id)) => Some(id),
            Some(Resolved::Status(_)) | None => None,
        }
    } else {
        accounts::resolve(cx, named).await?
    };
    let Some(id) = id else { return Ok(None) };
    Ok(store::account::find_known(&cx.db, id).await?.filter(|account| !account.is_suspended()))
}

async fn lock(tx: &mut Tx, account: AccountId) -> Result<Account> {
    store::account::lock(tx, &[account]).await?.pop().ok_or(Error::NotFound)
}

fn invalid(field: &'static str, why: &'static str) -> Error {
    let mut faults = Validation::default();
    faults.add(field, "ERR_INVALID", why);
    Error::Validation(faults)
}
