//! Notification requests: senders of mentions that the policy filtered, and senders that the receiver permitted.
//!
//! A request is shown while there are filtered mentions of its sender; these are counted, up to a hundred, when it is
//! read. Reached from `service::notification`. Spec: docs/contract/rules.md#13-notifications.

use serde::Serialize;

use super::groups::{self, DeletedMember};
use database::sql::Ids;
use database::{Conn, Db, Result, Tx, sql};
use model::{AccountId, Cursor, Json, NotificationId, RowId, StatusId, Time, boxed};

/// SQL: the filtered mentions `n` of the sender of the request `r`, from the index `notifications_filtered`.
macro_rules! mentions {
    () => {
        "notifications n WHERE n.account_id = r.account_id AND n.from_account_id = r.from_account_id \
         AND n.type = 'mention' AND n.filtered"
    };
}

/// SQL: the number of these mentions, up to a hundred.
macro_rules! counted {
    () => {
        concat!("(SELECT COUNT(*) FROM (SELECT 1 AS one FROM ", mentions!(), " LIMIT 100) counted)")
    };
}

/// The columns of [`RequestRow`].
macro_rules! request_columns {
    () => {
        concat!(
            "r.id, r.from_account_id, r.created_at, r.updated_at, ",
            "(SELECT a.version FROM accounts a WHERE a.id = r.from_account_id) AS from_version, ",
            counted!(),
            " AS notifications_count, (SELECT n.status_id FROM ",
            mentions!(),
            " ORDER BY n.id DESC LIMIT 1) AS last_status_id"
        )
    };
}

/// SQL condition: the request `r` has mentions to show, and its sender is not suspended.
macro_rules! shown {
    () => {
        concat!(
            "EXISTS (SELECT 1 FROM ",
            mentions!(),
            ") AND (SELECT a.suspended_at FROM accounts a WHERE a.id = r.from_account_id) IS NULL"
        )
    };
}

/// A request, with the version of its sender and the counts.
#[derive(Clone, Debug, model::Row)]
pub struct RequestRow {
    pub id: RowId,
    pub from_account_id: AccountId,
    pub created_at: Time,
    pub updated_at: Time,
    /// The version of the sender, the cache key of its rendering.
    pub from_version: i64,
    /// Filtered mentions, at most a hundred.
    pub notifications_count: i64,
    /// The status of the newest mention.
    pub last_status_id: Option<StatusId>,
}

/// A page of the requests to `account`, newest first.
#[boxed]
pub async fn page(db: &Db, account: AccountId, cursor: &Cursor) -> Result<Vec<RequestRow>> {
    let statement = database::paged!(
        cursor,
        "SELECT " request_columns!() " FROM notification_requests r
         WHERE r.account_id = $1 AND r.id < $2 AND r.id > $3 AND " shown!(),
        by "r.id", limit "$4"
    );
    let rows =
        db.query(statement).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit).all().await?;
    Ok(cursor.newest_first(rows))
}

/// The request `id` to `account`, if it is shown.
#[boxed]
pub async fn find(db: &Db, account: AccountId, id: RowId) -> Result<Option<RequestRow>> {
    db.query(sql!(
        "SELECT " request_columns!() " FROM notification_requests r WHERE r.id = $2 AND r.account_id = $1 AND " shown!()
    ))
    .bind(account)
    .bind(id)
    .optional()
    .await
}

/// The number of pending requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, model::Row)]
pub struct Summary {
    /// Requests, at most a hundred.
    pub requests: i64,
    pub notifications: i64,
}

/// Counts the requests to `account` and their notifications, for the newest hundred.
#[boxed]
pub async fn summary(db: Conn<'_>, account: AccountId) -> Result<Summary> {
    db.query(sql!(
        "SELECT COUNT(*) AS requests, CAST(coalesce(SUM(waiting.mentions), 0) AS BIGINT) AS notifications FROM (
             SELECT " counted!() " AS mentions FROM notification_requests r
             WHERE r.account_id = $1 AND " shown!() " ORDER BY r.id DESC LIMIT 100
         ) waiting"
    ))
    .bind(account)
    .one()
    .await
}

/// The sender of a filtered mention, and the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Filtered {
    pub receiver: AccountId,
    pub sender: AccountId,
}

/// Inserts the requests with their ids, or records a further mention. In the order of accounts, which prevents
/// deadlocks.
#[boxed]
pub async fn insert(tx: &mut Tx, mut new: Vec<(RowId, Filtered)>, now: Time) -> Result<()> {
    #[derive(Serialize)]
    struct Row {
        id: RowId,
        #[serde(flatten)]
        pair: Filtered,
    }
    new.sort_unstable_by_key(|(_, pair)| *pair);
    new.dedup_by_key(|(_, pair)| *pair);
    let rows: Vec<Row> = new.into_iter().map(|(id, pair)| Row { id, pair }).collect();
    tx.query(sql!(
        "INSERT INTO notification_requests (id, account_id, from_account_id, created_at, updated_at)
         SELECT CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'receiver' AS BIGINT),
                CAST(value ->> 'sender' AS BIGINT), $2, $2
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (account_id, from_account_id) DO UPDATE SET updated_at = excluded.updated_at"
    ))
    .bind(Json(rows))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the requests of `new` whose senders were permitted meanwhile, and marks the permissions as having
/// notifications to merge; returns (receiver, sender) of each.
///
/// Must run after [`insert`], which waits for a transaction that accepts the same request: its decision is visible
/// here.
#[boxed]
pub async fn delete_permitted(tx: &mut Tx, new: &[Filtered]) -> Result<Vec<(AccountId, AccountId)>> {
    let permitted: Vec<(AccountId, AccountId)> = tx
        .query(sql!(
            "DELETE FROM notification_requests
             WHERE (account_id, from_account_id) IN (
                 SELECT CAST(value ->> 'receiver' AS BIGINT), CAST(value ->> 'sender' AS BIGINT) FROM" rows("$1")
            ") AND EXISTS (SELECT 1 FROM notification_permissions p
                           WHERE p.account_id = notification_requests.account_id
                             AND p.from_account_id = notification_requests.from_account_id)
             RETURNING account_id, from_account_id"
        ))
        .bind(Json(new))
        .all()
        .await?;
    for (receiver, sender) in &permitted {
        permit(tx, *receiver, &[*sender]).await?;
    }
    Ok(permitted)
}

/// Deletes the requests of `ids` that belong to `account`; returns their senders.
#[boxed]
pub async fn take(tx: &mut Tx, account: AccountId, ids: &[RowId]) -> Result<Vec<AccountId>> {
    tx.query(sql!(
        "DELETE FROM notification_requests WHERE id" in("$2") "AND account_id = $1 RETURNING from_account_id"
    ))
    .bind(account)
    .bind(Ids::of(ids.iter().copied()))
    .scalars()
    .await
}

/// Permits `senders` to notify `account`; filtered notifications have to be merged.
#[boxed]
pub async fn permit(tx: &mut Tx, account: AccountId, senders: &[AccountId]) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO notification_permissions (account_id, from_account_id, merging)
         SELECT CAST($1 AS BIGINT), value, TRUE FROM" each("$2") "WHERE TRUE
         ON CONFLICT (account_id, from_account_id) DO UPDATE SET merging = TRUE"
    ))
    .bind(account)
    .bind(Ids::of(senders.iter().copied()))
    .execute()
    .await?;
    Ok(())
}

/// Shows up to `limit` filtered notifications to `account` from `from`; returns the status of each, if it has one.
#[boxed]
pub async fn unfilter(tx: &mut Tx, account: AccountId, from: AccountId, limit: i64) -> Result<Vec<Option<StatusId>>> {
    tx.query(sql!(
        "UPDATE notifications SET filtered = FALSE
         WHERE (account_id, id) IN (
             SELECT n.account_id, n.id FROM notifications n
             WHERE n.account_id = $1 AND n.from_account_id = $2 AND n.filtered LIMIT $3
         ) RETURNING status_id"
    ))
    .bind(account)
    .bind(from)
    .bind(limit)
    .scalars()
    .await
}

/// Records that no notification from `from` to `account` is filtered any longer; false when that was recorded before.
#[boxed]
pub async fn set_merged(tx: &mut Tx, account: AccountId, from: AccountId) -> Result<bool> {
    let changed = tx
        .query(sql!(
            "UPDATE notification_permissions SET merging = FALSE
             WHERE account_id = $1 AND from_account_id = $2 AND merging"
        ))
        .bind(account)
        .bind(from)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// True when no notification from senders permitted by `account` is still filtered.
#[boxed]
pub async fn is_merged(db: Conn<'_>, account: AccountId) -> Result<bool> {
    let merging: Option<(i64,)> = db
        .query(sql!(
            "SELECT p.from_account_id FROM notification_permissions p WHERE p.account_id = $1 AND p.merging LIMIT 1"
        ))
        .bind(account)
        .optional()
        .await?;
    Ok(merging.is_none())
}

/// Deletes up to `limit` filtered notifications to `account` from `from`, with ids up to `last`; returns how many.
#[boxed]
pub async fn delete_filtered(
    tx: &mut Tx,
    account: AccountId,
    from: AccountId,
    last: NotificationId,
    limit: i64,
) -> Result<u64> {
    let deleted: Vec<DeletedMember> = tx
        .query(sql!(
            "DELETE FROM notifications
             WHERE (account_id, id) IN (
                 SELECT n.account_id, n.id FROM notifications n
                 WHERE n.account_id = $1 AND n.from_account_id = $2 AND n.filtered AND n.id <= $3 LIMIT $4
             )
             RETURNING account_id, group_key"
        ))
        .bind(account)
        .bind(from)
        .bind(last)
        .bind(limit)
        .all()
        .await?;
    groups::delete_empty(tx, deleted).await
}

/// Deletes the request of `from` to `account`, and its permission.
#[boxed]
pub async fn forget(tx: &mut Tx, account: AccountId, from: AccountId) -> Result<()> {
    for part in [
        sql!("DELETE FROM notification_requests WHERE account_id = $1 AND from_account_id = $2"),
        sql!("DELETE FROM notification_permissions WHERE account_id = $1 AND from_account_id = $2"),
    ] {
        tx.query(part).bind(account).bind(from).execute().await?;
    }
    Ok(())
}

/// Deletes the requests of accounts of `domain` to `account`, and their permissions.
#[boxed]
pub async fn forget_domain(tx: &mut Tx, account: AccountId, domain: &str) -> Result<()> {
    macro_rules! of_domain {
        ($table:literal) => {
            sql!(
                "DELETE FROM " $table "
                 WHERE account_id = $1 AND from_account_id IN (
                     SELECT x.from_account_id FROM " $table " x CROSS JOIN accounts a
                     WHERE x.account_id = $1 AND a.id = x.from_account_id AND a.domain = $2
                 )"
            )
        };
    }
    for part in [of_domain!("notification_requests"), of_domain!("notification_permissions")] {
        tx.query(part).bind(account).bind(domain.to_owned()).execute().await?;
    }
    Ok(())
}

/// Deletes up to `limit` requests with an id below `before` whose mentions are gone, deleted with their statuses or
/// by age.
#[boxed]
pub async fn delete_empty(tx: &mut Tx, before: RowId, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM notification_requests
         WHERE id IN (
             SELECT r.id FROM notification_requests r
             WHERE r.id < $1 AND NOT EXISTS (SELECT 1 FROM " mentions!() ") ORDER BY r.id LIMIT $2
         )"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}
