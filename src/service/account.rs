//! Finding accounts: by id, by name, by what they are connected to.
//!
//! Spec: contract rules, sections 2 and 9.

use crate::app::App;
use crate::error::{Error, Result};
use crate::model::{Account, AccountId, Actor, Cursor};
use crate::store;
use crate::store::relationship::Listed;

/// The account, unless it is a local one that waits for confirmation or approval. A suspended one is found.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or must not be known of; the two look alike.
pub async fn find_visible(app: &App, id: AccountId) -> Result<Account> {
    store::account::find_known(&app.db, id).await?.ok_or(Error::NotFound)
}

/// Those of `ids` that may be known of, each once, in the order given.
///
/// # Errors
/// When the database does.
pub async fn list_visible(app: &App, ids: &[AccountId]) -> Result<Vec<AccountId>> {
    let mut known = store::account::list_known(&app.db, ids).await?;
    let mut listed = Vec::with_capacity(known.len());
    for id in ids {
        if let Some(at) = known.iter().position(|candidate| candidate == id) {
            listed.push(known.swap_remove(at));
        }
    }
    Ok(listed)
}

/// Who follows `id`, as far as `viewer` may know.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn followers(app: &App, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(app, id).await?;
    if hides_network(app, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_followers(&app.db, id, filter, cursor, app.clock.now()).await?)
}

/// Whom `id` follows, as far as `viewer` may know.
///
/// # Errors
/// [`Error::NotFound`] as in [`find_visible`].
pub async fn following(app: &App, viewer: Option<&Actor>, id: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let account = find_visible(app, id).await?;
    if hides_network(app, viewer, &account).await? {
        return Ok(Vec::new());
    }
    let filter = viewer.map(|actor| actor.id).filter(|viewer| *viewer != id);
    Ok(store::follow::list_following(&app.db, id, filter, cursor, app.clock.now()).await?)
}

/// True when `viewer` must not see whom `account` follows and who follows it.
async fn hides_network(app: &App, viewer: Option<&Actor>, account: &Account) -> Result<bool> {
    if account.is_suspended() {
        return Ok(true);
    }
    match viewer {
        Some(viewer) if viewer.id == account.id => Ok(false),
        _ if account.hide_collections == Some(true) => Ok(true),
        Some(viewer) => Ok(store::relationship::blocks(&app.db, account.id, viewer.id).await?),
        None => Ok(false),
    }
}
