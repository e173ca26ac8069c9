//! Metrics: measures, dimensions and retention.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/measures/>,
//! <https://docs.joinmastodon.org/methods/admin/dimensions/>, <https://docs.joinmastodon.org/methods/admin/retention/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::Params;
use crate::extract::auth::{AdminRead, StaffAuth, ViewDashboard};
use crate::json::Json;
use model::metrics::{DimensionKey, Frequency, MeasureKey};
use model::params::required;
use model::{TagId, Time};
use service::metrics::dimension::Dimension;
use service::metrics::measure::Measure;
use service::metrics::period::Period;
use service::metrics::{ServerNumber, ServerQuery, TagNumber};

/// Rows of a dimension: unless the request states another number, and at most.
const LIMIT_DEFAULT: i64 = 10;
const LIMIT_MAX: i64 = 100;

/// The hashtag of a key.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TagOf {
    /// The numeric id.
    id: Option<TagId>,
}

/// The server of a key.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ServerOf {
    domain: Option<String>,
    /// Whether the subdomains are counted too.
    include_subdomains: Option<bool>,
}

/// The hashtag of the key `key`.
///
/// # Errors
/// [`Error::BadRequest`] when the request has no object for the key, or without an id.
fn tag(key: &str, sent: Option<&TagOf>) -> Result<TagId> {
    Ok(sent.and_then(|sent| sent.id).ok_or_else(|| Error::missing(&format!("{key}[id]")))?)
}

/// The server of the key `key`.
///
/// # Errors
/// [`Error::BadRequest`] when the request has no object for the key, or without a domain.
fn server(key: &str, sent: Option<&ServerOf>) -> Result<ServerQuery> {
    let domain = sent.and_then(|sent| sent.domain.clone()).filter(|domain| !domain.trim().is_empty());
    let domain = domain.ok_or_else(|| Error::missing(&format!("{key}[domain]")))?;
    let include_subdomains = sent.and_then(|sent| sent.include_subdomains).unwrap_or_default();
    Ok(ServerQuery { domain, include_subdomains })
}

/// The known keys among `keys`, each once.
///
/// # Errors
/// [`Error::BadRequest`] when the request has no keys.
fn known<K: std::str::FromStr + PartialEq>(keys: Option<Vec<String>>) -> Result<Vec<K>> {
    let mut known = Vec::new();
    for key in keys.ok_or_else(|| Error::missing("keys[]"))? {
        if let Ok(key) = key.parse::<K>()
            && !known.contains(&key)
        {
            known.push(key);
        }
    }
    Ok(known)
}

/// Parameters of [`measures`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct MeasureParams {
    /// What to measure; unknown keys are ignored.
    #[schemars(transform = required)]
    keys: Option<Vec<String>>,
    /// The first day; 30 days up to `end_at` without it.
    start_at: Option<Time>,
    /// The last day; today without it.
    end_at: Option<Time>,
    tag_accounts: Option<TagOf>,
    tag_uses: Option<TagOf>,
    tag_servers: Option<TagOf>,
    instance_accounts: Option<ServerOf>,
    instance_media_attachments: Option<ServerOf>,
    instance_reports: Option<ServerOf>,
    instance_statuses: Option<ServerOf>,
    instance_follows: Option<ServerOf>,
    instance_followers: Option<ServerOf>,
}

impl MeasureParams {
    fn measure(&self, key: MeasureKey) -> Result<Measure> {
        let of_tag = |number, sent: &Option<TagOf>| Ok(Measure::Tag(number, tag(key.as_str(), sent.as_ref())?));
        let of_server =
            |number, sent: &Option<ServerOf>| Ok(Measure::Server(number, server(key.as_str(), sent.as_ref())?));
        match key {
            MeasureKey::ActiveUsers => Ok(Measure::ActiveUsers),
            MeasureKey::NewUsers => Ok(Measure::NewUsers),
            MeasureKey::Interactions => Ok(Measure::Interactions),
            MeasureKey::OpenedReports => Ok(Measure::OpenedReports),
            MeasureKey::ResolvedReports => Ok(Measure::ResolvedReports),
            MeasureKey::TagAccounts => of_tag(TagNumber::Accounts, &self.tag_accounts),
            MeasureKey::TagUses => of_tag(TagNumber::Uses, &self.tag_uses),
            MeasureKey::TagServers => of_tag(TagNumber::Servers, &self.tag_servers),
            MeasureKey::InstanceAccounts => of_server(ServerNumber::Accounts, &self.instance_accounts),
            MeasureKey::InstanceMediaAttachments => {
                of_server(ServerNumber::MediaBytes, &self.instance_media_attachments)
            }
            MeasureKey::InstanceReports => of_server(ServerNumber::Reports, &self.instance_reports),
            MeasureKey::InstanceStatuses => of_server(ServerNumber::Statuses, &self.instance_statuses),
            MeasureKey::InstanceFollows => of_server(ServerNumber::Follows, &self.instance_follows),
            MeasureKey::InstanceFollowers => of_server(ServerNumber::Followers, &self.instance_followers),
        }
    }
}

/// `POST /api/v1/admin/measures`
pub async fn measures(
    cx: Cx,
    _: StaffAuth<AdminRead, ViewDashboard>,
    Params(params): Params<MeasureParams>,
) -> Result<Json<Vec<entity::AdminMeasure>>> {
    let mut params = params;
    let keys: Vec<MeasureKey> = known(params.keys.take())?;
    let period = Period::new(params.start_at, params.end_at, cx.clock.now())?;
    let measures = keys.into_iter().map(|key| Ok((key, params.measure(key)?))).collect::<Result<Vec<_>>>()?;
    Ok(Json::list(entity::admin::measure::render(&cx, &measures, period).await?))
}

/// Parameters of [`dimensions`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct DimensionParams {
    /// What to split; unknown keys are ignored.
    #[schemars(transform = required)]
    keys: Option<Vec<String>>,
    /// The first day; 30 days up to `end_at` without it.
    start_at: Option<Time>,
    /// The last day; today without it.
    end_at: Option<Time>,
    /// Most rows of each dimension: 10 unless stated, at most 100.
    limit: Option<i64>,
    tag_servers: Option<TagOf>,
    tag_languages: Option<TagOf>,
    instance_accounts: Option<ServerOf>,
    instance_languages: Option<ServerOf>,
}

impl DimensionParams {
    fn dimension(&self, key: DimensionKey) -> Result<Dimension> {
        let name = key.as_str();
        Ok(match key {
            DimensionKey::Languages => Dimension::Languages,
            DimensionKey::Sources => Dimension::Sources,
            DimensionKey::Servers => Dimension::Servers,
            DimensionKey::SpaceUsage => Dimension::SpaceUsage,
            DimensionKey::SoftwareVersions => Dimension::SoftwareVersions,
            DimensionKey::TagServers => Dimension::TagServers(tag(name, self.tag_servers.as_ref())?),
            DimensionKey::TagLanguages => Dimension::TagLanguages(tag(name, self.tag_languages.as_ref())?),
            DimensionKey::InstanceAccounts => Dimension::ServerAccounts(server(name, self.instance_accounts.as_ref())?),
            DimensionKey::InstanceLanguages => {
                Dimension::ServerLanguages(server(name, self.instance_languages.as_ref())?)
            }
        })
    }
}

/// `POST /api/v1/admin/dimensions`
pub async fn dimensions(
    cx: Cx,
    _: StaffAuth<AdminRead, ViewDashboard>,
    Params(params): Params<DimensionParams>,
) -> Result<Json<Vec<entity::AdminDimension>>> {
    let mut params = params;
    let keys: Vec<DimensionKey> = known(params.keys.take())?;
    let period = Period::new(params.start_at, params.end_at, cx.clock.now())?;
    let limit = params.limit.unwrap_or(LIMIT_DEFAULT).clamp(0, LIMIT_MAX);
    let dimensions = keys.into_iter().map(|key| Ok((key, params.dimension(key)?))).collect::<Result<Vec<_>>>()?;
    Ok(Json::list(entity::admin::dimension::render(&cx, &dimensions, period, limit).await?))
}

/// Parameters of [`retention`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct RetentionParams {
    /// A day of the first period.
    #[schemars(with = "Option<String>", transform = required)]
    start_at: Option<Time>,
    /// A day of the last period.
    #[schemars(with = "Option<String>", transform = required)]
    end_at: Option<Time>,
    /// `day` or `month`; anything else is `day`.
    frequency: Option<String>,
}

/// `POST /api/v1/admin/retention`
pub async fn retention(
    cx: Cx,
    _: StaffAuth<AdminRead, ViewDashboard>,
    Params(params): Params<RetentionParams>,
) -> Result<Json<Vec<entity::AdminCohort>>> {
    let start = params.start_at.ok_or_else(|| Error::missing("start_at"))?;
    let end = params.end_at.ok_or_else(|| Error::missing("end_at"))?;
    let frequency = params.frequency.and_then(|word| word.parse().ok()).unwrap_or(Frequency::Day);
    Ok(Json::new(entity::admin::cohort::render(&cx, start, end, frequency).await?))
}
