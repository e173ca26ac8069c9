//! Reports of accounts to the staff.
//!
//! Reached from `POST /api/v1/reports`; read and resolved by `rookery report`, later by the admin API. The domains to
//! forward a report to are stored with it; `federation` sends it.
//!
//! Spec: docs/contract/rules.md#19-reports; <https://docs.joinmastodon.org/methods/reports/>

use crate::audit::{self, Entry, Target};
use crate::notification::{self, StaffNotice};
use crate::rate_limits::{self, Family};
use crate::visibility::{self, Place};
use crate::{account, domain};
use context::Cx;
use context::error::{Error, Result};
use model::report::ReportCategory;
use model::{Account, AccountId, Actor, Json, RowId, RuleId, Staff, StatusId};

pub use store::report::Report;

/// Longest comment, in characters (docs/contract/rules.md#19-reports).
const COMMENT_MAX: usize = 1000;

/// A report as sent.
#[derive(Debug, Default)]
pub struct Draft {
    pub status_ids: Vec<StatusId>,
    pub comment: String,
    pub forward: bool,
    /// `None`: the server of the account.
    pub forward_to_domains: Option<Vec<String>>,
    pub category: Option<ReportCategory>,
    pub rule_ids: Vec<RuleId>,
}

/// Reports `target`, and notifies the staff who manage reports.
///
/// # Errors
/// [`Error::NotFound`] when the account is missing, hidden or suspended, or a status is missing, hidden or by someone
/// else, [`Error::Invalid`] for a comment that is too long or an unknown rule, [`Error::RateLimited`] beyond the
/// limit of reports.
#[model::use_case]
pub async fn create(cx: &Cx, actor: &Actor, target: AccountId, draft: Draft) -> Result<Report> {
    let spent = rate_limits::family(cx, actor.id, Family::Reports)?;
    let target = account::find_visible(cx, target).await?;
    if target.is_suspended() {
        return Err(Error::NotFound);
    }
    check(cx, &draft)?;
    let status_ids = statuses(cx, actor, &target, &draft.status_ids).await?;
    let forwarded = draft.forward && !target.is_local();
    let domains = if forwarded { domains(cx, &target, &draft, &status_ids).await? } else { Vec::new() };
    let category = draft.category.unwrap_or(ReportCategory::Other);
    let mut rule_ids = draft.rule_ids;
    rule_ids.sort_unstable();
    rule_ids.dedup();
    let report = Report {
        id: cx.ids.next(),
        account_id: actor.id,
        target_account_id: target.id,
        category: if rule_ids.is_empty() { category } else { ReportCategory::Violation },
        comment: draft.comment,
        status_ids: Some(Json(status_ids)),
        rule_ids: (!rule_ids.is_empty()).then_some(Json(rule_ids)),
        forwarded,
        forward_to_domains: Json(domains),
        action_taken_at: None,
        action_taken_by_account_id: None,
        assigned_account_id: None,
        updated_at: None,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    store::report::insert(&mut tx, &report).await.map_err(Error::of_insert)?;
    notification::notify_staff(cx, &mut tx, StaffNotice::Report, actor.id, report.id).await?;
    tx.commit().await?;
    spent.keep();
    Ok(report)
}

fn check(cx: &Cx, draft: &Draft) -> Result<()> {
    if draft.comment.chars().count() > COMMENT_MAX {
        return Err(Error::invalid(format!(
            "Validation failed: Comment is too long (maximum is {COMMENT_MAX} characters)"
        )));
    }
    let rules = cx.rules();
    match draft.rule_ids.iter().find(|id| !rules.iter().any(|rule| rule.id == **id)) {
        Some(id) => Err(Error::invalid(format!("Validation failed: Rules does not reference valid rules: {id}"))),
        None => Ok(()),
    }
}

/// The reported statuses, each once.
///
/// # Errors
/// [`Error::NotFound`] unless all are by `target` and visible to `actor`.
async fn statuses(cx: &Cx, actor: &Actor, target: &Account, sent: &[StatusId]) -> Result<Vec<StatusId>> {
    let mut ids = sent.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let seen = visibility::statuses(cx, Some(actor), Place::Single, &ids).await?;
    let theirs = seen.iter().filter(|seen| seen.head().account_id == target.id).count();
    if theirs == ids.len() { Ok(ids) } else { Err(Error::NotFound) }
}

/// The domains that a report is forwarded to: of the requested ones, the account's own and the domains of accounts
/// that the statuses reply to.
async fn domains(cx: &Cx, target: &Account, draft: &Draft, statuses: &[StatusId]) -> Result<Vec<String>> {
    let own: Vec<String> = target.domain.iter().cloned().collect();
    let Some(wanted) = &draft.forward_to_domains else { return Ok(own) };
    let reported = store::status::list(&cx.db, statuses).await?;
    let answered: Vec<AccountId> = reported.iter().filter_map(|status| status.in_reply_to_account_id).collect();
    let answered = store::account::domains(&cx.db, &answered).await?.into_iter().filter_map(|(_, domain)| domain);
    let wanted: Vec<String> = wanted.iter().filter_map(|domain| domain::normalise(domain)).collect();
    let mut domains: Vec<String> = own.into_iter().chain(answered).filter(|domain| wanted.contains(domain)).collect();
    domains.sort_unstable();
    domains.dedup();
    Ok(domains)
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

/// A report with its accounts.
#[derive(Debug)]
pub struct NamedReport {
    pub report: Report,
    pub account: Option<Account>,
    pub target: Option<Account>,
}

/// Reports with their accounts, in the order given.
#[model::use_case]
pub async fn with_accounts(cx: &Cx, reports: Vec<Report>) -> Result<Vec<NamedReport>> {
    let ids: Vec<AccountId> = reports.iter().flat_map(|report| [report.account_id, report.target_account_id]).collect();
    let accounts = store::account::list_with_roles(&cx.db, &ids).await?;
    let find = |id: AccountId| accounts.iter().map(|row| &row.account).find(|account| account.id == id).cloned();
    let named = |report: Report| NamedReport {
        account: find(report.account_id),
        target: find(report.target_account_id),
        report,
    };
    Ok(reports.into_iter().map(named).collect())
}

/// The report `id`.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist.
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<Report> {
    let found = store::report::list(&cx.db, &[id]).await?.pop();
    found.ok_or_else(|| Error::invalid(format!("there is no report {id}")))
}

/// Marks a report as resolved, or opens it again; false when it has that state already.
///
/// # Errors
/// [`Error::Invalid`] when it does not exist.
#[model::use_case]
pub async fn set_resolved(cx: &Cx, staff: &Staff, id: RowId, resolved: bool) -> Result<bool> {
    find(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    let changed = store::report::set_resolved(&mut tx, id, resolved, staff.account, cx.clock.now()).await?;
    if changed {
        let action = if resolved { "report.resolve" } else { "report.reopen" };
        let entry = Entry::new(action, Target::new("report", id, format!("#{id}")));
        audit::record(cx, &mut tx, staff, entry).await?;
    }
    tx.commit().await?;
    Ok(changed)
}
