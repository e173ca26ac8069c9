//! Browser sessions of the server's own web pages, looked up by the hash of their token. API clients use
//! [`oauth`](crate::oauth).

use database::{Conn, Result, Tx, sql};
use model::{AccountId, RowId, Time, TokenId, boxed};

/// A session, without the hash of its token.
#[derive(Debug, model::Row)]
#[row(table = "web_sessions", alias = "w")]
pub struct SessionRow {
    pub id: RowId,
    pub account_id: AccountId,
    pub expires_at: Time,
    /// The name of its browser; empty when unknown.
    pub browser: String,
    /// Its access token, once it needed one.
    pub token_id: Option<TokenId>,
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

/// Sets the access token of a session that has none but `replaced`; false when it has another one meanwhile.
#[boxed]
pub async fn set_token(tx: &mut Tx, id: RowId, token: TokenId, replaced: Option<TokenId>) -> Result<bool> {
    let replaced = replaced.map_or(0, i64::from);
    let changed = tx.query(sql!("UPDATE web_sessions SET token_id = $2 WHERE id = $1 AND COALESCE(token_id, 0) = $3"));
    Ok(changed.bind(id).bind(token).bind(replaced).execute().await? > 0)
}

/// The access token of a session; `None` when it has none, or ended.
#[boxed]
pub async fn find_token(db: Conn<'_>, id: RowId) -> Result<Option<TokenId>> {
    let found: Option<Ended> =
        db.query(sql!("SELECT token_id FROM web_sessions WHERE id = $1")).bind(id).optional().await?;
    Ok(found.and_then(|session| session.token_id))
}

/// A deleted session.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Ended {
    /// Its access token, to be revoked.
    pub token_id: Option<TokenId>,
}

/// Deletes the session with this token hash, and returns it.
#[boxed]
pub async fn delete(tx: &mut Tx, token_hash: &str) -> Result<Vec<Ended>> {
    let deleted = tx.query(sql!("DELETE FROM web_sessions WHERE token_hash = $1 RETURNING token_id"));
    deleted.bind(token_hash.to_owned()).all().await
}

/// Deletes one session of `account`, and returns it.
#[boxed]
pub async fn delete_one(tx: &mut Tx, account: AccountId, id: RowId) -> Result<Vec<Ended>> {
    let deleted = tx.query(sql!("DELETE FROM web_sessions WHERE account_id = $1 AND id = $2 RETURNING token_id"));
    deleted.bind(account).bind(id).all().await
}

/// Deletes the sessions of `account`, except `kept`, and returns them.
#[boxed]
pub async fn delete_all(tx: &mut Tx, account: AccountId, kept: Option<RowId>) -> Result<Vec<Ended>> {
    tx.query(sql!("DELETE FROM web_sessions WHERE account_id = $1 AND id <> $2 RETURNING token_id"))
        .bind(account)
        .bind(kept.unwrap_or_else(|| RowId::from(0)))
        .all()
        .await
}

/// Deletes the sessions that expired by `now`, and returns them.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, now: Time) -> Result<Vec<Ended>> {
    tx.query(sql!("DELETE FROM web_sessions WHERE expires_at <= $1 RETURNING token_id")).bind(now).all().await
}
