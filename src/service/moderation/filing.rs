//! Reports of accounts to the staff.
//!
//! Reached from `POST /api/v1/reports` and from an inbound `Flag`; what the staff does with them is in
//! [`moderation`](crate::moderation::report). The domains to forward a report to are stored with it; `federation` sends
//! it, signed by the server, to servers that this one talks to.
//!
//! Spec: docs/contract/rules.md#19-reports; <https://docs.joinmastodon.org/methods/reports/>

use std::collections::BTreeSet;

use crate::access::web_address;
use crate::notification::{self, StaffNotice};
use crate::rate_limits::{self, Family};
use crate::visibility::{self, Place};
use crate::{account, domain};
use chrono::TimeDelta;
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use model::instance::Severity;
use model::report::ReportCategory;
use model::{Account, AccountId, Actor, Json, RuleId, StatusId};

pub use store::report::Report;

/// Longest comment, in characters (docs/contract/rules.md#19-reports).
const COMMENT_MAX: usize = 1000;
/// Most accounts that one report of another server is filed about.
const REMOTE_TARGETS_MAX: usize = 10;
/// Most reports by the accounts of one domain in a day.
const REMOTE_PER_DAY: i64 = 100;

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
    let forward = draft.forward && !target.is_local();
    let domains = if forward { domains(cx, &target, &draft, &status_ids).await? } else { Vec::new() };
    let forwarded = !domains.is_empty();
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
        uri: None,
        updated_at: None,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    store::report::insert(&mut tx, &report).await.map_err(Error::of_insert)?;
    notification::notify_staff(cx, &mut tx, StaffNotice::Report, actor.id, report.id).await?;
    if forwarded {
        change::record(cx, &mut tx, Change::ReportForwarded { report: report.id }).await?;
    }
    tx.commit().await?;
    spent.keep();
    Ok(report)
}

/// A report by another server.
#[derive(Clone, Debug)]
pub struct RemoteReport<'a> {
    /// The actor of that server, or one of its accounts.
    pub sender: AccountId,
    /// Of the sender.
    pub domain: &'a str,
    /// The activity, if its id is one of the sender's host.
    pub uri: Option<&'a str>,
    pub comment: String,
    pub category: ReportCategory,
    /// URIs of accounts and statuses.
    pub objects: Vec<String>,
}

/// Why a report by another server is not filed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFiled {
    /// The policy about its domain rejects reports.
    Rejected,
    /// It is about no account that concerns this server.
    Unrelated,
    /// Its domain sent too many in a day.
    TooMany,
    Known,
}

/// Files a report by another server for each of the accounts of this server that it names by itself or by a status, and for
/// those of other servers whose named statuses respond to an account of this server. Notifies the staff who manage reports.
#[model::use_case]
pub async fn receive(cx: &Cx, report: RemoteReport<'_>) -> Result<Result<(), NotFiled>> {
    if cx.domain_policy().of(report.domain).flags.reject_reports {
        return Ok(Err(NotFiled::Rejected));
    }
    let named = store::remote::list_accounts(&cx.db, &report.objects).await?;
    let own: Vec<StatusId> =
        report.objects.iter().filter_map(|uri| web_address::status(cx, uri)).map(|(_, id)| id).collect();
    let statuses = store::report::list_reported(&cx.db, &report.objects, &own).await?;
    let here = named.into_iter().filter(|(_, _, domain)| domain.is_none()).map(|(id, ..)| id);
    let authors = statuses.iter().filter(|status| status.concerns_us).map(|status| status.account_id);
    let targets: BTreeSet<AccountId> = here.chain(authors).take(REMOTE_TARGETS_MAX).collect();
    if targets.is_empty() {
        return Ok(Err(NotFiled::Unrelated));
    }
    let now = cx.clock.now();
    let since = now - TimeDelta::days(1);
    if store::report::count_of_domain(&cx.db, report.domain, since, REMOTE_PER_DAY).await? >= REMOTE_PER_DAY {
        return Ok(Err(NotFiled::TooMany));
    }
    let mut tx = cx.db.begin().await?;
    let mut filed = false;
    for target in targets {
        let theirs = statuses.iter().filter(|status| status.account_id == target).map(|status| status.id);
        let row = Report {
            id: cx.ids.next(),
            account_id: report.sender,
            target_account_id: target,
            category: report.category,
            comment: report.comment.clone(),
            status_ids: Some(Json(theirs.collect())),
            rule_ids: None,
            forwarded: false,
            forward_to_domains: Json(Vec::new()),
            action_taken_at: None,
            action_taken_by_account_id: None,
            assigned_account_id: None,
            uri: report.uri.map(str::to_owned),
            updated_at: None,
            created_at: now,
        };
        if store::report::insert_remote(&mut tx, &row).await? {
            notification::notify_staff(cx, &mut tx, StaffNotice::Report, report.sender, row.id).await?;
            filed = true;
        }
    }
    tx.commit().await?;
    Ok(if filed { Ok(()) } else { Err(NotFiled::Known) })
}

/// True when this server talks to `domain`, so that a report can be sent there.
fn receives(cx: &Cx, domain: &str) -> bool {
    let policy = cx.domain_policy();
    let allowed = !cx.config.access.limited_federation || policy.allows(domain);
    allowed && policy.severity(domain) != Severity::Suspend
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
    let own: Vec<String> = target.domain.iter().filter(|domain| receives(cx, domain)).cloned().collect();
    let Some(wanted) = &draft.forward_to_domains else { return Ok(own) };
    let reported = store::status::list(&cx.db, statuses).await?;
    let answered: Vec<AccountId> = reported.iter().filter_map(|status| status.in_reply_to_account_id).collect();
    let answered = store::account::domains(&cx.db, &answered).await?.into_iter().filter_map(|(_, domain)| domain);
    let wanted: Vec<String> = wanted.iter().filter_map(|domain| domain::normalise(domain)).collect();
    let mut domains: Vec<String> =
        own.into_iter().chain(answered).filter(|domain| wanted.contains(domain) && receives(cx, domain)).collect();
    domains.sort_unstable();
    domains.dedup();
    Ok(domains)
}
