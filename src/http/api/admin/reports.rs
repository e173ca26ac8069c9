//! Reports: lists, categories, assignments, notes, resolving and reopening.
//!
//! Spec: <https://docs.joinmastodon.org/methods/admin/reports/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::Result;
use crate::extract::auth::{AdminReadReports, AdminWriteReports, ManageReports, StaffAuth};
use crate::extract::{Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use context::json::Fragment;
use entity::admin::{Report, ReportNote};
use model::params::required;
use model::report::ReportCategory;
use model::{AccountId, RowId, RuleId};
use service::moderation::report::{self, ReportFilter};

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ReportsParams {
    /// Resolved reports instead of unresolved ones. Counts when it has any value that is not blank, also `false`.
    resolved: Option<String>,
    /// Only reports by this account.
    account_id: Option<AccountId>,
    /// Only reports about this account.
    target_account_id: Option<AccountId>,
}

/// Body parameters of [`update`]; what is left out stays.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ReportParams {
    category: Option<ReportCategory>,
    /// Rules of the server, with the category `violation`; another category has none.
    rule_ids: Option<Vec<RuleId>>,
}

/// Body parameters of [`create_note`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ReportNoteParams {
    /// At most 2,000 characters.
    #[schemars(transform = required)]
    text: Option<String>,
}

/// `GET /api/v1/admin/reports`
pub async fn index(
    cx: Cx,
    _: StaffAuth<AdminReadReports, ManageReports>,
    paging: Paging<100, 200>,
    Params(params): Params<ReportsParams>,
) -> Result<Page<Report>> {
    let filter = ReportFilter {
        resolved: params.resolved.is_some_and(|value| !value.trim().is_empty()),
        account: params.account_id,
        target: params.target_account_id,
    };
    let rows = report::list_page(&cx, &filter, &paging.cursor).await?;
    let rendered = entity::admin::report::render(&cx, &rows).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    let items: Vec<Fragment> = rows.iter().filter_map(|row| rendered.get(&row.id).cloned()).collect();
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `GET /api/v1/admin/reports/{id}`
pub async fn show(
    cx: Cx,
    _: StaffAuth<AdminReadReports, ManageReports>,
    Path(id): Path<RowId>,
) -> Result<Json<Report>> {
    one(&cx, id).await
}

/// `PUT /api/v1/admin/reports/{id}`
pub async fn update(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
    Params(params): Params<ReportParams>,
) -> Result<Json<Report>> {
    report::update(&cx, &staff, id, params.category, params.rule_ids).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/reports/{id}/assign_to_self`
pub async fn assign_to_self(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
) -> Result<Json<Report>> {
    report::assign_to_self(&cx, &staff, id).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/reports/{id}/unassign`
pub async fn unassign(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
) -> Result<Json<Report>> {
    report::assign(&cx, &staff, id, None).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/reports/{id}/resolve`
pub async fn resolve(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
) -> Result<Json<Report>> {
    report::set_resolved(&cx, &staff, id, true).await?;
    one(&cx, id).await
}

/// `POST /api/v1/admin/reports/{id}/reopen`
pub async fn reopen(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
) -> Result<Json<Report>> {
    report::set_resolved(&cx, &staff, id, false).await?;
    one(&cx, id).await
}

/// `GET /api/v1/admin/reports/{id}/notes`
pub async fn notes(
    cx: Cx,
    _: StaffAuth<AdminReadReports, ManageReports>,
    Path(id): Path<RowId>,
    paging: Paging<100, 200>,
) -> Result<Page<ReportNote>> {
    let rows = report::notes(&cx, id, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.id.into()).collect();
    let items = entity::admin::report::render_notes(&cx, &rows).await?;
    Ok(Page::new(&paging, Links::MinId, &ids, items))
}

/// `POST /api/v1/admin/reports/{id}/notes`
pub async fn create_note(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path(id): Path<RowId>,
    Params(params): Params<ReportNoteParams>,
) -> Result<Json<ReportNote>> {
    let note = report::add_note(&cx, &staff, id, &params.text.unwrap_or_default()).await?;
    let rendered = entity::admin::report::render_notes(&cx, &[note]).await?.pop();
    Ok(Json::new(rendered.ok_or(context::Error::NotFound)?))
}

/// `DELETE /api/v1/admin/reports/{id}/notes/{note_id}`
pub async fn delete_note(
    cx: Cx,
    StaffAuth(staff, ..): StaffAuth<AdminWriteReports, ManageReports>,
    Path((id, note)): Path<(RowId, RowId)>,
) -> Result<Json<entity::Empty>> {
    report::delete_note(&cx, &staff, id, note).await?;
    Ok(Json::empty())
}

async fn one(cx: &Cx, id: RowId) -> Result<Json<Report>> {
    let row = report::find(cx, id).await?;
    Ok(Json::new(entity::admin::report::render_one(cx, &row).await?))
}
