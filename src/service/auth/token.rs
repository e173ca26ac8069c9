//! OAuth access tokens: derived from the server's secret key and a nonce, stored only as a hash.
//!
//! Deriving a token instead of storing it lets the same application, account and scopes get the same token again, as
//! the contract requires (docs/contract/rules.md#2-authentication), while a leaked database reveals none.

pub use crate::access::grants::text;
use context::Cx;
use context::error::Result;
use crypto::Secret;
use database::Tx;
use model::{AccountId, AppId, Scopes, Time, TokenId};

/// An issued token as it is returned to the application.
#[derive(Debug)]
pub struct Issued {
    pub id: TokenId,
    pub text: Secret,
    pub scopes: String,
    pub created_at: Time,
}

/// The existing token of `app_id` for `account` with exactly these scopes, or a new one. Concurrent requests get the
/// same token.
///
/// A token that was derived from another secret key cannot be derived again. It stays valid for its holder, and the
/// application gets a new one.
pub async fn find_or_issue(
    cx: &Cx,
    tx: &mut Tx,
    app_id: AppId,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Issued> {
    store::application::lock(tx, app_id).await?;
    let held = match account {
        Some(account) => store::oauth::list_tokens(&mut *tx, app_id, account).await?,
        None => store::oauth::list_application_tokens(&mut *tx, app_id).await?,
    };
    for token in held.into_iter().filter(|token| Scopes::from_stored(&token.scopes).is_same_set(scopes)) {
        let text = text(cx, token.id, &token.nonce);
        if store::oauth::has_hash(&mut *tx, token.id, &crypto::hash(text.expose())).await? {
            return Ok(Issued { id: token.id, text, scopes: token.scopes, created_at: token.created_at });
        }
    }
    issue(cx, tx, Some(app_id), account, scopes).await
}

/// A new token of `app_id` (`None`: issued by the command line) for `account` (`None`: client credentials).
#[model::use_case]
pub async fn mint(
    cx: &Cx,
    tx: &mut Tx,
    app_id: Option<AppId>,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Secret> {
    Ok(issue(cx, tx, app_id, account, scopes).await?.text)
}

/// As [`mint`], with the other values of the token response.
pub async fn issue(
    cx: &Cx,
    tx: &mut Tx,
    app_id: Option<AppId>,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Issued> {
    let id: TokenId = cx.ids.next();
    let nonce = crypto::random_text(16);
    let (token, now) = (text(cx, id, &nonce), cx.clock.now());
    let row = store::oauth::TokenRow {
        id,
        nonce,
        app_id,
        account_id: account,
        scopes: scopes.to_string(),
        created_at: now,
        revoked_at: None,
    };
    store::oauth::insert_token(tx, &row, crypto::hash(token.expose())).await?;
    Ok(Issued { id, text: token, scopes: row.scopes, created_at: now })
}
