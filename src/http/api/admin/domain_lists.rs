//! Subscribed lists of domains, their drafts, and domains that no list may block. Additions of this server.
//!
//! Spec: docs/contract/admin.csv

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AdminReadDomainBlocks, AdminWriteDomainBlocks, ManageFederation, StaffAuth};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Params, Path};
use crate::json::Json;
use context::json::Fragment;
use entity::admin::{DomainExclusion, DomainList, DomainListDraft};
use model::domain_list::{ListFormat, ListMode};
use model::instance::Severity;
use model::params::{required, required_to_create};
use model::{RowId, Staff};
use service::domain_list::exclusion;
use service::domain_list::subscription::draft::{self, Decision};
use service::domain_list::subscription::{self, Blocks, Options};

/// A subscription; `None` leaves a value as it is, or takes the default of a new one.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DomainListParams {
    /// The address of the list; ignored by a change.
    #[schemars(transform = required_to_create)]
    url: Option<String>,
    /// Detected by default.
    format: Option<ListFormat>,
    /// From -1,000 to 1,000, 0 by default: the list with the highest decides about a domain.
    priority: Option<i64>,
    /// `draft` by default.
    mode: Option<ListMode>,
    /// The severity of all domains, whatever the list has for them.
    severity: Option<Severity>,
}

/// Parameters of [`delete`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RemovalParams {
    /// The blocks that the list made stay.
    keep: Option<bool>,
}

/// Parameters of [`drafts`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DraftsParams {
    /// The last domain of the previous page.
    after: Option<String>,
}

/// The drafts that are decided.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DecisionParams {
    /// The drafts about these domains.
    domains: Option<Vec<String>>,
    /// All drafts of the list.
    all: Option<bool>,
}

/// A domain that is excluded, or no longer.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ExclusionParams {
    /// With its subdomains.
    #[schemars(transform = required)]
    domain: Option<String>,
}

/// `GET /api/v1/admin/domain_lists`: at most 20, by priority.
pub async fn index(cx: Cx, _: StaffAuth<AdminReadDomainBlocks, ManageFederation>) -> Result<Json<Vec<DomainList>>> {
    array(subscription::list(&cx).await?.into_iter().map(DomainList::from))
}

/// `POST /api/v1/admin/domain_lists`: the list is fetched by a job.
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(mut params): Params<DomainListParams>,
) -> Result<Json<DomainList>> {
    let url = params.url.take().ok_or_else(|| Error::invalid("url is missing"))?;
    let mut options = Options { format: None, priority: 0, mode: ListMode::Draft, severity: None };
    params.apply(&mut options);
    Json::of(&subscription::create(&cx, &staff, &url, options).await?.into())
}

/// `GET /api/v1/admin/domain_lists/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<DomainList>> {
    Json::of(&subscription::find(&cx, id).await?.into())
}

/// `PUT /api/v1/admin/domain_lists/{id}`: the list is fetched again.
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<DomainListParams>>,
) -> Result<Json<DomainList>> {
    let Params(params) = params.or_missing(subscription::find(&cx, id)).await?;
    Json::of(&subscription::update(&cx, &staff, id, |options| params.apply(options)).await?.into())
}

/// `DELETE /api/v1/admin/domain_lists/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<RemovalParams>>,
) -> Result<Json<entity::Empty>> {
    let Params(params) = params.or_missing(subscription::find(&cx, id)).await?;
    let blocks = if params.keep == Some(true) { Blocks::Keep } else { Blocks::Remove };
    subscription::delete(&cx, &staff, id, blocks).await?;
    Ok(Json::empty())
}

/// `POST /api/v1/admin/domain_lists/{id}/refresh`: the list is fetched by a job now.
pub async fn refresh(
    cx: Cx,
    _: StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
) -> Result<Json<DomainList>> {
    Json::of(&subscription::queue_refresh(&cx, id).await?.into())
}

/// `GET /api/v1/admin/domain_lists/{id}/drafts`: at most 500, by domain.
pub async fn drafts(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<DraftsParams>>,
) -> Result<Json<Vec<DomainListDraft>>> {
    let Params(params) = params.or_missing(subscription::find(&cx, id)).await?;
    let drafts = draft::list(&cx, id, &params.after.unwrap_or_default()).await?;
    array(drafts.into_iter().map(DomainListDraft::read).collect::<Result<Vec<_>, _>>()?)
}

/// `POST /api/v1/admin/domain_lists/{id}/drafts/apply`
pub async fn apply(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<DecisionParams>>,
) -> Result<Json<DomainList>> {
    decide(&cx, &staff, id, params, Decision::Apply).await
}

/// `POST /api/v1/admin/domain_lists/{id}/drafts/dismiss`
pub async fn dismiss(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<DecisionParams>>,
) -> Result<Json<DomainList>> {
    decide(&cx, &staff, id, params, Decision::Dismiss).await
}

/// `GET /api/v1/admin/domain_exclusions`: all, by domain.
pub async fn exclusions(
    cx: Cx,
    _: StaffAuth<AdminReadDomainBlocks, ManageFederation>,
) -> Result<Json<Vec<DomainExclusion>>> {
    array(exclusion::list(&cx).await?.into_iter().map(|domain| DomainExclusion { domain }))
}

/// `POST /api/v1/admin/domain_exclusions`: for an excluded domain, too.
pub async fn exclude(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(params): Params<ExclusionParams>,
) -> Result<Json<DomainExclusion>> {
    let (domain, _) = exclusion::exclude(&cx, &staff, &params.domain.unwrap_or_default()).await?;
    Json::of(&DomainExclusion { domain })
}

/// `DELETE /api/v1/admin/domain_exclusions`
pub async fn unexclude(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteDomainBlocks, ManageFederation>,
    Params(params): Params<ExclusionParams>,
) -> Result<Json<entity::Empty>> {
    exclusion::unexclude(&cx, &staff, &params.domain.unwrap_or_default()).await?;
    Ok(Json::empty())
}

async fn decide(
    cx: &Cx,
    staff: &Staff,
    id: RowId,
    params: ParamsOfOwn<Params<DecisionParams>>,
    decision: Decision,
) -> Result<Json<DomainList>> {
    let Params(params) = params.or_missing(subscription::find(cx, id)).await?;
    let domains = match (params.domains, params.all) {
        (_, Some(true)) => None,
        (Some(domains), _) => Some(domains),
        (None, _) => return Err(Error::invalid("domains is missing, and all is not true").into()),
    };
    draft::decide(cx, staff, id, domains, decision).await?;
    Json::of(&subscription::find(cx, id).await?.into())
}

fn array<T: serde::Serialize>(rows: impl IntoIterator<Item = T>) -> Result<Json<Vec<T>>> {
    let rows = rows.into_iter().map(|row| Fragment::of(&row)).collect::<Result<Vec<_>, _>>()?;
    Ok(Json::list(rows))
}

impl DomainListParams {
    /// Replaces the values that were sent.
    fn apply(self, options: &mut Options) {
        options.format = self.format.or(options.format);
        options.priority = self.priority.unwrap_or(options.priority);
        options.mode = self.mode.unwrap_or(options.mode);
        options.severity = self.severity.or(options.severity);
    }
}
