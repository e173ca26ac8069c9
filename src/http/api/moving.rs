//! Aliases of the signed-in user's account, moving it to another one, and moving back.
//!
//! Spec: docs/contract/rules.md#9-accounts; the routes and parameters follow
//! <https://docs.gotosocial.org/en/latest/api/swagger/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::WriteAccounts;
use crate::extract::{Auth, Params};
use crate::json::Json;
use crypto::Secret;
use model::params::required;
use service::{account, moving};

/// Body parameters of [`aliases`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Aliases {
    /// The accounts that may move here, each as `user@domain` or as the URL of its actor; they replace all. At most 20.
    also_known_as_uris: Option<Vec<String>>,
}

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Target {
    /// The current password.
    #[schemars(transform = required)]
    password: Option<String>,
    /// The account to move to, as `user@domain` or as the URL of its actor.
    #[schemars(transform = required)]
    moved_to_uri: Option<String>,
}

/// `POST /api/v1/accounts/alias`
pub async fn aliases(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Params(params): Params<Aliases>,
) -> Result<Json<entity::CredentialAccount>> {
    let account = account::find_visible(&cx, actor.id).await?;
    moving::set_aliases(&cx, &account, &params.also_known_as_uris.unwrap_or_default()).await?;
    Ok(Json::new(entity::credential::show(&cx, actor.id).await?))
}

/// `POST /api/v1/accounts/move`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Params(params): Params<Target>,
) -> Result<Json<entity::Empty>> {
    let account = account::find_visible(&cx, actor.id).await?;
    let password = Secret::from(params.password.unwrap_or_default());
    moving::move_to(&cx, &account, password, params.moved_to_uri.as_deref().unwrap_or_default()).await?;
    Ok(Json::empty())
}

/// `DELETE /api/v1/accounts/move`: moves back. The one change that a moved account may make.
pub async fn delete(cx: Cx, Auth(actor, ..): Auth<WriteAccounts>) -> Result<Json<entity::Empty>> {
    let account = account::find_visible(&cx, actor.id).await?;
    moving::move_back(&cx, &account).await?;
    Ok(Json::empty())
}
