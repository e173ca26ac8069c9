//! OAuth access tokens, looked up by their hash: the token itself is not stored.
//!
//! Reached from authentication and `service::oauth`. Authorization codes are in [`code`](super::oauth_code), applications in
//! [`application`].

pub mod application;
pub mod oauth_code;
pub mod one_time_link;
pub mod session;

use super::role::{RolePermissions, role_joins, role_permission_columns};
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, AppId, Json, Preferences, Time, TokenId, boxed};

/// An access token and, when it belongs to an account, the data that determines the account's permissions.
#[derive(Debug, model::Row)]
pub struct TokenActorRow {
    pub token_id: TokenId,
    pub app_id: Option<AppId>,
    pub scopes: String,
    pub last_used_at: Option<Time>,
    pub account_id: Option<AccountId>,
    pub version: Option<i64>,
    pub relations_version: Option<i64>,
    pub filters_version: Option<i64>,
    pub username: Option<String>,
    pub uri: Option<String>,
    pub locked: Option<bool>,
    pub suspended_at: Option<Time>,
    pub limited_at: Option<Time>,
    pub memorial: Option<bool>,
    pub moved_to_account_id: Option<AccountId>,
    pub confirmed_at: Option<Time>,
    pub approved: Option<bool>,
    pub disabled: Option<bool>,
    pub locale: Option<String>,
    pub preferences: Option<Json<Preferences>>,
    pub last_active_at: Option<Time>,
    pub feed_state: Option<String>,
    #[row(flatten)]
    pub permissions: RolePermissions,
}

/// The columns of [`TokenActorRow`] that are not in the token, from account `a` and the tables that `actor_joins!`
/// joins.
macro_rules! actor_columns {
    () => {
        concat!(
            "a.version, a.relations_version, a.filters_version, a.username, a.uri, a.locked, a.suspended_at, a.limited_at,
             a.memorial, a.moved_to_account_id, u.confirmed_at, u.approved, u.disabled, u.locale, u.preferences, u.last_active_at,
             u.feed_state, ",
            role_permission_columns!()
        )
    };
}

/// Joins the user and the role of account `a`, if it has them.
macro_rules! actor_joins {
    () => {
        concat!(" LEFT JOIN users u ON u.account_id = a.id", role_joins!())
    };
}

/// The token with this hash and its account, unless the token is revoked: one statement for each request.
#[boxed]
pub async fn find_grant(db: Conn<'_>, token_hash: &str) -> Result<Option<TokenActorRow>> {
    db.query(sql!(
        "SELECT t.id AS token_id, t.app_id, t.scopes, t.last_used_at, t.account_id, " actor_columns!() "
         FROM oauth_tokens t
         LEFT JOIN accounts a ON a.id = t.account_id" actor_joins!()
        "WHERE t.token_hash = $1 AND t.revoked_at IS NULL"
    ))
    .bind(token_hash.to_owned())
    .optional()
    .await
}

/// As [`find_grant`], for several tokens by their ids, in no order.
#[boxed]
pub async fn list_grants(db: Conn<'_>, tokens: &[TokenId]) -> Result<Vec<TokenActorRow>> {
    db.query(sql!(
        "SELECT t.id AS token_id, t.app_id, t.scopes, t.last_used_at, t.account_id, " actor_columns!() "
         FROM oauth_tokens t
         LEFT JOIN accounts a ON a.id = t.account_id" actor_joins!()
        "WHERE t.id" in("$1") "AND t.revoked_at IS NULL"
    ))
    .bind(Ids::of(tokens.iter().copied()))
    .all()
    .await
}

/// The data of [`find_grant`] for accounts that act or view without a token; `token_id` is 0. In no order.
#[boxed]
pub async fn list_actors(db: Conn<'_>, accounts: &[AccountId]) -> Result<Vec<TokenActorRow>> {
    db.query(sql!(
        "SELECT CAST(0 AS BIGINT) AS token_id, CAST(NULL AS BIGINT) AS app_id, '' AS scopes,
                u.last_active_at AS last_used_at, a.id AS account_id, " actor_columns!() "
         FROM accounts a" actor_joins!()
        "WHERE a.id" in("$1")
    ))
    .bind(Ids::of(accounts.iter().copied()))
    .all()
    .await
}

/// Sets when a token was last used.
#[boxed]
pub async fn touch_token(tx: &mut Tx, id: TokenId, now: Time) -> Result<()> {
    tx.query(sql!("UPDATE oauth_tokens SET last_used_at = $2 WHERE id = $1")).bind(id).bind(now).execute().await?;
    Ok(())
}

/// A row of the table of tokens, without the hash.
#[derive(Debug, model::Row)]
#[row(table = "oauth_tokens", alias = "t")]
pub struct TokenRow {
    pub id: TokenId,
    pub nonce: String,
    pub app_id: Option<AppId>,
    pub account_id: Option<AccountId>,
    pub scopes: String,
    pub created_at: Time,
    pub revoked_at: Option<Time>,
}

/// Inserts an access token with `token_hash`.
#[boxed]
pub async fn insert_token(tx: &mut Tx, token: &TokenRow, token_hash: String) -> Result<()> {
    tx.query(sql!(token_insert!("token_hash"))).bind(token_hash).bind_row(token).execute().await?;
    Ok(())
}

/// True when the token has this hash.
#[boxed]
pub async fn has_hash(db: Conn<'_>, id: TokenId, token_hash: &str) -> Result<bool> {
    let row: Option<(TokenId,)> = db
        .query(sql!("SELECT t.id FROM oauth_tokens t WHERE t.id = $1 AND t.token_hash = $2"))
        .bind(id)
        .bind(token_hash.to_owned())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// The token with this hash, revoked or not.
#[boxed]
pub async fn find_token(db: Conn<'_>, token_hash: &str) -> Result<Option<TokenRow>> {
    db.query(sql!("SELECT " token_columns!() " FROM oauth_tokens t WHERE t.token_hash = $1"))
        .bind(token_hash.to_owned())
        .optional()
        .await
}

/// The token, unless it is revoked.
#[boxed]
pub async fn find_live_token(db: Conn<'_>, id: TokenId) -> Result<Option<TokenRow>> {
    db.query(sql!("SELECT " token_columns!() " FROM oauth_tokens t WHERE t.id = $1 AND t.revoked_at IS NULL"))
        .bind(id)
        .optional()
        .await
}

/// The tokens that `app` holds for `account` and that are not revoked, oldest first.
#[boxed]
pub async fn list_tokens(db: Conn<'_>, app: AppId, account: AccountId) -> Result<Vec<TokenRow>> {
    db.query(sql!(
        "SELECT " token_columns!() " FROM oauth_tokens t
         WHERE t.account_id = $1 AND t.app_id = $2 AND t.revoked_at IS NULL
         ORDER BY t.id"
    ))
    .bind(account)
    .bind(app)
    .all()
    .await
}

/// The tokens that `app` holds for itself (client credentials) and that are not revoked, oldest first.
#[boxed]
pub async fn list_application_tokens(db: Conn<'_>, app: AppId) -> Result<Vec<TokenRow>> {
    db.query(sql!(
        "SELECT " token_columns!() " FROM oauth_tokens t
         WHERE t.account_id IS NULL AND t.app_id = $1 AND t.revoked_at IS NULL
         ORDER BY t.id"
    ))
    .bind(app)
    .all()
    .await
}

/// A revoked token, and its account.
pub type Revoked = (TokenId, Option<AccountId>);

/// Revokes these tokens; returns those that were not revoked yet.
#[boxed]
pub async fn revoke_tokens(tx: &mut Tx, ids: &[TokenId], now: Time) -> Result<Vec<Revoked>> {
    tx.query(sql!(
        "UPDATE oauth_tokens SET revoked_at = $2 WHERE id" in("$1") "AND revoked_at IS NULL RETURNING id, account_id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(now)
    .all()
    .await
}

/// Revokes the tokens that `app` holds for `account`; returns the newly revoked ones.
#[boxed]
pub async fn revoke_tokens_of_app(tx: &mut Tx, account: AccountId, app: AppId, now: Time) -> Result<Vec<Revoked>> {
    tx.query(sql!(
        "UPDATE oauth_tokens SET revoked_at = $3
         WHERE account_id = $1 AND app_id = $2 AND revoked_at IS NULL
         RETURNING id, account_id"
    ))
    .bind(account)
    .bind(app)
    .bind(now)
    .all()
    .await
}

/// Revokes every token of `account`; returns the newly revoked ones.
#[boxed]
pub async fn revoke_tokens_of_account(tx: &mut Tx, account: AccountId, now: Time) -> Result<Vec<Revoked>> {
    tx.query(sql!(
        "UPDATE oauth_tokens SET revoked_at = $2 WHERE account_id = $1 AND revoked_at IS NULL RETURNING id, account_id"
    ))
    .bind(account)
    .bind(now)
    .all()
    .await
}
