//! Notifications: find and delete. [`list`] reads pages of them, [`make`] inserts them, and [`waiting`] stores the
//! candidates that plugins must judge first. [`groups`] reads them by groups, [`policy`] stores the policies of
//! receivers, [`requests`] the senders of filtered notifications.
//!
//! Reached from `service::notification`, which decides about notifications. Spec:
//! docs/contract/rules.md#13-notifications.

pub mod push;

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::notification::NotificationKind;
use model::{AccountId, Notification, NotificationId, boxed};

/// The columns of [`NotificationRow`], from a table with the alias `n`.
macro_rules! listed_columns {
    () => {
        concat!(
            model::notification_columns!(),
            ", (SELECT a.version FROM accounts a WHERE a.id = n.from_account_id) AS from_version"
        )
    };
}

/// SQL condition: the sender is not suspended. A scalar subquery instead of a join, so that the planner cannot start
/// with `accounts`: an index of `notifications` always leads.
macro_rules! sender_not_suspended {
    () => {
        " (SELECT a.suspended_at FROM accounts a WHERE a.id = n.from_account_id) IS NULL "
    };
}

/// The conditions of every page: `$1` receiver, `$3` and `$4` bounds of the cursor, `$5` whether to include filtered
/// ones, and no suspended sender. `$2` (types), `$6` (limit) and higher ones are used outside of it.
macro_rules! within {
    () => {
        concat!(
            " WHERE n.account_id = $1 AND n.id < $3 AND n.id > $4 AND (NOT n.filtered OR $5) AND",
            sender_not_suspended!()
        )
    };
}

pub mod groups;
pub mod list;
pub mod make;
pub mod policy;
pub mod requests;
pub mod waiting;

use groups::DeletedMember;

/// A notification with the version of its sender, for rendering.
#[derive(Clone, Debug, model::Row)]
pub struct NotificationRow {
    #[row(flatten)]
    pub notification: Notification,
    /// The version of the sender, the cache key of its rendering.
    pub from_version: i64,
}

/// A filter of notifications.
#[derive(Clone, Debug)]
pub struct NotificationFilter {
    /// Only of these types; an empty list finds nothing.
    pub types: Vec<NotificationKind>,
    /// Only from this account.
    pub from: Option<AccountId>,
    /// Also includes notifications filtered by the notification policy.
    pub filtered: bool,
}

impl NotificationFilter {
    fn types(&self) -> Texts {
        Texts::of(self.types.iter().map(NotificationKind::as_str))
    }
}

/// The notification `id` of `account`, if its type is among `types` and its sender is not suspended.
#[boxed]
pub async fn find(
    db: Conn<'_>,
    account: AccountId,
    id: NotificationId,
    types: &[NotificationKind],
) -> Result<Option<NotificationRow>> {
    db.query(sql!(
        "SELECT " listed_columns!() "
         FROM notifications n
         WHERE n.id = $2 AND n.account_id = $1 AND n.type" in("$3") "AND" sender_not_suspended!()
    ))
    .bind(account)
    .bind(id)
    .bind(Texts::of(types.iter().map(NotificationKind::as_str)))
    .optional()
    .await
}

/// Filters `ids` by type and drops notifications from suspended senders. Does not check the receiver. In the order of
/// their ids.
#[boxed]
pub async fn list_each(
    db: Conn<'_>,
    ids: &[NotificationId],
    types: &[NotificationKind],
) -> Result<Vec<NotificationRow>> {
    db.query(sql!(
        "SELECT " listed_columns!() "
         FROM notifications n
         WHERE n.id" in("$1") "AND n.type" in("$2") "AND" sender_not_suspended!() "
         ORDER BY n.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(Texts::of(types.iter().map(NotificationKind::as_str)))
    .all()
    .await
}

/// Deletes the notification `id` of `account`; false when there was none.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: NotificationId) -> Result<bool> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!("DELETE FROM notifications WHERE id = $2 AND account_id = $1 RETURNING account_id, group_key"))
        .bind(account)
        .bind(id)
        .all()
        .await?;
    Ok(groups::delete_empty(tx, deleted).await? > 0)
}

/// Deletes every notification of `account`, with its groups and requests.
#[boxed]
pub async fn delete_all(tx: &mut Tx, account: AccountId) -> Result<()> {
    for part in [
        sql!("DELETE FROM notifications WHERE account_id = $1"),
        sql!("DELETE FROM notification_groups WHERE account_id = $1"),
        sql!("DELETE FROM notification_requests WHERE account_id = $1"),
    ] {
        tx.query(part).bind(account).execute().await?;
    }
    Ok(())
}

/// Deletes up to `limit` notifications with an id below `before`; returns how many.
#[boxed]
pub async fn delete_old(tx: &mut Tx, before: NotificationId, limit: i64) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications
             WHERE (account_id, id) IN (
                 SELECT n.account_id, n.id FROM notifications n WHERE n.id < $1 ORDER BY n.id LIMIT $2
             )
             RETURNING account_id, group_key"
        ))
        .bind(before)
        .bind(limit)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}

/// The condition of the index `notifications_of_plugins`, which a statement must repeat for the index to be used.
macro_rules! of_plugins {
    () => {
        "n.type NOT IN ('mention', 'status', 'list_status', 'reblog', 'status_reference', 'quote', 'pending.quote', 'pending.reply', 'pending.favourite', 'pending.reblog', 'follow', 'follow_request', 'favourite', 'poll', 'update', 'quoted_update', 'severed_relationships', 'moderation_warning', 'move', 'admin.sign_up', 'admin.report')"
    };
}

/// The number of notifications of these types, which plugins declare, counted up to `most`.
#[boxed]
pub async fn count_of_types(db: Conn<'_>, types: &[String], most: i64) -> Result<i64> {
    db.query(sql!(
        "SELECT COUNT(*) FROM (
             SELECT 1 FROM notifications n WHERE n.type" in("$1") "AND " of_plugins!() " LIMIT $2
         ) counted"
    ))
    .bind(Texts::of(types.iter().cloned()))
    .bind(most)
    .scalar()
    .await
}

/// Deletes up to `limit` notifications of these types, which plugins declared, with an id up to `last`; returns how
/// many.
#[boxed]
pub async fn delete_some(tx: &mut Tx, types: &[String], last: i64, limit: i64) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications
             WHERE (account_id, id) IN (
                 SELECT n.account_id, n.id FROM notifications n
                 WHERE n.type" in("$1") "AND n.id <= $2 AND " of_plugins!() " LIMIT $3
             )
             RETURNING account_id, group_key"
        ))
        .bind(Texts::of(types.iter().cloned()))
        .bind(last)
        .bind(limit)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}

/// Deletes the notifications of `account` from `from`.
#[boxed]
pub async fn delete_from(tx: &mut Tx, account: AccountId, from: AccountId) -> Result<()> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications WHERE account_id = $1 AND from_account_id = $2 RETURNING account_id, group_key"
        ))
        .bind(account)
        .bind(from)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await.map(drop)
}

/// Deletes up to `limit` notifications of `account` from accounts of `domain`; returns how many. `CROSS JOIN`: reads
/// the account's own notifications, whose number is bounded by retention, instead of the accounts of the domain.
#[boxed]
pub async fn delete_some_from_domain(tx: &mut Tx, account: AccountId, domain: &str, limit: i64) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications
             WHERE (account_id, id) IN (
                 SELECT n.account_id, n.id FROM notifications n CROSS JOIN accounts a
                 WHERE n.account_id = $1 AND a.id = n.from_account_id AND a.domain = $2 LIMIT $3
             )
             RETURNING account_id, group_key"
        ))
        .bind(account)
        .bind(domain.to_owned())
        .bind(limit)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}

/// Deletes up to `limit` notifications from `from` to other accounts; returns how many.
#[boxed]
pub async fn delete_some_from(tx: &mut Tx, from: AccountId, limit: i64) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications
             WHERE (account_id, id) IN (
                 SELECT n.account_id, n.id FROM notifications n WHERE n.from_account_id = $1 LIMIT $2
             )
             RETURNING account_id, group_key"
        ))
        .bind(from)
        .bind(limit)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}

/// Deletes the notifications of this type about `activities` for all receivers; returns how many. An activity is the
/// id of the row that caused the notification, such as the favourite or the follow.
#[boxed]
pub async fn delete_activities(tx: &mut Tx, kind: &NotificationKind, activities: &[i64]) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications WHERE type = $1 AND activity_id" in("$2") "RETURNING account_id, group_key"
        ))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(activities.iter().copied()))
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}
