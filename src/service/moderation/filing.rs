//! Reports of accounts to the staff.
//!
//! Reached from `POST /api/v1/reports`; what the staff does with them is in [`moderation`](crate::moderation::report).
//! The domains to forward a report to are stored with it; `federation` sends it.
//!
//! Spec: docs/contract/rules.md#19-reports; <https://docs.joinmastodon.org/methods/reports/>

use crate::notification::{self, StaffNotice};
use crate::rate_limits::{self, Family};
use crate::visibility::{self, Place};
use crate::{account, domain};
use context::Cx;
use context::error::{Error, Result};
use model::report::ReportCategory;
use model::{Account, AccountId, Actor, Json, RuleId, StatusId};

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
    check_rules(cx, &draft.rule_ids)
}

/// Checks that the rules exist.
///
/// # Errors
/// [`Error::Invalid`] naming the first one that does not.
pub(crate) fn check_rules(cx: &Cx, ids: &[RuleId]) -> Result<()> {
    let rules = cx.rules();
    match ids.iter().find(|id| !rules.iter().any(|rule| rule.id == **id)) {
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
