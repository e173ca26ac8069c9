//! OAuth authorization codes (RFC 6749, section 4.1): stored as hashes, redeemed once.
//!
//! Reached from `service::oauth`. A redeemed code is kept for a while with its token, so that a second attempt to
//! redeem it is noticed and the token revoked.

use super::{Executor, Result, Tx};
use crate::sql;
use model::{AccountId, AppId, RowId, Time, TokenId};

/// A row of the table of codes, without the hash.
#[derive(Debug, model::Row)]
#[expect(missing_docs, reason = "columns of the table oauth_grants")]
pub struct CodeRow {
    pub id: RowId,
    pub app_id: AppId,
    pub account_id: AccountId,
    pub redirect_uri: String,
    pub scopes: String,
    /// PKCE challenge (RFC 7636): S256 of the verifier.
    pub code_challenge: Option<String>,
    pub expires_at: Time,
    pub redeemed_at: Option<Time>,
    /// The token that it was redeemed for.
    pub token_id: Option<TokenId>,
}

/// A new code.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table oauth_grants")]
pub struct NewCode {
    pub id: RowId,
    pub code_hash: String,
    pub app_id: AppId,
    pub account_id: AccountId,
    pub redirect_uri: String,
    pub scopes: String,
    pub code_challenge: Option<String>,
    pub expires_at: Time,
    pub now: Time,
}

/// Inserts a code.
pub async fn insert(tx: &mut Tx, new: NewCode) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO oauth_grants (id, code_hash, app_id, account_id, redirect_uri, scopes, code_challenge, expires_at, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
    ))
    .bind(new.id)
    .bind(new.code_hash)
    .bind(new.app_id)
    .bind(new.account_id)
    .bind(new.redirect_uri)
    .bind(new.scopes)
    .bind(new.code_challenge)
    .bind(new.expires_at)
    .bind(new.now)
    .execute()
    .await?;
    Ok(())
}

/// The code with this hash, redeemed or not.
pub async fn find(db: impl Executor, code_hash: &str) -> Result<Option<CodeRow>> {
    db.query(sql!(
        "SELECT id, app_id, account_id, redirect_uri, scopes, code_challenge, expires_at, redeemed_at, token_id
         FROM oauth_grants
         WHERE code_hash = $1"
    ))
    .bind(code_hash.to_owned())
    .optional()
    .await
}

/// Marks a code as redeemed for `token`; false when it was redeemed before, also by a concurrent request.
pub async fn redeem(tx: &mut Tx, id: RowId, token: TokenId, now: Time) -> Result<bool> {
    let changed = tx
        .query(sql!("UPDATE oauth_grants SET redeemed_at = $3, token_id = $2 WHERE id = $1 AND redeemed_at IS NULL"))
        .bind(id)
        .bind(token)
        .bind(now)
        .execute()
        .await?;
    Ok(changed > 0)
}

/// Deletes the codes of `account`, or only those for `app` when it is given; returns how many.
pub async fn delete_all(tx: &mut Tx, account: AccountId, app: Option<AppId>) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE account_id = $1 AND (app_id = $2 OR CAST($2 AS BIGINT) IS NULL)"))
        .bind(account)
        .bind(app)
        .execute()
        .await
}

/// Deletes the codes that expired by `time`; returns how many.
pub async fn delete_expired(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE expires_at <= $1")).bind(time).execute().await
}
