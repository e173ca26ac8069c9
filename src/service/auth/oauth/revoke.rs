//! Token revocation (RFC 7009). All revocations happen here, which also closes the streams opened with the tokens.
//!
//! Reached from `POST /oauth/revoke`, the list of authorised applications, a replayed code, a new password, and the end of
//! a browser session.

use super::{Credentials, Fault, Result, authenticate};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result as Plain};
use crypto::Secret;
use database::Tx;
use model::oauth::ErrorCode;
use model::{AccountId, AppId, TokenId};
use store::oauth::Revoked;
use store::session::Ended;

/// Revokes `token` for the application with `credentials` (RFC 7009); an unknown token is not an error.
///
/// # Errors
/// `unauthorized_client` for wrong credentials, or when the token belongs to another application.
#[model::use_case]
pub async fn by_client(cx: &Cx, credentials: &Credentials, token: Option<&Secret>) -> Result<()> {
    let forbidden = |text| Fault::refused(ErrorCode::UnauthorizedClient, text);
    let client = match authenticate(cx, credentials).await {
        Err(Fault::Refused { .. }) => return Err(forbidden("You are not authorized to revoke this token")),
        other => other?,
    };
    let Some(token) = token else { return Ok(()) };
    let Some(row) = store::oauth::find_token(&cx.db, &crypto::hash(token.expose())).await? else { return Ok(()) };
    if row.app_id != Some(client.id) {
        return Err(forbidden("You are not authorized to revoke this token"));
    }
    Ok(one(cx, row.id).await?)
}

/// Revokes one token; idempotent.
#[model::use_case]
pub async fn one(cx: &Cx, token: TokenId) -> Plain<()> {
    let mut tx = cx.db.begin().await?;
    let revoked = store::oauth::revoke_tokens(&mut tx, &[token], cx.clock.now()).await?;
    record(cx, &mut tx, revoked).await?;
    Ok(tx.commit().await?)
}

/// Revokes all tokens and codes that `application` holds for `account`.
///
/// # Errors
/// [`Error::NotFound`] when it holds none.
#[model::use_case]
pub async fn application(cx: &Cx, account: AccountId, application: AppId) -> Plain<()> {
    let mut tx = cx.db.begin().await?;
    store::oauth_code::delete_all(&mut tx, account, Some(application)).await?;
    let revoked = store::oauth::revoke_tokens_of_app(&mut tx, account, application, cx.clock.now()).await?;
    let none = revoked.is_empty();
    record(cx, &mut tx, revoked).await?;
    tx.commit().await?;
    if none { Err(Error::NotFound) } else { Ok(()) }
}

/// Revokes all tokens and codes of `account`, and ends all its browser sessions.
pub async fn everything(cx: &Cx, tx: &mut Tx, account: AccountId) -> Plain<()> {
    let ended = store::session::delete_all(tx, account, None).await?;
    of_sessions(cx, tx, &ended).await?;
    all_applications(cx, tx, account).await
}

/// Revokes all tokens and codes of `account`, with their streams and push subscriptions; browser sessions stay.
pub async fn all_applications(cx: &Cx, tx: &mut Tx, account: AccountId) -> Plain<()> {
    store::oauth_code::delete_all(tx, account, None).await?;
    let revoked = store::oauth::revoke_tokens_of_account(tx, account, cx.clock.now()).await?;
    record(cx, tx, revoked).await
}

/// Revokes the tokens of browser sessions that ended.
pub async fn of_sessions(cx: &Cx, tx: &mut Tx, ended: &[Ended]) -> Plain<()> {
    let tokens: Vec<TokenId> = ended.iter().filter_map(|session| session.token_id).collect();
    if tokens.is_empty() {
        return Ok(());
    }
    let revoked = store::oauth::revoke_tokens(tx, &tokens, cx.clock.now()).await?;
    record(cx, tx, revoked).await
}

async fn record(cx: &Cx, tx: &mut Tx, revoked: Vec<Revoked>) -> Plain<()> {
    let tokens: Vec<TokenId> = revoked.iter().map(|(token, _)| *token).collect();
    store::push::delete_of_tokens(tx, &tokens).await?;
    let changes: Vec<Change> =
        revoked.into_iter().map(|(token, account)| Change::TokenRevoked { token, account }).collect();
    change::record_all(cx, tx, &changes).await
}
