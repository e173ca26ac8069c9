//! What the staff does with reports: lists, categories, assignments, notes, resolving and reopening.
//!
//! Reached from `/api/v1/admin/reports` and `rookery report`. Reports are made in [`filing`](crate::filing).
//!
//! Spec: docs/contract/admin.csv

use serde_json::{Value, json};

use crate::audit::{self, Entry, Target};
use crate::filing::check_rules;
use context::Cx;
use context::error::{Error, Result};
use model::report::ReportCategory;
use model::{Account, AccountId, Cursor, Permissions, RowId, RuleId, Staff};

pub use store::report::{Report, ReportFilter, ReportNote};

/// Longest text of a note, in characters.
const NOTE_MAX: usize = 2_000;

/// A page of reports, newest first.
#[model::use_case]
pub async fn list_page(cx: &Cx, filter: &ReportFilter, cursor: &Cursor) -> Result<Vec<Report>> {
    Ok(store::report::list_page(&cx.db, filter, cursor).await?)
}

/// The newest `limit` reports: only unresolved ones, or all.
#[model::use_case]
pub async fn list(cx: &Cx, all: bool, limit: i64) -> Result<Vec<Report>> {
    Ok(if all {
        store::report::list_all(&cx.db, limit).await?
    } else {
        store::report::list_unresolved(&cx.db, limit).await?
    })
}

/// The report `id`.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<Report> {
    store::report::list(&cx.db, &[id]).await?.pop().ok_or(Error::NotFound)
}

/// A report with its accounts.
#[derive(Debug)]
pub struct NamedReport {
    pub report: Report,
    pub account: Option<Account>,
    pub target: Option<Account>,
    /// Whom it is assigned to.
    pub assigned: Option<Account>,
}

/// Reports with their accounts, in the order given.
#[model::use_case]
pub async fn with_accounts(cx: &Cx, reports: Vec<Report>) -> Result<Vec<NamedReport>> {
    let ids: Vec<AccountId> = reports
        .iter()
        .flat_map(|report| [Some(report.account_id), Some(report.target_account_id), report.assigned_account_id])
        .flatten()
        .collect();
    let accounts = store::account::list_with_roles(&cx.db, &ids).await?;
    let find = |id: AccountId| accounts.iter().map(|row| &row.account).find(|account| account.id == id).cloned();
    let named = |report: Report| NamedReport {
        account: find(report.account_id),
        target: find(report.target_account_id),
        assigned: report.assigned_account_id.and_then(find),
        report,
    };
    Ok(reports.into_iter().map(named).collect())
}

/// Marks a report as resolved, or opens it again; false when it has that state already.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist.
#[model::use_case]
pub async fn set_resolved(cx: &Cx, staff: &Staff, id: RowId, resolved: bool) -> Result<bool> {
    find(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    let changed = store::report::set_resolved(&mut tx, id, resolved, staff.account, cx.clock.now()).await?;
    if changed {
        let action = if resolved { "report.resolve" } else { "report.reopen" };
        audit::record(cx, &mut tx, staff, entry(action, id, json!({}))).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// Assigns a report to the account `to`, or to nobody; false when that is so already.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, [`Error::Invalid`] for an account whose role does not manage reports.
#[model::use_case]
pub async fn assign(cx: &Cx, staff: &Staff, id: RowId, to: Option<AccountId>) -> Result<bool> {
    find(cx, id).await?;
    if let Some(to) = to {
        let managed = store::managed_account::find(&cx.db, to).await?.ok_or(Error::NotFound)?;
        if !managed.permissions.effective().has(Permissions::MANAGE_REPORTS) {
            return Err(Error::invalid(format!("@{} has no role that manages reports", managed.username)));
        }
    }
    let mut tx = cx.db.begin().await?;
    let changed = store::report::set_assigned(&mut tx, id, to, cx.clock.now()).await?;
    if changed {
        let entry = match to {
            Some(to) => entry("report.assign", id, json!({ "assigned_account_id": to })),
            None => entry("report.unassign", id, json!({})),
        };
        audit::record(cx, &mut tx, staff, entry).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// Assigns a report to `staff`; false when that is so already.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, [`Error::Forbidden`] for an operator, who has no account.
#[model::use_case]
pub async fn assign_to_self(cx: &Cx, staff: &Staff, id: RowId) -> Result<bool> {
    let Some(account) = staff.account else {
        return Err(Error::forbidden("An operator has no account that a report can be assigned to"));
    };
    assign(cx, staff, id, Some(account)).await
}

/// Changes the category and the rules of a report; what is `None` stays. A category other than `violation` has no
/// rules. False when nothing changes.
///
/// # Errors
/// [`Error::NotFound`] when it does not exist, [`Error::Invalid`] for an unknown rule, and for rules while the category
/// is not `violation`.
#[model::use_case]
pub async fn update(
    cx: &Cx,
    staff: &Staff,
    id: RowId,
    category: Option<ReportCategory>,
    rules: Option<Vec<RuleId>>,
) -> Result<bool> {
    let mut tx = cx.db.begin().await?;
    let report = store::report::lock(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let stored = report.rule_ids.map(|rules| rules.0).unwrap_or_default();
    let category = category.unwrap_or(report.category);
    let violation = category == ReportCategory::Violation;
    if !violation && rules.as_ref().is_some_and(|rules| !rules.is_empty()) {
        return Err(Error::invalid(format!(
            "Validation failed: Rules must be blank for the category {category}: they need the category violation"
        )));
    }
    let mut rules = match rules {
        Some(rules) => {
            check_rules(cx, &rules)?;
            rules
        }
        None if violation => stored.clone(),
        None => Vec::new(),
    };
    rules.sort_unstable();
    rules.dedup();
    let changed = category != report.category || rules != stored;
    if changed {
        let written = (!rules.is_empty()).then_some(rules.as_slice());
        store::report::set_category(&mut tx, id, category, written, cx.clock.now()).await?;
        let details = json!({ "category": category, "rule_ids": rules });
        audit::record(cx, &mut tx, staff, entry("report.update", id, details)).await?;
    }
    tx.commit().await?;
    Ok(changed)
}

/// A page of the notes on a report, newest first.
///
/// # Errors
/// [`Error::NotFound`] when the report does not exist.
#[model::use_case]
pub async fn notes(cx: &Cx, report: RowId, cursor: &Cursor) -> Result<Vec<ReportNote>> {
    find(cx, report).await?;
    Ok(store::report::list_notes(&cx.db, report, cursor).await?)
}

/// Adds a note to a report.
///
/// # Errors
/// [`Error::NotFound`] when the report does not exist, [`Error::Invalid`] for a text that is blank or too long.
#[model::use_case]
pub async fn add_note(cx: &Cx, staff: &Staff, report: RowId, text: &str) -> Result<ReportNote> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Error::invalid("Validation failed: Text can't be blank"));
    }
    if text.chars().count() > NOTE_MAX {
        return Err(Error::invalid(format!("Validation failed: Text is too long (maximum is {NOTE_MAX} characters)")));
    }
    let mut tx = cx.db.begin().await?;
    store::report::lock(&mut tx, report).await?.ok_or(Error::NotFound)?;
    let note = ReportNote {
        id: cx.ids.next(),
        report_id: report,
        account_id: staff.account,
        text: text.to_owned(),
        created_at: cx.clock.now(),
    };
    store::report::insert_note(&mut tx, &note).await?;
    audit::record(cx, &mut tx, staff, entry("report.add_note", report, json!({ "note_id": note.id }))).await?;
    tx.commit().await?;
    Ok(note)
}

/// Deletes a note on a report: one's own, one by a lower role, or one whose author no longer exists.
///
/// # Errors
/// [`Error::NotFound`] when the report has no such note, [`Error::Forbidden`] for a note by someone whom `staff` does not
/// outrank.
#[model::use_case]
pub async fn delete_note(cx: &Cx, staff: &Staff, report: RowId, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let note = store::report::find_note(&mut tx, id).await?.filter(|note| note.report_id == report);
    let note = note.ok_or(Error::NotFound)?;
    if let Some(author) = note.account_id.filter(|author| staff.account != Some(*author)) {
        let author = store::managed_account::find(&mut tx, author).await?;
        if let Some(author) = author.filter(|author| !staff.outranks(author.permissions.position())) {
            return Err(Error::forbidden(format!(
                "The note is by @{}, whose role is not below yours",
                author.username
            )));
        }
    }
    if !store::report::delete_note(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    audit::record(cx, &mut tx, staff, entry("report.delete_note", report, json!({ "note_id": id }))).await?;
    tx.commit().await?;
    Ok(())
}

fn entry(action: &'static str, report: RowId, details: Value) -> Entry {
    Entry::new(action, Target::new("report", report, format!("#{report}"))).with(details)
}
