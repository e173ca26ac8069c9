//! The token endpoint: exchanging an authorization code, and the client credentials grant.
//!
//! Reached from `POST /oauth/token`.

use super::{Credentials, Fault, Result, authenticate, revoke, scopes};
use crate::token::{self, Issued};
use context::Cx;
use crypto::Secret;
use model::oauth::ErrorCode;
use model::{AppId, Application, Scopes};
use store::oauth_code::CodeRow;

/// Shortest and longest verifier, in characters (RFC 7636, section 4.1).
const VERIFIER_LENGTH: std::ops::RangeInclusive<usize> = 43..=128;

/// A token request as sent.
#[derive(Debug, Default)]
pub struct Request {
    pub grant_type: Option<String>,
    pub credentials: Credentials,
    pub code: Option<Secret>,
    pub redirect_uri: Option<String>,
    pub code_verifier: Option<Secret>,
    pub scope: Option<String>,
}

/// Issues the requested token.
///
/// # Errors
/// [`Fault::Refused`] with the error code of RFC 6749.
#[model::use_case]
pub async fn exchange(cx: &Cx, request: &Request) -> Result<Issued> {
    match request.grant_type.as_deref() {
        None => Err(Fault::missing("grant_type")),
        Some("authorization_code") => {
            let client = authenticate(cx, &request.credentials).await?;
            redeem(cx, &client, request).await
        }
        Some("client_credentials") => {
            let client = authenticate(cx, &request.credentials).await?;
            for_application(cx, &client, request).await
        }
        Some(_) => Err(Fault::refused(
            ErrorCode::UnsupportedGrantType,
            "grant_type must be authorization_code or client_credentials",
        )),
    }
}

async fn for_application(cx: &Cx, client: &Application, request: &Request) -> Result<Issued> {
    let scopes = scopes(cx, client, request.scope.as_deref())?;
    let mut tx = cx.db.begin().await?;
    let issued = token::find_or_issue(cx, &mut tx, client.id, None, &scopes).await?;
    tx.commit().await?;
    Ok(issued)
}

/// Redeems the code and issues the token in one transaction, so that a code yields one token at most.
async fn redeem(cx: &Cx, client: &Application, request: &Request) -> Result<Issued> {
    let code = request.code.as_ref().ok_or_else(|| Fault::missing("code"))?;
    let redirect_uri = request.redirect_uri.as_deref().ok_or_else(|| Fault::missing("redirect_uri"))?;
    let hash = crypto::hash(code.expose());
    let row = store::oauth_code::find(&cx.db, &hash).await?.ok_or_else(invalid_grant)?;
    if row.app_id != client.id || row.redirect_uri != redirect_uri {
        return Err(invalid_grant());
    }
    check_verifier(&row, request.code_verifier.as_ref())?;
    if row.redeemed_at.is_some() {
        return Err(replayed(cx, client.id, &hash).await);
    }
    let now = cx.clock.now();
    if row.expires_at <= now {
        return Err(invalid_grant());
    }
    let mut tx = cx.db.begin().await?;
    let scopes = Scopes::from_stored(&row.scopes);
    let issued = token::find_or_issue(cx, &mut tx, client.id, Some(row.account_id), &scopes).await?;
    if !store::oauth_code::redeem(&mut tx, row.id, issued.id, now).await? {
        drop(tx);
        return Err(replayed(cx, client.id, &hash).await);
    }
    tx.commit().await?;
    Ok(issued)
}

fn check_verifier(row: &CodeRow, verifier: Option<&Secret>) -> Result<()> {
    match (&row.code_challenge, verifier) {
        (None, None) => Ok(()),
        (Some(_), None) => Err(Fault::missing("code_verifier")),
        (Some(challenge), Some(verifier))
            if VERIFIER_LENGTH.contains(&verifier.expose().len())
                && crypto::same(&crypto::hash(verifier.expose()), challenge) =>
        {
            Ok(())
        }
        // A verifier without a challenge: PKCE downgrade, the challenge was stripped from the request (RFC 9700,
        // section 4.8).
        (Some(_) | None, Some(_)) => Err(invalid_grant()),
    }
}

/// A replayed code was stolen by one of its two senders: the token issued for it is revoked (RFC 6749, section 4.1.2).
async fn replayed(cx: &Cx, client: AppId, code_hash: &str) -> Fault {
    let revoked = async {
        let row = store::oauth_code::find(&cx.db, code_hash).await?;
        if let Some(token) = row.and_then(|row| row.token_id) {
            tracing::warn!(app.id = %client, "an authorization code was redeemed twice; its token is revoked");
            revoke::one(cx, token).await?;
        }
        Ok::<(), Fault>(())
    };
    revoked.await.err().unwrap_or_else(invalid_grant)
}

fn invalid_grant() -> Fault {
    Fault::refused(
        ErrorCode::InvalidGrant,
        "The code is unknown, too old, used already, or was given for another client, redirect_uri or code_challenge",
    )
}
