//! Reporting accounts to the staff.
//!
//! Spec: <https://docs.joinmastodon.org/methods/reports/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::WriteReports;
use crate::extract::{Auth, Params};
use crate::json::Json;
use model::params::distinct;
use model::params::required;
use model::report::ReportCategory;
use model::{AccountId, RuleId, StatusId};

use service::filing::Draft;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ReportParams {
    #[schemars(transform = required)]
    account_id: Option<AccountId>,
    /// Statuses of that account.
    status_ids: Option<Vec<StatusId>>,
    /// At most 1,000 characters.
    comment: Option<String>,
    /// Whether the report is forwarded to the server of the account.
    forward: Option<bool>,
    /// The servers that receive the report: the server of the account, which is the default, and the servers of
    /// accounts that the statuses reply to.
    #[serde(deserialize_with = "distinct")]
    forward_to_domains: Option<Vec<String>>,
    /// `other` by default.
    #[schemars(with = "Option<ReportCategory>")]
    category: Option<ReportCategory>,
    /// Rules of the server; with one, the category is `violation`.
    rule_ids: Option<Vec<RuleId>>,
}

/// `POST /api/v1/reports`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteReports>,
    Params(params): Params<ReportParams>,
) -> Result<Json<entity::Report>> {
    let target = params.account_id.ok_or_else(|| Error::missing("account_id"))?;
    let draft = Draft {
        status_ids: params.status_ids.unwrap_or_default(),
        comment: params.comment.unwrap_or_default(),
        forward: params.forward.unwrap_or_default(),
        forward_to_domains: params.forward_to_domains,
        category: params.category,
        rule_ids: params.rule_ids.unwrap_or_default(),
    };
    let report = service::filing::create(&cx, &actor, target, draft).await?;
    Ok(Json::new(entity::report::render_one(&cx, &report).await?))
}
