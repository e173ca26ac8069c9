//! Relationships between accounts: the whole of a relationship for a page of targets, and blocks, mutes, endorsements
//! and private notes.
//!
//! Reached from `service::relationship`, `service::follow` and `entity::relationship`. Follows are in
//! [`follow`](super::follow). What a change causes elsewhere (ended follows, feeds, notifications) is the caller's
//! work. Spec: contract rules, sections 9 and 20.

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::sql;
use model::relationship::{Listed, Muted};
use model::{AccountId, Cursor, Json, RowId, Time};

/// The relationship of a viewer to one target.
#[derive(Clone, Debug, model::Row)]
#[expect(missing_docs, reason = "named by the Relationship entity")]
pub struct RelationshipRow {
    pub id: AccountId,
    pub suspended: bool,
    pub following: bool,
    pub requested: bool,
    /// As the follow or the follow request says; false without either.
    pub show_reblogs: bool,
    pub notify: bool,
    pub languages: Option<Json<Vec<String>>>,
    pub followed_by: bool,
    pub requested_by: bool,
    pub blocking: bool,
    pub blocked_by: bool,
    pub muting: bool,
    pub hide_notifications: bool,
    pub domain_blocking: bool,
    pub endorsed: bool,
    pub note: String,
}

/// The relationship of `viewer` to those of `targets` that exist, in no particular order. Mutes that expired by `now`
/// do not count.
pub async fn list(
    db: impl Executor,
    viewer: AccountId,
    targets: &[AccountId],
    now: Time,
) -> Result<Vec<RelationshipRow>> {
    db.query(sql!(
        "SELECT a.id, a.suspended_at IS NOT NULL AS suspended,
                f.id IS NOT NULL AS following, r.id IS NOT NULL AS requested,
                coalesce(f.show_reblogs, r.show_reblogs, FALSE) AS show_reblogs,
                coalesce(f.notify, r.notify, FALSE) AS notify,
                coalesce(f.languages, r.languages) AS languages,
                EXISTS (SELECT 1 FROM follows o WHERE o.account_id = a.id AND o.target_account_id = $2) AS followed_by,
                EXISTS (SELECT 1 FROM follow_requests o WHERE o.account_id = a.id AND o.target_account_id = $2) AS requested_by,
                EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = $2 AND b.target_account_id = a.id) AS blocking,
                EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = a.id AND b.target_account_id = $2) AS blocked_by,
                m.id IS NOT NULL AS muting, coalesce(m.hide_notifications, FALSE) AS hide_notifications,
                CASE WHEN a.domain IS NULL THEN FALSE
                     ELSE EXISTS (SELECT 1 FROM account_domain_blocks d WHERE d.account_id = $2 AND d.domain = a.domain)
                     END AS domain_blocking,
                EXISTS (SELECT 1 FROM endorsements e WHERE e.account_id = $2 AND e.target_account_id = a.id) AS endorsed,
                coalesce(n.comment, '') AS note
         FROM accounts a
         LEFT JOIN follows f ON f.account_id = $2 AND f.target_account_id = a.id
         LEFT JOIN follow_requests r ON r.account_id = $2 AND r.target_account_id = a.id
         LEFT JOIN mutes m ON m.account_id = $2 AND m.target_account_id = a.id
                          AND (m.expires_at IS NULL OR m.expires_at > $3)
         LEFT JOIN account_notes n ON n.account_id = $2 AND n.target_account_id = a.id
         WHERE a.id" in("$1")
    ))
    .bind(Ids::of(targets.iter().copied()))
    .bind(viewer)
    .bind(now)
    .all()
    .await
}

/// True when `account` blocks `target`.
pub async fn blocks(db: impl Executor, account: AccountId, target: AccountId) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM blocks WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Inserts a block; false when there is one already.
pub async fn insert_block(tx: &mut Tx, id: RowId, account: AccountId, target: AccountId, now: Time) -> Result<bool> {
    let done = tx
        .query(sql!(
            "INSERT INTO blocks (id, account_id, target_account_id, created_at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (account_id, target_account_id) DO NOTHING"
        ))
        .bind(id)
        .bind(account)
        .bind(target)
        .bind(now)
        .execute()
        .await?;
    Ok(done > 0)
}

/// Deletes a block; false when there was none.
pub async fn delete_block(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<bool> {
    let done = tx
        .query(sql!("DELETE FROM blocks WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .execute()
        .await?;
    Ok(done > 0)
}

/// A page of the accounts that `account` blocks, newest block first. Suspended ones are marked as hidden, so that they
/// still count for the page.
pub async fn list_blocks(db: impl Executor, account: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    db.query(sql!(
        "SELECT b.id AS row_id, b.target_account_id AS account_id, a.version, a.suspended_at IS NOT NULL AS hidden
         FROM blocks b
         JOIN accounts a ON a.id = b.target_account_id
         WHERE b.account_id = $1 AND b.id < $2 AND b.id > $3
         ORDER BY b.id DESC
         LIMIT $4"
    ))
    .bind(account)
    .bind(cursor.before())
    .bind(cursor.after())
    .bind(cursor.limit)
    .all()
    .await
}

/// A new mute, or new options of an existing one.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table mutes")]
pub struct NewMute {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub hide_notifications: bool,
    pub expires_at: Option<Time>,
    pub now: Time,
}

/// Inserts a mute, or changes the options of the existing one (upsert).
pub async fn set_mute(tx: &mut Tx, mute: NewMute) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO mutes (id, account_id, target_account_id, hide_notifications, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account_id, target_account_id)
         DO UPDATE SET hide_notifications = excluded.hide_notifications, expires_at = excluded.expires_at"
    ))
    .bind(mute.id)
    .bind(mute.account_id)
    .bind(mute.target_account_id)
    .bind(mute.hide_notifications)
    .bind(mute.expires_at)
    .bind(mute.now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a mute; false when there was none.
pub async fn delete_mute(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<bool> {
    let done = tx
        .query(sql!("DELETE FROM mutes WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .execute()
        .await?;
    Ok(done > 0)
}

/// Deletes a mute if it expired by `now`; false when there is none, or it has not expired.
pub async fn delete_expired_mute(tx: &mut Tx, account: AccountId, target: AccountId, now: Time) -> Result<bool> {
    let done = tx
        .query(sql!("DELETE FROM mutes WHERE account_id = $1 AND target_account_id = $2 AND expires_at <= $3"))
        .bind(account)
        .bind(target)
        .bind(now)
        .execute()
        .await?;
    Ok(done > 0)
}

/// A page of the accounts that `account` mutes, newest mute first. Suspended ones are marked as hidden; mutes that
/// expired by `now` are left out.
pub async fn list_mutes(db: impl Executor, account: AccountId, cursor: &Cursor, now: Time) -> Result<Vec<Muted>> {
    db.query(sql!(
        "SELECT m.id AS row_id, m.target_account_id AS account_id, a.version, a.suspended_at IS NOT NULL AS hidden,
                m.expires_at
         FROM mutes m
         JOIN accounts a ON a.id = m.target_account_id
         WHERE m.account_id = $1 AND m.id < $2 AND m.id > $3 AND (m.expires_at IS NULL OR m.expires_at > $5)
         ORDER BY m.id DESC
         LIMIT $4"
    ))
    .bind(account)
    .bind(cursor.before())
    .bind(cursor.after())
    .bind(cursor.limit)
    .bind(now)
    .all()
    .await
}

/// Inserts an endorsement; an existing one stays as it is.
pub async fn insert_endorsement(
    tx: &mut Tx,
    id: RowId,
    account: AccountId,
    target: AccountId,
    now: Time,
) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO endorsements (id, account_id, target_account_id, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (account_id, target_account_id) DO NOTHING"
    ))
    .bind(id)
    .bind(account)
    .bind(target)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes an endorsement.
pub async fn delete_endorsement(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM endorsements WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .execute()
        .await?;
    Ok(())
}

/// Removes `target` from every list of `account`.
pub async fn delete_list_entries(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<()> {
    tx.query(sql!(
        "DELETE FROM list_accounts
         WHERE account_id = $2 AND list_id IN (SELECT id FROM lists WHERE lists.account_id = $1)"
    ))
    .bind(account)
    .bind(target)
    .execute()
    .await?;
    Ok(())
}

/// Stores the private note of `account` about `target`; an empty text deletes it.
pub async fn set_note(tx: &mut Tx, account: AccountId, target: AccountId, comment: &str) -> Result<()> {
    if comment.is_empty() {
        tx.query(sql!("DELETE FROM account_notes WHERE account_id = $1 AND target_account_id = $2"))
            .bind(account)
            .bind(target)
            .execute()
            .await?;
        return Ok(());
    }
    tx.query(sql!(
        "INSERT INTO account_notes (account_id, target_account_id, comment) VALUES ($1, $2, $3)
         ON CONFLICT (account_id, target_account_id) DO UPDATE SET comment = excluded.comment"
    ))
    .bind(account)
    .bind(target)
    .bind(comment.to_owned())
    .execute()
    .await?;
    Ok(())
}
