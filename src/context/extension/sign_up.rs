//! Sign-ups: an extension may admit a user although registrations are closed.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::{Cx, Result};
use database::Tx;
use model::{AccountId, PluginId};

/// Admission of sign-ups by extensions. The default of every method is the behaviour of a server without extensions.
#[async_trait]
pub trait JudgeSignUps {
    /// The sign-up parameters that are passed to extensions.
    fn sign_up_params(&self) -> Vec<String> {
        Vec::new()
    }

    /// The admission of a sign-up with `params`, a subset of [`JudgeSignUps::sign_up_params`]; no transaction is
    /// open.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when a required extension does not respond.
    async fn judge_sign_up(&self, _cx: &Cx, _params: &Map<String, Value>) -> Result<Option<Admission>> {
        Ok(None)
    }

    /// Lets the extension that gave `admission` count the sign-up, in the transaction that creates `account` next.
    /// `None`, and nothing counted, when the admission is no longer valid.
    ///
    /// # Errors
    /// [`Error::Plugin`](crate::Error::Plugin) when the extension does not respond,
    /// [`Error::Unavailable`](crate::Error::Unavailable) when the database is busy.
    async fn claim_sign_up(
        &self,
        _cx: &Cx,
        _admission: &Admission,
        _params: &Map<String, Value>,
        _account: AccountId,
    ) -> Result<Option<(Tx, Admission)>> {
        Ok(None)
    }
}

/// An extension's admission of a sign-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    pub plugin: PluginId,
    /// The sign-up is allowed although registrations are closed.
    pub opens: bool,
    /// The sign-up needs neither approval nor a reason.
    pub approves: bool,
    /// The inviting account.
    pub invited_by: Option<AccountId>,
}
