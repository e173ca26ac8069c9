//! <https://docs.joinmastodon.org/entities/Report/>

use serde::Serialize;
use serde_json::value::RawValue;

use super::account;
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::Fragment;
use model::report::ReportCategory;
use model::{AccountId, RowId, RuleId, StatusId, Time};
use store::report::Report as Row;

/// A report, as its author and the staff see it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report<'a> {
    pub id: RowId,
    pub action_taken: bool,
    pub action_taken_at: Option<String>,
    pub category: ReportCategory,
    pub comment: &'a str,
    pub forwarded: bool,
    pub created_at: String,
    pub status_ids: Option<&'a [StatusId]>,
    pub rule_ids: Option<&'a [RuleId]>,
    pub target_account: Box<RawValue>,
}

/// Renders the reports that exist among `ids`, by id. Three statements, and none if `ids` is empty.
pub async fn render(cx: &Cx, ids: &[RowId]) -> Result<ById<RowId, Fragment>> {
    let reports = if ids.is_empty() { Vec::new() } else { store::report::list(&cx.db, ids).await? };
    render_rows(cx, &reports).await
}

/// Renders one report.
///
/// # Errors
/// [`Error::NotFound`] when the reported account was deleted meanwhile.
pub async fn render_one(cx: &Cx, report: &Row) -> Result<Fragment> {
    let rendered = render_rows(cx, std::slice::from_ref(report)).await?;
    rendered.get(&report.id).cloned().ok_or(Error::NotFound)
}

async fn render_rows(cx: &Cx, reports: &[Row]) -> Result<ById<RowId, Fragment>> {
    if reports.is_empty() {
        return Ok(Vec::new().into());
    }
    let targets: Vec<AccountId> = reports.iter().map(|report| report.target_account_id).collect();
    let versions = store::account::versions(&cx.db, &targets).await?;
    let accounts = account::render_versions(cx, &versions).await?;
    let shown = reports.iter().filter_map(|report| Some((report, accounts.get(&report.target_account_id)?)));
    let entries = shown.map(|(report, account)| Ok((report.id, Fragment::of(&Report::new(report, account)?)?)));
    Ok(entries.collect::<Result<Vec<_>>>()?.into())
}

impl<'a> Report<'a> {
    fn new(row: &'a Row, target: &str) -> Result<Self> {
        Ok(Self {
            id: row.id,
            action_taken: row.action_taken_at.is_some(),
            action_taken_at: row.action_taken_at.map(Time::to_api),
            category: row.category,
            comment: &row.comment,
            forwarded: row.forwarded,
            created_at: row.created_at.to_api(),
            status_ids: row.status_ids.as_ref().map(|ids| ids.0.as_slice()),
            rule_ids: row.rule_ids.as_ref().map(|ids| ids.0.as_slice()),
            target_account: RawValue::from_string(target.to_owned()).map_err(Error::internal)?,
        })
    }
}
