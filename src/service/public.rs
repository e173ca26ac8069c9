//! What anyone sees of this server in a browser or a feed reader: people, their statuses, threads.
//!
//! Nobody is signed in here: [`visibility`] and [`timeline`] are asked for what a stranger sees.

use crate::app::App;
use crate::error::{Error, Result};
use crate::service::timeline::{self, ProfileWanted, Slice, Thread};
use crate::service::visibility::{self, Seen};
use model::{Account, Cursor, StatusId};

/// The local account called `name` (`alice`, or `alice@` and a domain of this server), in any case. A suspended one is
/// found.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it waits for confirmation or approval.
pub async fn person(app: &App, name: &str) -> Result<Account> {
    let username = match name.split_once('@') {
        None => name,
        Some((username, domain)) if app.config.is_local_domain(domain) => username,
        Some(_) => return Err(Error::NotFound),
    };
    let account = store::account::find_local(&app.db, username).await?.ok_or(Error::NotFound)?;
    store::account::find_known(&app.db, account.id).await?.ok_or(Error::NotFound)
}

/// The one whose server it is: the oldest local account. For a server with one person.
///
/// # Errors
/// When the database does.
pub async fn owner(app: &App) -> Result<Option<Account>> {
    Ok(store::account::find_oldest_local(&app.db).await?)
}

/// What `account` said and boosted, answers to others left out; `feed`: what it said only.
///
/// # Errors
/// When the database does.
pub async fn statuses(app: &App, account: &Account, feed: bool, cursor: &Cursor) -> Result<Slice> {
    let wanted = ProfileWanted { exclude_replies: true, exclude_reblogs: feed, ..ProfileWanted::default() };
    timeline::profile(app, None, account.id, &wanted, cursor).await
}

/// What `account` pinned to its profile.
///
/// # Errors
/// When the database does.
pub async fn pinned(app: &App, account: &Account) -> Result<Vec<Seen>> {
    let wanted = ProfileWanted { pinned: true, ..ProfileWanted::default() };
    let limit = app.settings().max_pinned_statuses;
    Ok(timeline::profile(app, None, account.id, &wanted, &Cursor::first(limit)).await?.shown)
}

/// A status of `account`, with its thread.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, hidden or someone else's.
pub async fn status(app: &App, account: &Account, id: StatusId) -> Result<(Seen, Thread)> {
    let seen = visibility::status(app, None, id).await?;
    if seen.head().account_id != account.id {
        return Err(Error::NotFound);
    }
    let thread = timeline::context(app, None, seen.proper().id).await?;
    Ok((seen, thread))
}
