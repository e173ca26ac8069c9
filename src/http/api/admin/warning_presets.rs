//! Preset texts of warnings, an addition of this server.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadAccounts, AdminWriteAccounts, ManageUsers, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::Page;
use entity::admin::WarningPreset;
use model::RowId;
use model::params::required;
use service::moderation::warning_preset;

/// Body parameters of [`create`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct WarningPresetParams {
    /// What staff chooses by; at most 200 characters.
    #[schemars(transform = required)]
    title: Option<String>,
    /// At most 5,000 characters.
    #[schemars(transform = required)]
    text: Option<String>,
}

/// `GET /api/v1/admin/warning_presets`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadAccounts, ManageUsers>,
    paging: Paging<100, 200>,
) -> Result<Page<WarningPreset>> {
    let rows = warning_preset::list(&cx, &paging.cursor).await?;
    Page::of_entities(&paging, rows.into_iter().map(|row| (row.id.into(), row.into())).collect())
}

/// `POST /api/v1/admin/warning_presets`
pub async fn create(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Params(params): Params<WarningPresetParams>,
) -> Result<Json<WarningPreset>> {
    let (title, text) = (params.title.unwrap_or_default(), params.text.unwrap_or_default());
    Json::of(&warning_preset::create(&cx, &staff, &title, &text).await?.into())
}

/// `DELETE /api/v1/admin/warning_presets/{id}`
pub async fn delete(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteAccounts, ManageUsers>,
    Path(id): Path<RowId>,
) -> Result<Json<entity::Empty>> {
    warning_preset::delete(&cx, &staff, id).await?;
    Ok(Json::empty())
}
