//! Browser sessions of the server's own web pages, looked up by the hash of their token. API clients use
//! [`oauth`](crate::oauth).

use database::{Conn, Result, Tx, sql};
use model::{AccountId, RowId, Time, boxed};

/// A session, without the hash of its token.
#[derive(Debug, model::Row)]
#[row(table = "web_sessions", alias = "w")]
pub struct SessionRow {
    pub id: RowId,
    pub account_id: AccountId,
    pub expires_at: Time,
    /// The name of its browser; empty when unknown.
    pub browser: String,
}

/// The session with this token hash, unless it expired by `now`.
#[boxed]
pub async fn find(db: Conn<'_>, token_hash: &str, now: Time) -> Result<Option<SessionRow>> {
    db.query(sql!(
        "SELECT " session_columns!() " FROM web_sessions w WHERE w.token_hash = $1 AND w.expires_at > $2"
    ))
    .bind(token_hash.to_owned())
    .bind(now)
    .optional()
    .await
}

/// The unexpired sessions of `account`, the last used one first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId, now: Time) -> Result<Vec<SessionRow>> {
    db.query(sql!(
        "SELECT " session_columns!() " FROM web_sessions w
         WHERE w.account_id = $1 AND w.expires_at > $2
         ORDER BY w.expires_at DESC, w.id DESC"
    ))
    .bind(account)
    .bind(now)
    .all()
    .await
}

/// Inserts a session with `token_hash`.
#[boxed]
pub async fn insert(tx: &mut Tx, session: &SessionRow, token_hash: String, now: Time) -> Result<()> {
    tx.query(sql!(session_insert!("token_hash", "created_at")))
        .bind(token_hash)
        .bind(now)
        .bind_row(session)
        .execute()
        .await?;
    Ok(())
}

/// Sets when a session expires.
#[boxed]
pub async fn extend(tx: &mut Tx, id: RowId, expires_at: Time) -> Result<()> {
    tx.query(sql!("UPDATE web_sessions SET expires_at = $2 WHERE id = $1")).bind(id).bind(expires_at).execute().await?;
    Ok(())
}

/// Deletes the session with this token hash.
#[boxed]
pub async fn delete(tx: &mut Tx, token_hash: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM web_sessions WHERE token_hash = $1")).bind(token_hash.to_owned()).execute().await?;
    Ok(())
}

/// Deletes one session of `account`; true when there was one.
#[boxed]
pub async fn delete_one(tx: &mut Tx, account: AccountId, id: RowId) -> Result<bool> {
    let deleted = tx.query(sql!("DELETE FROM web_sessions WHERE account_id = $1 AND id = $2")).bind(account).bind(id);
    Ok(deleted.execute().await? > 0)
}

/// Deletes the sessions of `account`, except `kept`; returns how many.
#[boxed]
pub async fn delete_all(tx: &mut Tx, account: AccountId, kept: Option<RowId>) -> Result<u64> {
    tx.query(sql!("DELETE FROM web_sessions WHERE account_id = $1 AND id <> $2"))
        .bind(account)
        .bind(kept.unwrap_or_else(|| RowId::from(0)))
        .execute()
        .await
}

/// Deletes the sessions that expired by `now`; returns how many.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM web_sessions WHERE expires_at <= $1")).bind(now).execute().await
}
