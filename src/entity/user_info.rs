//! The claims of OpenID Connect about a user (OpenID Connect Core 1.0, section 5.1), as Mastodon has them since 4.4.

use serde::Serialize;

use super::account::Images;
use context::Cx;
use context::error::Result;
use model::AccountId;
use service::account;

/// Who the owner of a token is.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UserInfo {
    /// As the issuer in the metadata of the server.
    pub iss: String,
    /// The id of the actor, which stays when the user name changes.
    pub sub: String,
    pub name: String,
    pub preferred_username: String,
    pub profile: String,
    pub picture: String,
}

impl UserInfo {
    /// The claims about `id`.
    ///
    /// # Errors
    /// [`Error::NotFound`](context::error::Error::NotFound) when there is no such account.
    pub async fn of(cx: &Cx, id: AccountId) -> Result<Self> {
        let account = account::find_visible(cx, id).await?;
        let picture = Images::new(cx, &account).avatar;
        Ok(Self {
            iss: cx.urls.path("/"),
            sub: account.uri,
            name: account.display_name,
            profile: cx.urls.profile(&account.username),
            preferred_username: account.username,
            picture,
        })
    }
}
