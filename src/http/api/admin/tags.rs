//! Hashtags: all of them, with the decisions of staff.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/trends/>, docs/contract/extensions.md#13-admin-api

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminRead, AdminWrite, ManageTaxonomies, StaffAuth};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use model::TagId;
use service::tag_review::{self, TagDecision};

/// `GET /api/v1/admin/tags`
pub async fn index(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminRead, ManageTaxonomies>,
    paging: Paging<100, 200>,
) -> Result<Page<entity::AdminTag>> {
    let tags = tag_review::list(&cx, staff.account, &paging.cursor).await?;
    let ids: Vec<i64> = tags.iter().map(|tag| tag.tag.id.into()).collect();
    let items = entity::admin::tag::render(&cx, &tags, staff.account.is_some()).await?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v1/admin/tags/{id}`
pub async fn show(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminRead, ManageTaxonomies>,
    Path(id): Path<TagId>,
) -> Result<Json<entity::AdminTag>> {
    let tag = tag_review::find(&cx, staff.account, id).await?;
    Ok(Json::new(entity::admin::tag::render_one(&cx, tag, staff.account.is_some()).await?))
}

/// Parameters of [`update`]; one that is not sent changes nothing.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct TagParams {
    /// The spelling: may differ from the name by case and accents only.
    display_name: Option<String>,
    /// Whether it may be shown as a trend.
    trendable: Option<bool>,
    /// Whether local statuses may have it.
    usable: Option<bool>,
    /// Whether a search may find it.
    listable: Option<bool>,
}

/// `PUT /api/v1/admin/tags/{id}`: marks the hashtag as reviewed.
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWrite, ManageTaxonomies>,
    Path(id): Path<TagId>,
    params: ParamsOfOwn<Params<TagParams>>,
) -> Result<Json<entity::AdminTag>> {
    let Params(params) = params.or_missing(tag_review::find(&cx, staff.account, id)).await?;
    let TagParams { display_name, trendable, usable, listable } = params;
    let decision = TagDecision { display_name, trendable, usable, listable };
    let tag = tag_review::update(&cx, &staff, id, decision).await?;
    Ok(Json::new(entity::admin::tag::render_one(&cx, tag, staff.account.is_some()).await?))
}
