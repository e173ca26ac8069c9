//! The one way by which tokens end: revoked, and then told to whatever is open by them.
//!
//! Reached from `POST /oauth/revoke`, the list of authorised applications, a code that came twice, and a reset password.

use super::{Credentials, Fault, Result, authenticate};
use crate::app::App;
use crate::error::{Error, Result as Plain};
use crate::event::Event;
use crypto::Secret;
use model::oauth::ErrorCode;
use model::{AccountId, AppId, TokenId};
use store::Tx;

/// Tokens that a transaction revokes; to be [`announced`](Revoked::announce) once it is committed.
#[derive(Debug)]
#[must_use = "what is open by these tokens closes only when told"]
pub struct Revoked(Vec<TokenId>);

impl Revoked {
    /// Closes what is open by the tokens.
    pub fn announce(self, app: &App) {
        for token in self.0 {
            app.events.publish(Event::TokenRevoked { token });
        }
    }
}

/// Revokes `token` for the application with `credentials`, as RFC 7009 has it; an unknown one is no error.
///
/// # Errors
/// `unauthorized_client` when the application is not known by its secret, or the token is another's.
pub async fn by_client(app: &App, credentials: &Credentials, token: Option<&Secret>) -> Result<()> {
    let forbidden = |text| Fault::refused(ErrorCode::UnauthorizedClient, text);
    let client = match authenticate(app, credentials).await {
        Err(Fault::Refused { .. }) => return Err(forbidden("You are not authorized to revoke this token")),
        other => other?,
    };
    let Some(token) = token else { return Ok(()) };
    let Some(row) = store::oauth::find_token(&app.db, &crypto::hash(token.expose())).await? else { return Ok(()) };
    if row.app_id != Some(client.id) {
        return Err(forbidden("You are not authorized to revoke this token"));
    }
    Ok(one(app, row.id).await?)
}

/// Revokes one token; twice is no error.
///
/// # Errors
/// When the database does.
pub async fn one(app: &App, token: TokenId) -> Plain<()> {
    let mut tx = app.db.begin().await?;
    let revoked = Revoked(store::oauth::revoke_token(&mut tx, token, app.clock.now()).await?);
    tx.commit().await?;
    revoked.announce(app);
    Ok(())
}

/// Takes every token and code from `application` that it holds for `account`.
///
/// # Errors
/// [`Error::NotFound`] when it holds none.
pub async fn application(app: &App, account: AccountId, application: AppId) -> Plain<()> {
    let mut tx = app.db.begin().await?;
    store::code::delete_all(&mut tx, account, Some(application)).await?;
    let revoked = store::oauth::revoke_tokens_of_app(&mut tx, account, application, app.clock.now()).await?;
    tx.commit().await?;
    if revoked.is_empty() {
        return Err(Error::NotFound);
    }
    Revoked(revoked).announce(app);
    Ok(())
}

/// Takes every token and code from every application, and ends every browser session, of `account`.
///
/// # Errors
/// When the database does.
pub async fn everything(app: &App, tx: &mut Tx, account: AccountId) -> Plain<Revoked> {
    store::session::delete_all(tx, account, None).await?;
    store::code::delete_all(tx, account, None).await?;
    Ok(Revoked(store::oauth::revoke_tokens_of_account(tx, account, app.clock.now()).await?))
}
