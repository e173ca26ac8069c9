//! Access tokens: made from the server's secret and a nonce, stored only as a hash.
//!
//! Deriving instead of storing lets the same application, person and scopes get the same token again, as the contract
//! wants (rules, section 2), although a copy of the database reveals none.

use crate::app::App;
use crate::error::Result;
use crypto::Secret;
use model::{AccountId, AppId, Scopes, Time, TokenId};
use store::Tx;

/// A token on its way to the application.
#[derive(Debug)]
#[expect(missing_docs, reason = "columns of the table oauth_tokens")]
pub struct Issued {
    pub id: TokenId,
    pub text: Secret,
    pub scopes: String,
    pub created_at: Time,
}

/// The token that `app_id` has for `account` with just these scopes, or a new one.
///
/// # Errors
/// When the database does.
pub async fn find_or_issue(
    app: &App,
    tx: &mut Tx,
    app_id: AppId,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Issued> {
    let held = match account {
        Some(account) => store::oauth::list_tokens(&mut *tx, app_id, account).await?,
        None => store::oauth::list_application_tokens(&mut *tx, app_id).await?,
    };
    match held.into_iter().find(|token| Scopes::from_stored(&token.scopes).is_same_set(scopes)) {
        Some(token) => Ok(Issued {
            id: token.id,
            text: text(app, token.id, &token.nonce),
            scopes: token.scopes,
            created_at: token.created_at,
        }),
        None => issue(app, tx, Some(app_id), account, scopes).await,
    }
}

/// A new token of `app_id` (`None`: made by the command line) for `account` (`None`: for the application itself).
///
/// # Errors
/// When the database does.
pub async fn mint(
    app: &App,
    tx: &mut Tx,
    app_id: Option<AppId>,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Secret> {
    Ok(issue(app, tx, app_id, account, scopes).await?.text)
}

/// As [`mint`], with what else the application is told.
///
/// # Errors
/// When the database does.
pub async fn issue(
    app: &App,
    tx: &mut Tx,
    app_id: Option<AppId>,
    account: Option<AccountId>,
    scopes: &Scopes,
) -> Result<Issued> {
    let id: TokenId = app.ids.next();
    let nonce = crypto::random_text(16);
    let (token, now) = (text(app, id, &nonce), app.clock.now());
    let new = store::oauth::NewToken {
        id,
        token_hash: crypto::hash(token.expose()),
        nonce,
        app_id,
        account_id: account,
        scopes: scopes.to_string(),
        now,
    };
    store::oauth::insert_token(tx, new).await?;
    Ok(Issued { id, text: token, scopes: scopes.to_string(), created_at: now })
}

/// The text of a token that exists.
#[must_use]
pub fn text(app: &App, id: TokenId, nonce: &str) -> Secret {
    app.keys.derive("access token", &format!("{id}.{nonce}"))
}
