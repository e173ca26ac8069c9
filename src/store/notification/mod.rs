//! Notifications: [`list`] reads pages of them, [`make`] writes them, [`waiting`] are those to be, and here they are found, counted and removed.

use super::sql::{Ids, Texts};
use super::{Executor, Result, Tx};
use crate::model::notification::Kind;
use crate::model::{AccountId, Notification, NotificationId};
use crate::sql;

/// The columns of [`Listed`], of a table called `n`.
#[macro_export]
macro_rules! notification_columns {
    () => {
        "n.id, n.account_id, n.from_account_id, n.type, n.activity_id, n.status_id, n.group_key, n.filtered, n.created_at, \
         (SELECT a.version FROM accounts a WHERE a.id = n.from_account_id) AS from_version"
    };
}

/// Nothing from a suspended account. No join: the index of notifications leads, whatever the engine thinks of accounts.
macro_rules! from_someone {
    () => {
        " (SELECT a.suspended_at FROM accounts a WHERE a.id = n.from_account_id) IS NULL "
    };
}

pub mod list;
pub mod make;
pub mod waiting;

/// A notification with what only its rendering needs.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct Listed {
    /// The notification.
    #[sqlx(flatten)]
    pub notification: Notification,
    /// Key of the cached rendering of whoever it is from.
    pub from_version: i64,
}

/// Which notifications are wanted.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Of these types; none: nothing.
    pub types: Vec<Kind>,
    /// From this account alone.
    pub from: Option<AccountId>,
    /// Also those that policy holds back.
    pub filtered: bool,
}

impl Wanted {
    fn types(&self) -> Texts {
        Texts::of(self.types.iter().map(Kind::as_str))
    }
}

/// The notification `id` of `account`, if it is of one of `types`, unless it is from an account that was suspended.
///
/// # Errors
/// When the database does.
pub async fn find(db: impl Executor, account: AccountId, id: NotificationId, types: &[Kind]) -> Result<Option<Listed>> {
    db.query(sql!(
        "SELECT " notification_columns!() "
         FROM notifications n
         WHERE n.id = $2 AND n.account_id = $1 AND n.type" in("$3") "AND" from_someone!()
    ))
    .bind(account)
    .bind(id)
    .bind(Texts::of(types.iter().map(Kind::as_str)))
    .optional()
    .await
}

/// Removes the notification `id` of `account`; false when there was none.
///
/// # Errors
/// When the database does.
pub async fn delete(tx: &mut Tx, account: AccountId, id: NotificationId) -> Result<bool> {
    let removed = tx
        .query(sql!("DELETE FROM notifications WHERE id = $2 AND account_id = $1"))
        .bind(account)
        .bind(id)
        .execute()
        .await?;
    Ok(removed > 0)
}

/// Removes every notification of `account`.
///
/// # Errors
/// When the database does.
pub async fn delete_all(tx: &mut Tx, account: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM notifications WHERE account_id = $1")).bind(account).execute().await?;
    Ok(())
}

/// Removes what `account` was told of `from`.
///
/// # Errors
/// When the database does.
pub async fn delete_from(tx: &mut Tx, account: AccountId, from: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM notifications WHERE account_id = $1 AND from_account_id = $2"))
        .bind(account)
        .bind(from)
        .execute()
        .await?;
    Ok(())
}

/// Removes what anyone was told of `activities`, ids of the rows that the type means; gives how many there were.
///
/// # Errors
/// When the database does.
pub async fn delete_activities(tx: &mut Tx, kind: &Kind, activities: &[i64]) -> Result<u64> {
    tx.query(sql!("DELETE FROM notifications WHERE type = $1 AND activity_id" in("$2")))
        .bind(kind.as_str().to_owned())
        .bind(Ids::of(activities.iter().copied()))
        .execute()
        .await
}
