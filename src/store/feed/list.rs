//! Lists of accounts, their members, and the notices of `list_status` notifications.
//!
//! Reached from `service::list` and from the jobs of feeds. Their feeds are in [`list_feed`](crate::list_feed);
//! memberships that end with a follow are handled in [`relationship`](crate::relationship). Spec:
//! docs/contract/rules.md#14-lists.

use serde::Serialize;

use crate::relation_sql::suspended;
use database::sql::Ids;
use database::{Conn, Result, Tx, paged, sql};
use model::list::RepliesPolicy;
use model::relationship::Listed;
use model::{AccountId, Cursor, Json, RowId, StatusId, Time, boxed};

#[derive(Clone, Debug, model::Row)]
#[row(table = "lists", alias = "l")]
pub struct List {
    pub id: RowId,
    pub account_id: AccountId,
    pub title: String,
    pub replies_policy: RepliesPolicy,
    pub exclusive: bool,
    pub notify: bool,
    pub created_at: Time,
}

/// The list `id` of `owner`.
#[boxed]
pub async fn find(db: Conn<'_>, owner: AccountId, id: RowId) -> Result<Option<List>> {
    db.query(sql!("SELECT " list_columns!() " FROM lists l WHERE l.id = $1 AND l.account_id = $2"))
        .bind(id)
        .bind(owner)
        .optional()
        .await
}

/// The lists of `owner`, oldest first.
#[boxed]
pub async fn list(db: Conn<'_>, owner: AccountId) -> Result<Vec<List>> {
    db.query(sql!("SELECT " list_columns!() " FROM lists l WHERE l.account_id = $1 ORDER BY l.id"))
        .bind(owner)
        .all()
        .await
}

/// The lists of `owner` with the member `member`, oldest first.
#[boxed]
pub async fn list_with_member(db: Conn<'_>, owner: AccountId, member: AccountId) -> Result<Vec<List>> {
    db.query(sql!(
        "SELECT " list_columns!() "
         FROM lists l
         JOIN list_accounts m ON m.list_id = l.id AND m.account_id = $2
         WHERE l.account_id = $1
         ORDER BY l.id"
    ))
    .bind(owner)
    .bind(member)
    .all()
    .await
}

/// The ids of the lists of these `owners`, in order.
#[boxed]
pub async fn list_ids(db: Conn<'_>, owners: &[AccountId]) -> Result<Vec<RowId>> {
    db.query(sql!("SELECT l.id FROM lists l WHERE l.account_id" in("$1") "ORDER BY l.id"))
        .bind(Ids::of(owners.iter().copied()))
        .scalars()
        .await
}

/// The number of lists of `owner`.
#[boxed]
pub async fn count(db: Conn<'_>, owner: AccountId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM lists l WHERE l.account_id = $1")).bind(owner).scalar().await
}

#[boxed]
pub async fn insert(tx: &mut Tx, list: &List) -> Result<()> {
    tx.query(sql!(list_insert!())).bind_row(list).execute().await?;
    Ok(())
}

/// Writes the options of a list.
#[boxed]
pub async fn update(tx: &mut Tx, list: &List) -> Result<()> {
    tx.query(sql!("UPDATE lists SET title = $2, replies_policy = $3, exclusive = $4, notify = $5 WHERE id = $1"))
        .bind(list.id)
        .bind(list.title.clone())
        .bind(list.replies_policy)
        .bind(list.exclusive)
        .bind(list.notify)
        .execute()
        .await?;
    Ok(())
}

/// Deletes a list with its members; the caller handles its feed.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("DELETE FROM lists WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// A page of the members of a list, by the ids of accounts. Suspended accounts are marked as hidden.
#[boxed]
pub async fn page_of_members(db: Conn<'_>, list: RowId, cursor: &Cursor) -> Result<Vec<Listed>> {
    let sql = paged!(
        cursor,
        "SELECT m.account_id AS row_id, m.account_id, a.version, " suspended!() " AS hidden
         FROM list_accounts m
         JOIN accounts a ON a.id = m.account_id
         WHERE m.list_id = $1 AND m.account_id < $2 AND m.account_id > $3",
        by "m.account_id", limit "$4"
    );
    let query = db.query(sql).bind(list).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The members of a list, including members whose follow is still requested.
#[boxed]
pub async fn list_members(db: Conn<'_>, list: RowId) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT m.account_id FROM list_accounts m WHERE m.list_id = $1 ORDER BY m.account_id"))
        .bind(list)
        .scalars()
        .await
}

/// The members of the list among `accounts`.
#[boxed]
pub async fn list_members_among(db: Conn<'_>, list: RowId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT m.account_id FROM list_accounts m WHERE m.list_id = $1 AND m.account_id" in("$2") "ORDER BY m.account_id"
    ))
    .bind(list)
    .bind(Ids::of(accounts.iter().copied()))
    .scalars()
    .await
}

/// The accounts of `accounts` that an exclusive list excludes from the home feed of `owner`: its members, except the
/// owner.
#[boxed]
pub async fn list_excluded_among(db: Conn<'_>, owner: AccountId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT DISTINCT m.account_id FROM lists l JOIN list_accounts m ON m.list_id = l.id
         WHERE l.account_id = $1 AND l.exclusive AND m.account_id <> $1 AND m.account_id" in("$2") "ORDER BY m.account_id"
    ))
    .bind(owner)
    .bind(Ids::of(accounts.iter().copied()))
    .scalars()
    .await
}

/// The accounts of `accounts` that `owner` may add to a list: accounts that they follow or requested to follow, and
/// themselves.
#[boxed]
pub async fn list_eligible(db: Conn<'_>, owner: AccountId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id FROM accounts a
         WHERE a.id" in("$2") "
           AND (a.id = $1
                OR EXISTS (SELECT 1 FROM follows f WHERE f.account_id = $1 AND f.target_account_id = a.id)
                OR EXISTS (SELECT 1 FROM follow_requests r WHERE r.account_id = $1 AND r.target_account_id = a.id))"
    ))
    .bind(owner)
    .bind(Ids::of(accounts.iter().copied()))
    .scalars()
    .await
}

/// Adds `accounts` to a list; returns how many were new.
#[boxed]
pub async fn insert_members(tx: &mut Tx, list: RowId, accounts: &[AccountId]) -> Result<u64> {
    tx.query(sql!(
        "INSERT INTO list_accounts (list_id, account_id) SELECT CAST($1 AS BIGINT), a.id FROM accounts a WHERE a.id" in("$2") "
         ON CONFLICT (list_id, account_id) DO NOTHING"
    ))
    .bind(list)
    .bind(Ids::of(accounts.iter().copied()))
    .execute()
    .await
}

/// Removes `accounts` from a list; returns the ones that were members.
#[boxed]
pub async fn delete_members(tx: &mut Tx, list: RowId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    tx.query(sql!("DELETE FROM list_accounts WHERE list_id = $1 AND account_id" in("$2") "RETURNING account_id"))
        .bind(list)
        .bind(Ids::of(accounts.iter().copied()))
        .scalars()
        .await
}

/// The lists of `lists` whose owner is notified of each new status, as (list, owner), in order.
#[boxed]
pub async fn list_notifying(db: Conn<'_>, lists: &[RowId]) -> Result<Vec<(RowId, AccountId)>> {
    db.query(sql!("SELECT l.id, l.account_id FROM lists l WHERE l.id" in("$1") "AND l.notify ORDER BY l.id"))
        .bind(Ids::of(lists.iter().copied()))
        .all()
        .await
}

/// Records that a status entered a list whose owner is notified.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NewListNotice {
    pub id: RowId,
    pub account: AccountId,
    pub status: StatusId,
    pub list: RowId,
}

/// Inserts notices, except where the owner was already notified of the status by another list; returns the ids of the
/// inserted ones.
#[boxed]
pub async fn insert_notices(tx: &mut Tx, new: &[NewListNotice]) -> Result<Vec<RowId>> {
    tx.query(sql!(
        "INSERT INTO list_notices (id, account_id, status_id, list_id)
         SELECT CAST(value ->> 'id' AS BIGINT), CAST(value ->> 'account' AS BIGINT), CAST(value ->> 'status' AS BIGINT),
                CAST(value ->> 'list' AS BIGINT)
         FROM" rows("$1") "WHERE TRUE
         ON CONFLICT (status_id, account_id) DO NOTHING
         RETURNING id"
    ))
    .bind(Json(new.to_vec()))
    .scalars()
    .await
}

/// The activities of notifications about `list`.
#[boxed]
pub async fn list_notices(db: Conn<'_>, list: RowId) -> Result<Vec<i64>> {
    db.query(sql!("SELECT n.id FROM list_notices n WHERE n.list_id = $1")).bind(list).scalars().await
}

/// A list, and the activity of the notification about it.
#[derive(Debug, model::Row)]
pub struct NoticedList {
    pub activity: i64,
    #[row(flatten)]
    pub list: List,
}

/// The lists of notifications with these activities.
#[boxed]
pub async fn list_noticed(db: Conn<'_>, activities: &[i64]) -> Result<Vec<NoticedList>> {
    db.query(sql!(
        "SELECT n.id AS activity, " list_columns!() "
         FROM list_notices n
         JOIN lists l ON l.id = n.list_id
         WHERE n.id" in("$1")
    ))
    .bind(Ids::of(activities.iter().copied()))
    .all()
    .await
}
