//! Token introspection (RFC 7662), for the application a token belongs to.
//!
//! Reached from `POST /oauth/introspect` and `GET /oauth/token/info`.

use super::{Credentials, Fault, Result, authenticate};
use context::Cx;
use crypto::Secret;
use model::oauth::ErrorCode;
use model::{AppId, Grant};
use store::oauth::TokenRow;

/// The authenticated caller.
#[derive(Debug)]
pub enum Caller<'a> {
    /// An application, by its credentials.
    Client(Credentials),
    /// An application, by one of its tokens.
    Token(&'a Grant),
}

/// A valid token, and the client id of its application.
#[derive(Debug)]
pub struct Active {
    pub token: TokenRow,
    pub client_id: Option<String>,
}

/// The token, if it is valid and belongs to the caller's application; `None` otherwise.
///
/// # Errors
/// `invalid_client` for wrong credentials, `invalid_token` when the caller's own token is invalid.
#[model::use_case]
pub async fn introspect(cx: &Cx, caller: Caller<'_>, token: Option<&Secret>) -> Result<Option<Active>> {
    let (client, asking) = match caller {
        Caller::Client(credentials) => (Some(authenticate(cx, &credentials).await?.id), None),
        Caller::Token(grant) => (grant.app, Some(grant.token)),
    };
    let token = token.ok_or_else(|| Fault::missing("token"))?;
    let found = store::oauth::find_token(&cx.db, &crypto::hash(token.expose())).await?;
    if found.as_ref().is_some_and(|row| Some(row.id) == asking) {
        return Err(invalid_token());
    }
    let Some(row) = found.filter(|row| belongs(row, client)) else { return Ok(None) };
    let client_id = client_id(cx, row.app_id).await?;
    Ok(Some(Active { token: row, client_id }))
}

fn belongs(row: &TokenRow, client: Option<AppId>) -> bool {
    row.revoked_at.is_none() && client.is_some() && row.app_id == client
}

/// The token behind `grant`.
///
/// # Errors
/// `invalid_token` when it was revoked meanwhile.
#[model::use_case]
pub async fn own(cx: &Cx, grant: &Grant) -> Result<Active> {
    let row = store::oauth::find_live_token(&cx.db, grant.token).await?.ok_or_else(invalid_token)?;
    let client_id = client_id(cx, row.app_id).await?;
    Ok(Active { token: row, client_id })
}

async fn client_id(cx: &Cx, id: Option<AppId>) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    Ok(store::application::find(&cx.db, id).await?.map(|application| application.client_id))
}

/// The error for a token that is unknown or revoked.
#[must_use]
pub fn invalid_token() -> Fault {
    Fault::refused(ErrorCode::InvalidToken, "The access token is invalid")
}
