//! Accounts that moved, their aliases, and the relationships of people here that are carried over.
//!
//! Reached from `service::moving` and `service::carry_over`, which decide what is carried. Spec:
//! docs/contract/rules.md#9-accounts

use crate::relation_sql::unexpired;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, RowId, Time, boxed};

use super::follow::Terms;

/// A move.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(table = "account_moves", alias = "m")]
pub struct Move {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    /// When it moved.
    pub followers_count: i64,
    pub created_at: Time,
}

#[boxed]
pub async fn insert(tx: &mut Tx, moved: &Move) -> Result<()> {
    tx.query(sql!(move_insert!())).bind_row(moved).execute().await?;
    Ok(())
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Move>> {
    db.query(sql!("SELECT " move_columns!() " FROM account_moves m WHERE m.id = $1")).bind(id).optional().await
}

/// The latest move of an account.
#[boxed]
pub async fn last(db: Conn<'_>, account: AccountId) -> Result<Option<Move>> {
    db.query(sql!(
        "SELECT " move_columns!() " FROM account_moves m WHERE m.account_id = $1 ORDER BY m.id DESC LIMIT 1"
    ))
    .bind(account)
    .optional()
    .await
}

/// Marks an account as moved, or no longer.
#[boxed]
pub async fn set_target(tx: &mut Tx, account: AccountId, target: Option<AccountId>) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET moved_to_account_id = $2, version = version + 1 WHERE id = $1"))
        .bind(account)
        .bind(target)
        .execute()
        .await?;
    Ok(())
}

/// The aliases of an account: URIs of actors, of this server or others.
#[boxed]
pub async fn list_aliases(db: Conn<'_>, account: AccountId) -> Result<Vec<String>> {
    let found: Option<(Json<Vec<String>>,)> =
        db.query(sql!("SELECT a.also_known_as FROM accounts a WHERE a.id = $1")).bind(account).optional().await?;
    Ok(found.map(|(aliases,)| aliases.0).unwrap_or_default())
}

/// Replaces the aliases of an account.
#[boxed]
pub async fn set_aliases(tx: &mut Tx, account: AccountId, aliases: Vec<String>) -> Result<()> {
    tx.query(sql!("UPDATE accounts SET also_known_as = $2, version = version + 1 WHERE id = $1"))
        .bind(account)
        .bind(Json(aliases))
        .execute()
        .await?;
    Ok(())
}

/// A follower here, with the options of the follow.
#[derive(Debug, model::Row)]
pub struct Follower {
    pub account_id: AccountId,
    #[row(flatten)]
    pub terms: Terms,
}

/// Up to `limit` followers of `account` on this server after `after`, by their ids.
#[boxed]
pub async fn list_followers(db: Conn<'_>, account: AccountId, after: AccountId, limit: i64) -> Result<Vec<Follower>> {
    db.query(sql!(
        "SELECT f.account_id, f.show_reblogs, f.notify, f.languages FROM follows f
         JOIN accounts a ON a.id = f.account_id
         WHERE f.target_account_id = $1 AND f.account_id > $2 AND a.domain IS NULL
         ORDER BY f.account_id LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Up to `limit` accounts of this server after `after` that block `account`, by their ids.
#[boxed]
pub async fn list_blocking(db: Conn<'_>, account: AccountId, after: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT b.account_id FROM blocks b JOIN accounts a ON a.id = b.account_id
         WHERE b.target_account_id = $1 AND b.account_id > $2 AND a.domain IS NULL
         ORDER BY b.account_id LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .scalars()
    .await
}

/// A mute.
#[derive(Debug, model::Row)]
pub struct Mute {
    pub account_id: AccountId,
    pub hide_notifications: bool,
    pub expires_at: Option<Time>,
}

/// Up to `limit` mutes of `account` by accounts after `after`, by their ids, without mutes that expired by `now`.
#[boxed]
pub async fn list_mutes(
    db: Conn<'_>,
    account: AccountId,
    after: AccountId,
    limit: i64,
    now: Time,
) -> Result<Vec<Mute>> {
    db.query(sql!(
        "SELECT m.account_id, m.hide_notifications, m.expires_at FROM mutes m
         WHERE m.target_account_id = $1 AND m.account_id > $2 AND " unexpired!("m", "$4") "
         ORDER BY m.account_id LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .bind(now)
    .all()
    .await
}

/// Copies up to `limit` private notes about `from`, by accounts after `after`, to `to`, behind a note about `to` if there is
/// one and both fit into `most` characters. Returns the authors, by their ids.
#[boxed]
pub async fn copy_notes(
    tx: &mut Tx,
    from: AccountId,
    to: AccountId,
    after: AccountId,
    limit: i64,
    most: i64,
) -> Result<Vec<AccountId>> {
    let authors: Vec<AccountId> = tx
        .query(sql!(
            "SELECT n.account_id FROM account_notes n
             WHERE n.target_account_id = $1 AND n.account_id > $2 ORDER BY n.account_id LIMIT $3"
        ))
        .bind(from)
        .bind(after)
        .bind(limit)
        .scalars()
        .await?;
    let Some(last) = authors.last() else { return Ok(authors) };
    tx.query(sql!(
        "INSERT INTO account_notes (account_id, target_account_id, comment)
         SELECT n.account_id, CAST($2 AS BIGINT), n.comment FROM account_notes n
         WHERE n.target_account_id = $1 AND n.account_id > $3 AND n.account_id <= $4 AND n.account_id <> $2
         ON CONFLICT (account_id, target_account_id) DO UPDATE
         SET comment = account_notes.comment || '\n' || excluded.comment
         WHERE length(account_notes.comment) + length(excluded.comment) < $5
           AND account_notes.comment <> excluded.comment"
    ))
    .bind(from)
    .bind(to)
    .bind(after)
    .bind(*last)
    .bind(most)
    .execute()
    .await?;
    Ok(authors)
}

/// The lists of `owner` that contain `member`, each with whether it is exclusive.
#[boxed]
pub async fn lists_with(db: Conn<'_>, owner: AccountId, member: AccountId) -> Result<Vec<(RowId, bool)>> {
    db.query(sql!(
        "SELECT l.id, l.exclusive FROM lists l JOIN list_accounts e ON e.list_id = l.id
         WHERE l.account_id = $1 AND e.account_id = $2 ORDER BY l.id"
    ))
    .bind(owner)
    .bind(member)
    .all()
    .await
}
