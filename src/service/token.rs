//! Access tokens: made from the server's secret and a nonce, stored only as a hash.
//!
//! Deriving instead of storing lets the same application, person and scopes get the same token again, as the contract
//! wants (rules, section 2), although a copy of the database reveals none.

use crate::app::App;
use crate::crypto::{self, Secret};
use crate::error::Result;
use crate::model::{AccountId, AppId, Scopes, TokenId};
use crate::store::{self, Tx};

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
    let id: TokenId = app.ids.next();
    let nonce = crypto::random_text(16);
    let token = text(app, id, &nonce);
    let new = store::oauth::NewToken {
        id,
        token_hash: crypto::hash(token.expose()),
        nonce,
        app_id,
        account_id: account,
        scopes: scopes.to_string(),
        now: app.clock.now(),
    };
    store::oauth::insert_token(tx, new).await?;
    Ok(token)
}

/// The text of a token that exists.
#[must_use]
pub fn text(app: &App, id: TokenId, nonce: &str) -> Secret {
    app.keys.derive("access token", &format!("{id}.{nonce}"))
}
