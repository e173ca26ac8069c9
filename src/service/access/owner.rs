//! Local accounts as paths and addresses of this server name them: by id, by the present user name, or by a former one.
//!
//! Spec: docs/contract/federation.md#2-uris

use context::Cx;
use context::error::{Error, Result};
use model::urls::Owner;
use model::{Account, AccountId};

/// The local account that `owner` names, also one that is suspended, or awaits confirmation or approval.
pub(crate) async fn find(cx: &Cx, owner: &Owner) -> Result<Option<Account>> {
    match owner {
        Owner::Page(name) | Owner::Name(name) => Ok(store::username::find_account(&cx.db, name).await?),
        Owner::Id(id) => {
            let account = store::account::find(&cx.db, *id).await?.filter(Account::is_local);
            Ok(account.filter(|account| account.uri == cx.urls.actor(*id)))
        }
    }
}

/// The local account that `owner` names. A suspended account is returned until its data is deleted.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, or awaits confirmation or approval; [`Error::Gone`] when it was removed.
#[model::use_case]
pub async fn known(cx: &Cx, owner: &Owner) -> Result<Account> {
    let account = find(cx, owner).await?.ok_or(Error::NotFound)?;
    if account.is_suspended() && store::user::find(&cx.db, account.id).await?.is_none() {
        return Err(Error::Gone);
    }
    store::account::find_known(&cx.db, account.id).await?.ok_or(Error::NotFound)
}

/// True when `/users/name` is not the id of `account`, but leads to it.
#[must_use]
pub fn is_elsewhere(cx: &Cx, account: &Account, owner: &Owner) -> bool {
    matches!(owner, Owner::Name(name) if !account.uri.eq_ignore_ascii_case(&cx.urls.named_actor(name)))
}

/// The id of the local account with the page or actor `url`; `None` for any other URL. Says nothing of whether the account
/// may be shown.
pub(crate) async fn id_of(cx: &Cx, url: &str) -> Result<Option<AccountId>> {
    match cx.urls.owner(url.trim_end_matches('/')) {
        Some((owner, "")) => Ok(find(cx, &owner).await?.map(|account| account.id)),
        Some(_) | None => Ok(None),
    }
}
