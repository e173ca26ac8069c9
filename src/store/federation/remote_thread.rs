//! Threads and accounts of other servers that are not wholly here yet: parents that are missing, collections of replies,
//! and when an account's statuses were fetched.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, ConversationId, Status, StatusId, Time, Visibility, boxed};

/// Remembers what the server of the new status `id` says of its thread. `parent_uri`: of the status that it answers, if
/// that is not here.
#[boxed]
pub async fn insert(tx: &mut Tx, id: StatusId, parent_uri: Option<&str>, replies_url: Option<&str>) -> Result<()> {
    tx.query(sql!("INSERT INTO remote_threads (status_id, parent_uri, replies_url) VALUES ($1, $2, $3)"))
        .bind(id)
        .bind(parent_uri.map(str::to_owned))
        .bind(replies_url.map(str::to_owned))
        .execute()
        .await?;
    Ok(())
}

/// The thread of a remote status as its server names it.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "t")]
pub struct RemoteThread {
    pub parent_uri: Option<String>,
    pub replies_url: Option<String>,
    /// When the thread was visited last.
    pub replies_fetched_at: Option<Time>,
}

/// What is known of the thread of `status`.
#[boxed]
pub async fn find(db: Conn<'_>, status: StatusId) -> Result<Option<RemoteThread>> {
    db.query(sql!("SELECT " remote_thread_columns!() " FROM remote_threads t WHERE t.status_id = $1"))
        .bind(status)
        .optional()
        .await
}

/// Claims the thread of `status` for a visit, unless it was visited after `before`.
#[boxed]
pub async fn claim_visit(tx: &mut Tx, status: StatusId, before: Time, now: Time) -> Result<Option<RemoteThread>> {
    tx.query(sql!(
        "UPDATE remote_threads SET replies_fetched_at = $3
         WHERE status_id = $1 AND (replies_fetched_at IS NULL OR replies_fetched_at < $2)
         RETURNING parent_uri, replies_url, replies_fetched_at"
    ))
    .bind(status)
    .bind(before)
    .bind(now)
    .optional()
    .await
}

/// A reply that waits for its parent.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Waiting {
    pub id: StatusId,
    pub conversation_id: Option<ConversationId>,
    pub visibility: Visibility,
}

/// The first `limit` replies that wait for the status `uri`.
#[boxed]
pub async fn list_waiting(db: Conn<'_>, uri: &str, limit: i64) -> Result<Vec<Waiting>> {
    db.query(sql!(
        "SELECT s.id, s.conversation_id, s.visibility
         FROM remote_threads t JOIN statuses s ON s.id = t.status_id
         WHERE t.parent_uri = $1 AND t.parent_uri IS NOT NULL ORDER BY t.status_id LIMIT $2"
    ))
    .bind(uri.to_owned())
    .bind(limit)
    .all()
    .await
}

/// Makes the status `child`, which waits for `parent`, a reply to it.
#[boxed]
pub async fn adopt(tx: &mut Tx, child: StatusId, parent: &Status) -> Result<()> {
    tx.query(sql!("UPDATE remote_threads SET parent_uri = NULL WHERE status_id = $1")).bind(child).execute().await?;
    tx.query(sql!(
        "UPDATE statuses
         SET in_reply_to_id = $2, conversation_id = $3,
             in_reply_to_account_id = CASE WHEN account_id = $4 THEN $5 ELSE $4 END,
             listed = listed AND account_id = CASE WHEN account_id = $4 THEN $5 ELSE $4 END,
             version = version + 1
         WHERE id = $1"
    ))
    .bind(child)
    .bind(parent.id)
    .bind(parent.conversation_id)
    .bind(parent.account_id)
    // A reply to one's own reply still addresses the same person.
    .bind(parent.in_reply_to_account_id.unwrap_or(parent.account_id))
    .execute()
    .await?;
    Ok(())
}

/// True when the statuses of an account were fetched after `since`.
#[boxed]
pub async fn was_filled(db: Conn<'_>, account: AccountId, since: Time) -> Result<bool> {
    let row: Option<(AccountId,)> = db
        .query(sql!("SELECT f.account_id FROM remote_fills f WHERE f.account_id = $1 AND f.filled_at > $2"))
        .bind(account)
        .bind(since)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Notes that the statuses of an account were fetched.
#[boxed]
pub async fn set_filled(tx: &mut Tx, account: AccountId, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO remote_fills (account_id, filled_at) VALUES ($1, $2)
         ON CONFLICT (account_id) DO UPDATE SET filled_at = excluded.filled_at"
    ))
    .bind(account)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}
