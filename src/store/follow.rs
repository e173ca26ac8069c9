//! Follows and follow requests.
//!
//! Reached from `service::follow`, which locks both accounts first (`account::lock`). Counters, feeds, notifications
//! and events are the caller's work. Spec: contract rules, sections 9 and 20.

use super::sql::Ids;
use super::{Executor, Result, Tx};
use crate::sql;
use model::relationship::Listed;
use model::{AccountId, Cursor, Json, RowId, Time};

/// The options of a follow: what the parameters of the `follow` action set.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
pub struct Terms {
    /// Reblogs are shown on the home timeline.
    pub show_reblogs: bool,
    /// Each new status makes a notification.
    pub notify: bool,
    /// Only statuses in these languages are shown; `None`: in all.
    pub languages: Option<Json<Vec<String>>>,
}

/// A new follow or follow request.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the tables follows and follow_requests")]
pub struct NewFollow {
    pub id: RowId,
    pub account_id: AccountId,
    pub target_account_id: AccountId,
    pub terms: Terms,
    pub now: Time,
}

/// Inserts a follow; false when there is one already. The counters are not changed.
pub async fn insert(tx: &mut Tx, new: NewFollow) -> Result<bool> {
    let done = tx
        .query(sql!(
            "INSERT INTO follows (id, account_id, target_account_id, show_reblogs, notify, languages, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (account_id, target_account_id) DO NOTHING"
        ))
        .bind(new.id)
        .bind(new.account_id)
        .bind(new.target_account_id)
        .bind(new.terms.show_reblogs)
        .bind(new.terms.notify)
        .bind(new.terms.languages)
        .bind(new.now)
        .execute()
        .await?;
    Ok(done > 0)
}

/// Changes the options of a follow.
pub async fn update(tx: &mut Tx, account: AccountId, target: AccountId, terms: Terms) -> Result<()> {
    tx.query(sql!(
        "UPDATE follows SET show_reblogs = $3, notify = $4, languages = $5
         WHERE account_id = $1 AND target_account_id = $2"
    ))
    .bind(account)
    .bind(target)
    .bind(terms.show_reblogs)
    .bind(terms.notify)
    .bind(terms.languages)
    .execute()
    .await?;
    Ok(())
}

/// Deletes a follow; returns its id, `None` when there was none. The counters are not changed.
pub async fn delete(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<Option<RowId>> {
    let row: Option<(RowId,)> = tx
        .query(sql!("DELETE FROM follows WHERE account_id = $1 AND target_account_id = $2 RETURNING id"))
        .bind(account)
        .bind(target)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// True when `account` follows `target`.
pub async fn exists(db: impl Executor, account: AccountId, target: AccountId) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM follows WHERE account_id = $1 AND target_account_id = $2"))
        .bind(account)
        .bind(target)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Inserts a follow request; false when there is one already.
pub async fn insert_request(tx: &mut Tx, new: NewFollow) -> Result<bool> {
    let done = tx
        .query(sql!(
            "INSERT INTO follow_requests (id, account_id, target_account_id, show_reblogs, notify, languages, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (account_id, target_account_id) DO NOTHING"
        ))
        .bind(new.id)
        .bind(new.account_id)
        .bind(new.target_account_id)
        .bind(new.terms.show_reblogs)
        .bind(new.terms.notify)
        .bind(new.terms.languages)
        .bind(new.now)
        .execute()
        .await?;
    Ok(done > 0)
}

/// Changes the options of a follow request.
pub async fn update_request(tx: &mut Tx, account: AccountId, target: AccountId, terms: Terms) -> Result<()> {
    tx.query(sql!(
        "UPDATE follow_requests SET show_reblogs = $3, notify = $4, languages = $5
         WHERE account_id = $1 AND target_account_id = $2"
    ))
    .bind(account)
    .bind(target)
    .bind(terms.show_reblogs)
    .bind(terms.notify)
    .bind(terms.languages)
    .execute()
    .await?;
    Ok(())
}

/// A follow request that was just deleted.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the table follow_requests")]
pub struct Request {
    pub id: RowId,
    #[row(flatten)]
    pub terms: Terms,
}

/// Deletes a follow request and returns it; `None` when there was none.
pub async fn delete_request(tx: &mut Tx, account: AccountId, target: AccountId) -> Result<Option<Request>> {
    tx.query(sql!(
        "DELETE FROM follow_requests WHERE account_id = $1 AND target_account_id = $2
         RETURNING id, show_reblogs, notify, languages"
    ))
    .bind(account)
    .bind(target)
    .optional()
    .await
}

/// A page of the follow requests to `target`, newest first, by keyset pagination over the index
/// `follow_requests_target`. Suspended accounts are marked as hidden, so that they still count for the page.
pub async fn list_requests(db: impl Executor, target: AccountId, cursor: &Cursor) -> Result<Vec<Listed>> {
    db.query(sql!(
        "SELECT r.id AS row_id, r.account_id, a.version, a.suspended_at IS NOT NULL AS hidden
         FROM follow_requests r
         JOIN accounts a ON a.id = r.account_id
         WHERE r.target_account_id = $1 AND r.id < $2 AND r.id > $3
         ORDER BY r.id DESC
         LIMIT $4"
    ))
    .bind(target)
    .bind(cursor.before())
    .bind(cursor.after())
    .bind(cursor.limit)
    .all()
    .await
}

/// Up to `limit` accounts whose follow requests are accepted when `target` stops being locked, oldest request first:
/// those that are neither limited nor suspended.
pub async fn list_acceptable(db: impl Executor, target: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT r.account_id
         FROM follow_requests r
         JOIN accounts a ON a.id = r.account_id
         WHERE r.target_account_id = $1 AND a.limited_at IS NULL AND a.suspended_at IS NULL
         ORDER BY r.id
         LIMIT $2"
    ))
    .bind(target)
    .bind(limit)
    .scalars()
    .await
}

/// The column `hidden`: whether account `a` must not be shown to viewer `$5` at the time `$6`. It is suspended, blocked
/// or muted by the viewer, blocks the viewer, or belongs to a domain that the viewer blocks. Without a viewer (NULL)
/// only suspension counts.
macro_rules! hidden {
    () => {
        "(a.suspended_at IS NOT NULL \
          OR EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = $5 AND b.target_account_id = a.id) \
          OR EXISTS (SELECT 1 FROM blocks b WHERE b.account_id = a.id AND b.target_account_id = $5) \
          OR EXISTS (SELECT 1 FROM mutes m WHERE m.account_id = $5 AND m.target_account_id = a.id \
                     AND (m.expires_at IS NULL OR m.expires_at > $6)) \
          OR (a.domain IS NOT NULL AND EXISTS (SELECT 1 FROM account_domain_blocks d \
              WHERE d.account_id = $5 AND d.domain = a.domain))) AS hidden"
    };
}

/// A page of the followers of `account`, newest follow first, each with whether it must be hidden from `viewer`
/// (`None`: somebody who is not signed in). Keyset pagination over the index `follows_target`.
pub async fn list_followers(
    db: impl Executor,
    account: AccountId,
    viewer: Option<AccountId>,
    cursor: &Cursor,
    now: Time,
) -> Result<Vec<Listed>> {
    db.query(sql!(
        "SELECT f.id AS row_id, f.account_id, a.version, " hidden!() "
         FROM follows f
         JOIN accounts a ON a.id = f.account_id
         WHERE f.target_account_id = $1 AND f.id < $2 AND f.id > $3
         ORDER BY f.id DESC
         LIMIT $4"
    ))
    .bind(account)
    .bind(cursor.before())
    .bind(cursor.after())
    .bind(cursor.limit)
    .bind(viewer)
    .bind(now)
    .all()
    .await
}

/// A page of the accounts that `account` follows, as [`list_followers`]. Keyset pagination over the index
/// `follows_account`.
pub async fn list_following(
    db: impl Executor,
    account: AccountId,
    viewer: Option<AccountId>,
    cursor: &Cursor,
    now: Time,
) -> Result<Vec<Listed>> {
    db.query(sql!(
        "SELECT f.id AS row_id, f.target_account_id AS account_id, a.version, " hidden!() "
         FROM follows f
         JOIN accounts a ON a.id = f.target_account_id
         WHERE f.account_id = $1 AND f.id < $2 AND f.id > $3
         ORDER BY f.id DESC
         LIMIT $4"
    ))
    .bind(account)
    .bind(cursor.before())
    .bind(cursor.after())
    .bind(cursor.limit)
    .bind(viewer)
    .bind(now)
    .all()
    .await
}

/// Those of `among` who follow `target`, in no particular order.
pub async fn list_followers_among(db: impl Executor, target: AccountId, among: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!("SELECT f.account_id FROM follows f WHERE f.target_account_id = $1 AND f.account_id" in("$2")))
        .bind(target)
        .bind(Ids::of(among.iter().copied()))
        .scalars()
        .await
}
