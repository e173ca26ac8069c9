//! OAuth authorization codes (RFC 6749, section 4.1): stored as hashes, redeemed once.
//!
//! Reached from `service::oauth`. A redeemed code is kept for a while with its token, so that a second attempt to
//! redeem it is detected and the token revoked.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, AppId, RowId, Time, TokenId, boxed};

/// A row of the table of codes, without the hash.
#[derive(Debug, model::Row)]
#[row(table = "oauth_grants", alias = "g")]
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

/// Inserts a code with `code_hash`.
#[boxed]
pub async fn insert(tx: &mut Tx, code: &CodeRow, code_hash: String, now: Time) -> Result<()> {
    tx.query(sql!(code_insert!("code_hash", "created_at"))).bind(code_hash).bind(now).bind_row(code).execute().await?;
    Ok(())
}

/// The code with this hash, redeemed or not.
#[boxed]
pub async fn find(db: Conn<'_>, code_hash: &str) -> Result<Option<CodeRow>> {
    db.query(sql!("SELECT " code_columns!() " FROM oauth_grants g WHERE g.code_hash = $1"))
        .bind(code_hash.to_owned())
        .optional()
        .await
}

/// Marks a code as redeemed for `token`; false when it was already redeemed, also by a concurrent request.
#[boxed]
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
#[boxed]
pub async fn delete_all(tx: &mut Tx, account: AccountId, app: Option<AppId>) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE account_id = $1 AND (app_id = $2 OR CAST($2 AS BIGINT) IS NULL)"))
        .bind(account)
        .bind(app)
        .execute()
        .await
}

/// Deletes the codes that expired by `time`; returns how many.
#[boxed]
pub async fn delete_expired(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE expires_at <= $1")).bind(time).execute().await
}
