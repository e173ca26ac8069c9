//! <https://docs.joinmastodon.org/entities/Token/>

use serde::Serialize;

use crate::crypto::Secret;
use crate::model::{Scopes, Time};

/// An access token, on its way to the application that it belongs to.
#[derive(Serialize)]
#[expect(missing_docs, reason = "named by the Token entity")]
pub struct Token {
    pub access_token: String,
    pub token_type: &'static str,
    pub scope: String,
    /// Seconds since the epoch.
    pub created_at: i64,
}

impl Token {
    /// The token `secret`, made at `created_at`.
    #[must_use]
    pub fn new(secret: &Secret, scopes: &Scopes, created_at: Time) -> Self {
        Self {
            access_token: secret.expose().to_owned(),
            token_type: "Bearer",
            scope: scopes.to_string(),
            created_at: created_at.timestamp(),
        }
    }
}
