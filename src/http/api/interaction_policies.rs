//! Who may interact with statuses: of one status, of its thread, and the defaults for each visibility.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies;
//! <https://docs.gotosocial.org/en/latest/api/swagger/>

use std::collections::BTreeMap;

use model::{QuotePolicy, StatusId, Visibility};
use schemars::JsonSchema;
use serde::Deserialize;
use service::{preference, status};

use super::policy_params::PolicyParams;
use super::statuses::shown;
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadAccounts, WriteAccounts, WriteStatuses};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Params, Path};
use crate::json::Json;

/// Body parameters of [`update_defaults`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DefaultsParams {
    public: Option<PolicyParams>,
    public_unlisted: Option<PolicyParams>,
    login: Option<PolicyParams>,
    unlisted: Option<PolicyParams>,
    private: Option<PolicyParams>,
    limited: Option<PolicyParams>,
    direct: Option<PolicyParams>,
}

/// `GET /api/v1/interaction_policies/defaults`
pub async fn defaults(Auth(actor, ..): Auth<ReadAccounts>) -> Result<Json<entity::DefaultPolicies>> {
    Ok(Json::new(entity::interaction_policy::defaults(&actor.preferences)))
}

/// `PATCH /api/v1/interaction_policies/defaults`: each visibility that is sent gets these rules in place of its own; one
/// without rules gets the server's defaults.
pub async fn update_defaults(
    cx: Cx,
    Auth(actor, ..): Auth<WriteAccounts>,
    Params(params): Params<DefaultsParams>,
) -> Result<Json<entity::DefaultPolicies>> {
    let sent = [
        (Visibility::Public, params.public),
        (Visibility::PublicUnlisted, params.public_unlisted),
        (Visibility::Login, params.login),
        (Visibility::Unlisted, params.unlisted),
        (Visibility::Private, params.private),
        (Visibility::Limited, params.limited),
        (Visibility::Direct, params.direct),
    ];
    let mut rules = BTreeMap::new();
    for (visibility, policy) in sent {
        if let Some(policy) = policy {
            rules.insert(visibility, policy.rules()?);
        }
    }
    let preferences = preference::set_policies(&cx, &actor, rules).await?;
    Ok(Json::new(entity::interaction_policy::defaults(&preferences)))
}

/// Body parameters of [`update`]: one of the two.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct UpdatedPolicy {
    /// Who may quote the status, if anyone may read it.
    quote_approval_policy: Option<QuotePolicy>,
    /// Who may interact with the status; what is left out stays.
    interaction_policy: Option<PolicyParams>,
}

/// `PUT /api/v1/statuses/{id}/interaction_policy`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
    params: ParamsOfOwn<Params<UpdatedPolicy>>,
) -> Result<Json<entity::Status>> {
    let Params(params) = params.or_missing(status::own(&cx, &actor, id)).await?;
    if params.quote_approval_policy.is_none() && params.interaction_policy.is_none() {
        status::own(&cx, &actor, id).await?;
        return Err(Error::BadRequest("quote_approval_policy or interaction_policy is required".into()).into());
    }
    let rules = params.interaction_policy.map(PolicyParams::rules).transpose()?.unwrap_or_default();
    status::set_policy(&cx, &actor, id, rules, params.quote_approval_policy).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/remove_from_thread`
pub async fn remove_from_thread(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Empty>> {
    status::thread::remove_reply(&cx, &actor, id).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/statuses/{id}/restore_to_thread`
pub async fn restore_to_thread(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    status::thread::restore_reply(&cx, &actor, id).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/close_thread`: nobody else may reply any more.
pub async fn close_thread(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    status::thread::close(&cx, &actor, id, true).await?;
    shown(&cx, Some(&actor), id).await
}

/// `POST /api/v1/statuses/{id}/reopen_thread`
pub async fn reopen_thread(
    cx: Cx,
    Auth(actor, ..): Auth<WriteStatuses>,
    Path(id): Path<StatusId>,
) -> Result<Json<entity::Status>> {
    status::thread::close(&cx, &actor, id, false).await?;
    shown(&cx, Some(&actor), id).await
}
