//! The grant of an access token.

use std::sync::Arc;

use super::actor::Unusable;
use super::{Actor, AppId, Scopes, TokenId};

/// A valid token: its scopes, application and account.
#[derive(Clone, Debug)]
pub struct Grant {
    pub token: TokenId,
    /// The application it was issued to; `None` for tokens issued by the command line.
    pub app: Option<AppId>,
    pub scopes: Scopes,
    /// The account, when the token is bound to one.
    pub actor: Option<Arc<Actor>>,
    /// Why the account cannot be used; `None` if it can.
    pub unusable: Option<Unusable>,
}

impl Grant {
    /// The user of the token, who may use this server; `None` for a token of the application itself.
    ///
    /// # Errors
    /// Why the account cannot be used.
    pub fn person(&self) -> Result<Option<&Arc<Actor>>, Unusable> {
        self.unusable.map_or(Ok(self.actor.as_ref()), Err)
    }
}
