//! Lists of accounts: create, change and delete them, their members, and notifications of their owners of new
//! statuses.
//!
//! Reached from the routes of lists, and through [`notify_entered`] from the code that writes feeds. All changes of a
//! list lock the account of its owner first, as following does, so that limits hold and members of a list are
//! followed. Jobs apply a change to feeds: [`Change`]. The timeline is in [`timeline`](crate::timeline).
//!
//! Spec: docs/contract/rules.md#14-lists.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Deserialize;
pub use store::list::List;

use super::is_announced;
use crate::notification;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use database::Tx;
use model::list::RepliesPolicy;
use model::params::required_to_create;
use model::relationship::Listed;
use model::{AccountId, Actor, Cursor, NotificationType, RowId, Status, StatusId};
use store::feed::Feed;
use store::list::NewListNotice;

/// Most lists of an account (docs/contract/rules.md#14-lists).
const MOST: i64 = 50;
/// Longest title, in characters.
const TITLE_MAX: usize = 256;

/// The options of a list; `None` leaves one as it is, or takes the default of a new list.
#[model::parameters]
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
pub struct ListParams {
    /// At most 256 characters.
    #[schemars(transform = required_to_create)]
    pub title: Option<String>,
    /// Which replies to others are shown: replies to accounts that the user follows, to members of the list, or none.
    /// To members by default. A change rebuilds the list.
    pub replies_policy: Option<RepliesPolicy>,
    /// Whether members are left out of the home timeline.
    pub exclusive: Option<bool>,
    /// Whether each new status creates a notification.
    pub notify: Option<bool>,
}

impl ListParams {
    /// `list` with these options.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a title that is blank or too long.
    fn applied_to(self, list: List) -> Result<List> {
        let title = self.title.map_or(list.title, |title| title.trim().to_owned());
        if title.is_empty() {
            return Err(Error::invalid("Validation failed: Title can't be blank"));
        }
        if title.chars().count() > TITLE_MAX {
            return Err(Error::invalid(format!(
                "Validation failed: Title is too long (maximum is {TITLE_MAX} characters)"
            )));
        }
        Ok(List {
            title,
            replies_policy: self.replies_policy.unwrap_or(list.replies_policy),
            exclusive: self.exclusive.unwrap_or(list.exclusive),
            notify: self.notify.unwrap_or(list.notify),
            ..list
        })
    }
}

/// The lists of `viewer`, oldest first.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor) -> Result<Vec<List>> {
    Ok(store::list::list(&cx.db, viewer.id).await?)
}

/// One of the viewer's lists.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or someone else's.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: RowId) -> Result<List> {
    store::list::find(&cx.db, viewer.id, id).await?.ok_or(Error::NotFound)
}

/// Creates a list.
///
/// # Errors
/// [`Error::Invalid`] for a title that is missing, blank or too long, and beyond 50 lists.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, params: ListParams) -> Result<List> {
    let new = params.applied_to(List {
        id: cx.ids.next(),
        account_id: actor.id,
        title: String::new(),
        replies_policy: RepliesPolicy::List,
        exclusive: false,
        notify: false,
        created_at: cx.clock.now(),
    })?;
    let mut tx = cx.db.begin().await?;
    store::account::lock(&mut tx, &[actor.id]).await?;
    if store::list::count(&mut tx, actor.id).await? >= MOST {
        return Err(Error::invalid(format!("Validation failed: You have reached the maximum of {MOST} lists")));
    }
    store::list::insert(&mut tx, &new).await?;
    tx.commit().await?;
    Ok(new)
}

/// Changes the options of a list.
///
/// # Errors
/// [`Error::NotFound`] as in [`find`], [`Error::Invalid`] for a title that is blank or too long.
#[model::use_case]
pub async fn update(cx: &Cx, actor: &Actor, id: RowId, params: ListParams) -> Result<List> {
    let mut tx = cx.db.begin().await?;
    let old = lock(&mut tx, actor, id).await?;
    let new = params.applied_to(old.clone())?;
    store::list::update(&mut tx, &new).await?;
    if new.exclusive != old.exclusive {
        let members = store::list::list_members(&mut tx, id).await?;
        change::record(cx, &mut tx, Change::ListExclusiveChanged { owner: actor.id, members }).await?;
    }
    if new.replies_policy != old.replies_policy {
        change::record(cx, &mut tx, Change::ListPolicyChanged { list: id }).await?;
    }
    tx.commit().await?;
    Ok(new)
}

/// Deletes a list with its feed and the notifications about it.
///
/// # Errors
/// [`Error::NotFound`] as in [`find`].
#[model::use_case]
pub async fn delete(cx: &Cx, actor: &Actor, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let list = lock(&mut tx, actor, id).await?;
    let members = store::list::list_members(&mut tx, id).await?;
    let notices = store::list::list_notices(&mut tx, id).await?;
    notification::retract_all(&mut tx, &NotificationType::ListStatus.into(), &notices).await?;
    store::plugin_feed::clear(&mut tx, &[Feed::list(id)]).await?;
    store::list::delete(&mut tx, id).await?;
    let changes = [
        Change::ListMembersChanged { list: id, owner: actor.id, members, exclusive: list.exclusive },
        Change::ListDeleted { list: id, owner: actor.id },
    ];
    change::record_all(cx, &mut tx, &changes).await?;
    tx.commit().await?;
    Ok(())
}

/// A page of the accounts on a list, by their ids.
///
/// # Errors
/// [`Error::NotFound`] as in [`find`].
#[model::use_case]
pub async fn members(cx: &Cx, viewer: &Actor, id: RowId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let list = find(cx, viewer, id).await?;
    Ok(store::list::page_of_members(&cx.db, list.id, cursor).await?)
}

/// Adds accounts to a list, all or none. Allowed are accounts that `actor` follows or requested to follow, and the
/// actor.
///
/// # Errors
/// [`Error::NotFound`] for the list as in [`find`], and for an account that is unknown or may not be added, without a
/// difference between the two; [`Error::Invalid`] when one is on it already.
#[model::use_case]
pub async fn add_members(cx: &Cx, actor: &Actor, id: RowId, accounts: &[AccountId]) -> Result<()> {
    let accounts: Vec<AccountId> = accounts.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let mut tx = cx.db.begin().await?;
    let list = lock(&mut tx, actor, id).await?;
    if store::list::list_eligible(&mut tx, actor.id, &accounts).await?.len() < accounts.len() {
        return Err(Error::NotFound);
    }
    if store::list::insert_members(&mut tx, id, &accounts).await? < accounts.len() as u64 {
        return Err(Error::invalid("Validation failed: Account is on the list already"));
    }
    record_members(cx, &mut tx, &list, accounts).await?;
    tx.commit().await?;
    Ok(())
}

/// Removes accounts from a list. Accounts that are not on it are ignored.
///
/// # Errors
/// [`Error::NotFound`] as in [`find`].
#[model::use_case]
pub async fn remove_members(cx: &Cx, actor: &Actor, id: RowId, accounts: &[AccountId]) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let list = lock(&mut tx, actor, id).await?;
    let gone = store::list::delete_members(&mut tx, id, accounts).await?;
    record_members(cx, &mut tx, &list, gone).await?;
    tx.commit().await?;
    Ok(())
}

async fn record_members(cx: &Cx, tx: &mut Tx, list: &List, members: Vec<AccountId>) -> Result<()> {
    let change =
        Change::ListMembersChanged { list: list.id, owner: list.account_id, members, exclusive: list.exclusive };
    change::record(cx, tx, change).await
}

/// One of the actor's lists, with the actor's account locked until the transaction ends.
///
/// # Errors
/// [`Error::NotFound`] as in [`find`].
async fn lock(tx: &mut Tx, actor: &Actor, id: RowId) -> Result<List> {
    store::account::lock(tx, &[actor.id]).await?;
    store::list::find(&mut *tx, actor.id, id).await?.ok_or(Error::NotFound)
}

/// Notifies the owners of lists with `notify` of statuses that just entered them, as (list, status), if they are
/// [announced](is_announced). Each owner is notified once per status, for the first of the owner's lists. No
/// statement when `entered` contains no list.
#[model::use_case]
pub async fn notify_entered(cx: &Cx, tx: &mut Tx, entered: &[(RowId, StatusId)]) -> Result<()> {
    if entered.is_empty() {
        return Ok(());
    }
    let lists: Vec<RowId> = entered.iter().map(|(list, _)| *list).collect();
    let owners: HashMap<RowId, AccountId> = store::list::list_notifying(&mut *tx, &lists).await?.into_iter().collect();
    if owners.is_empty() {
        return Ok(());
    }
    let statuses: Vec<StatusId> = entered.iter().map(|(_, status)| *status).collect();
    let statuses = store::status::list(&mut *tx, &statuses).await?;
    let announced: HashMap<StatusId, &Status> =
        statuses.iter().filter(|status| is_announced(status)).map(|status| (status.id, status)).collect();
    let new = entered.iter().filter_map(|(list, status)| {
        let account = *owners.get(list)?;
        announced.get(status).filter(|status| status.account_id != account)?;
        Some(NewListNotice { id: cx.ids.next(), account, status: *status, list: *list })
    });
    let new: Vec<NewListNotice> = new.collect();
    let made = store::list::insert_notices(tx, &new).await?;
    let notices = new.iter().filter(|notice| made.contains(&notice.id));
    let notices = notices.filter_map(|notice| {
        Some(Notice {
            receiver: notice.account,
            from: announced.get(&notice.status)?.account_id,
            kind: NotificationType::ListStatus.into(),
            activity: notice.id.into(),
            status: Some(notice.status),
        })
    });
    let notices: Vec<Notice> = notices.collect();
    notification::notify(cx, tx, &notices).await.map(drop)
}
