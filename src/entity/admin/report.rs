//! <https://docs.joinmastodon.org/entities/Admin_Report/>

use serde::Serialize;
use serde_json::value::RawValue;

use crate::admin::account;
use crate::rule::Rule;
use crate::{held_status, status};
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::Fragment;
use model::report::ReportCategory;
use model::{AccountId, RowId, StatusId, Time};
use service::visibility;
use store::report::{Report as Row, ReportNote as NoteRow};

/// A report, as the staff sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Report<'a> {
    id: RowId,
    action_taken: bool,
    action_taken_at: Option<String>,
    category: ReportCategory,
    comment: &'a str,
    forwarded: bool,
    created_at: String,
    updated_at: String,
    account: Box<RawValue>,
    target_account: Box<RawValue>,
    assigned_account: Option<Box<RawValue>>,
    action_taken_by_account: Option<Box<RawValue>>,
    /// The reported statuses, whatever their visibility, including statuses deleted since.
    statuses: Vec<Box<RawValue>>,
    /// The rules that still exist.
    rules: Vec<Rule>,
}

/// What a member of staff noted on a report. An addition of this server.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ReportNote<'a> {
    id: RowId,
    text: &'a str,
    created_at: String,
    /// `None`: an operator at the command line, or an account that no longer exists.
    account: Option<Box<RawValue>>,
}

/// Renders reports, by id; without those whose accounts were deleted meanwhile. As many statements for many as for one.
pub async fn render(cx: &Cx, rows: &[Row]) -> Result<ById<RowId, Fragment>> {
    if rows.is_empty() {
        return Ok(Vec::new().into());
    }
    let mut ids: Vec<AccountId> = rows.iter().flat_map(accounts_of).collect();
    ids.sort_unstable();
    ids.dedup();
    let accounts = account::render_ids(cx, &ids).await?;
    let mut ids: Vec<StatusId> =
        rows.iter().flat_map(|row| row.status_ids.iter().flat_map(|ids| ids.0.clone())).collect();
    ids.sort_unstable();
    ids.dedup();
    let seen = visibility::everything(cx, &ids).await?;
    let mut statuses = status::render_beside(cx, None, &seen, &[]).await?.statuses;
    ids.retain(|id| !statuses.iter().any(|(known, _)| known == id));
    statuses.extend(held_status::render(cx, &service::held_status::list(cx, &ids).await?).await?);
    let statuses: ById<StatusId, Fragment> = statuses.into();
    let mut entries = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(report) = Report::new(cx, row, &accounts, &statuses)? {
            entries.push((row.id, Fragment::of(&report)?));
        }
    }
    Ok(entries.into())
}

/// Renders one report.
///
/// # Errors
/// [`Error::NotFound`] when one of its accounts was deleted meanwhile.
pub async fn render_one(cx: &Cx, row: &Row) -> Result<Fragment> {
    render(cx, std::slice::from_ref(row)).await?.get(&row.id).cloned().ok_or(Error::NotFound)
}

/// Renders notes on reports, in the order given.
pub async fn render_notes(cx: &Cx, rows: &[NoteRow]) -> Result<Vec<Fragment>> {
    let mut ids: Vec<AccountId> = rows.iter().filter_map(|row| row.account_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let accounts = account::render_ids(cx, &ids).await?;
    let note = |row: &NoteRow| {
        let account = row.account_id.and_then(|id| accounts.get(&id)).map(raw).transpose()?;
        Fragment::of(&ReportNote { id: row.id, text: &row.text, created_at: row.created_at.to_api(), account })
    };
    rows.iter().map(note).collect()
}

fn accounts_of(row: &Row) -> impl Iterator<Item = AccountId> {
    let staff = [row.assigned_account_id, row.action_taken_by_account_id].into_iter().flatten();
    [row.account_id, row.target_account_id].into_iter().chain(staff)
}

fn raw(fragment: &Fragment) -> Result<Box<RawValue>> {
    RawValue::from_string(fragment.as_str().to_owned()).map_err(Error::internal)
}

impl<'a> Report<'a> {
    fn new(
        cx: &Cx,
        row: &'a Row,
        accounts: &ById<AccountId, Fragment>,
        statuses: &ById<StatusId, Fragment>,
    ) -> Result<Option<Self>> {
        let find = |id: AccountId| accounts.get(&id).map(raw).transpose();
        let staff = |id: Option<AccountId>| id.and_then(|id| accounts.get(&id)).map(raw).transpose();
        let (Some(account), Some(target_account)) = (find(row.account_id)?, find(row.target_account_id)?) else {
            return Ok(None);
        };
        let reported = row.status_ids.iter().flat_map(|ids| &ids.0).filter_map(|id| statuses.get(id));
        let rules = cx.rules();
        let broken = |rule: &&model::instance::Rule| row.rule_ids.as_ref().is_some_and(|ids| ids.0.contains(&rule.id));
        Ok(Some(Self {
            id: row.id,
            action_taken: row.action_taken_at.is_some(),
            action_taken_at: row.action_taken_at.map(Time::to_api),
            category: row.category,
            comment: &row.comment,
            forwarded: row.forwarded,
            created_at: row.created_at.to_api(),
            updated_at: row.updated_at.unwrap_or(row.created_at).to_api(),
            account,
            target_account,
            assigned_account: staff(row.assigned_account_id)?,
            action_taken_by_account: staff(row.action_taken_by_account_id)?,
            statuses: reported.map(raw).collect::<Result<_>>()?,
            rules: rules.iter().filter(broken).map(Rule::from).collect(),
        }))
    }
}
