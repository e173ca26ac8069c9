//! What a token is worth, told to the application it belongs to (RFC 7662).
//!
//! Reached from `POST /oauth/introspect` and `GET /oauth/token/info`.

use super::{Credentials, Fault, Result, authenticate};
use crate::app::App;
use crate::service::auth::Grant;
use crypto::Secret;
use model::AppId;
use model::oauth::ErrorCode;
use store::oauth::TokenRow;

/// Who asks.
#[derive(Debug)]
pub enum Caller<'a> {
    /// An application, by its credentials.
    Client(Credentials),
    /// An application, by one of its tokens.
    Token(&'a Grant),
}

/// A token that works, and the client id of the application it belongs to.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Active {
    pub token: TokenRow,
    pub client_id: Option<String>,
}

/// The token, when it works and belongs to the caller's application.
///
/// # Errors
/// `invalid_client` for wrong credentials, `invalid_token` when the token is the one that asks.
pub async fn introspect(app: &App, caller: Caller<'_>, token: Option<&Secret>) -> Result<Option<Active>> {
    let (client, asking) = match caller {
        Caller::Client(credentials) => (Some(authenticate(app, &credentials).await?.id), None),
        Caller::Token(grant) => (grant.app, Some(grant.token)),
    };
    let token = token.ok_or_else(|| Fault::missing("token"))?;
    let found = store::oauth::find_token(&app.db, &crypto::hash(token.expose())).await?;
    if found.as_ref().is_some_and(|row| Some(row.id) == asking) {
        return Err(invalid_token());
    }
    let Some(row) = found.filter(|row| belongs(row, client)) else { return Ok(None) };
    let client_id = client_id(app, row.app_id).await?;
    Ok(Some(Active { token: row, client_id }))
}

fn belongs(row: &TokenRow, client: Option<AppId>) -> bool {
    row.revoked_at.is_none() && client.is_some() && row.app_id == client
}

/// The token behind `grant`.
///
/// # Errors
/// `invalid_token` when it was revoked meanwhile.
pub async fn own(app: &App, grant: &Grant) -> Result<Active> {
    let row = store::oauth::find_live_token(&app.db, grant.token).await?.ok_or_else(invalid_token)?;
    let client_id = client_id(app, row.app_id).await?;
    Ok(Active { token: row, client_id })
}

async fn client_id(app: &App, id: Option<AppId>) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    Ok(store::application::find(&app.db, id).await?.map(|application| application.client_id))
}

/// The refusal of a token that is not, or no longer, one of ours.
#[must_use]
pub fn invalid_token() -> Fault {
    Fault::refused(ErrorCode::InvalidToken, "The access token is invalid")
}
