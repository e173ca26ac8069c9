//! Actions on accounts: a warning, or what a moderator imposes with it. Each is a strike of the account.
//!
//! Reached from `POST /api/v1/admin/accounts/{id}/action` and `rookery user`. The strike, the effect, the resolved
//! reports, the notification and the mail are one transaction.
//!
//! Spec: docs/contract/admin.csv

use super::account::Managed;
use crate::audit::{self, Entry, Target};
use crate::ownership;
use crate::{email, notification, removal};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use context::queue::Subject;
use database::Tx;
use model::moderation::WarningAction;
use model::{AccountId, NotificationType, Permissions, RowId, Staff};
use serde_json::json;
use store::report::Report;
use store::warning::Warning;

/// Longest text of a warning, in characters.
const TEXT_MAX: usize = 5_000;

/// An action as sent.
#[derive(Clone, Debug)]
pub struct ActionParams {
    pub action: WarningAction,
    /// The report that led to the action.
    pub report: Option<RowId>,
    /// A preset text, which comes before `text`.
    pub preset: Option<RowId>,
    pub text: String,
    /// Whether a local account is notified and gets a mail.
    pub notify: bool,
}

/// Acts on the account `id`. Returns the strike.
///
/// [`WarningAction::None`] resolves its report; every other action resolves all open reports about the account.
///
/// # Errors
/// [`Error::NotFound`] for a missing account, report or preset; [`Error::Forbidden`] for an account that `staff` does not
/// outrank, without the permission for the action or for its open reports, when a remote account is disabled, and when the
/// last owner could no longer sign in;
/// [`Error::Invalid`] for a report about another account and a text that is too long.
#[model::use_case]
pub async fn act(cx: &Cx, staff: &Staff, id: AccountId, params: ActionParams) -> Result<Warning> {
    if params.text.chars().count() > TEXT_MAX {
        return Err(Error::invalid(format!("Validation failed: Text is too long (maximum is {TEXT_MAX} characters)")));
    }
    let mut tx = cx.db.begin().await?;
    if matches!(params.action, WarningAction::Disable | WarningAction::Suspend)
        && let Some(account) = store::account::find(&mut tx, id).await?
        && account.is_local()
    {
        ownership::keep(&mut tx, &account).await?;
    }
    let target = Managed::lock(&mut tx, staff, id).await?;
    require_permission(staff, params.action)?;
    if params.action == WarningAction::Disable {
        target.require_user()?;
    }
    let report = match params.report {
        Some(report) => Some(reported(&mut tx, report, id).await?),
        None => None,
    };
    let resolved = match (params.action, &report) {
        (WarningAction::None, report) => report.iter().map(|report| report.id).collect(),
        _ => store::report::list_unresolved_about(&mut tx, id).await?,
    };
    if !resolved.is_empty() && !staff.permissions.has(Permissions::MANAGE_REPORTS) {
        return Err(Error::forbidden("The action resolves reports about the account, and your role may not"));
    }
    let warning = Warning {
        id: cx.ids.next(),
        target_account_id: id,
        account_id: staff.account,
        report_id: params.report,
        action: params.action,
        text: text(&mut tx, &params).await?,
        status_ids: report.and_then(|report| report.status_ids),
        overruled_at: None,
        created_at: cx.clock.now(),
    };
    impose(cx, &mut tx, &target, params.action).await?;
    store::warning::insert(&mut tx, &warning).await?;
    for report in &resolved {
        store::report::set_resolved(&mut tx, *report, true, staff.account, cx.clock.now()).await?;
    }
    if params.notify && target.managed.user_id.is_some() {
        notify(cx, &mut tx, &warning).await?;
    }
    let details = json!({ "warning_id": warning.id, "report_ids": resolved, "notified": params.notify });
    let entry = Entry::new(logged_as(params.action), Target::account(&target.account)).with(details);
    audit::record(cx, &mut tx, staff, entry).await?;
    tx.commit().await?;
    Ok(warning)
}

fn require_permission(staff: &Staff, action: WarningAction) -> Result<()> {
    let sufficient = match action {
        WarningAction::None | WarningAction::Disable => Permissions::MANAGE_USERS,
        WarningAction::Sensitive | WarningAction::Silence | WarningAction::Suspend => {
            Permissions::MANAGE_USERS | Permissions::MANAGE_REPORTS
        }
    };
    match staff.permissions.has_any(sufficient) {
        true => Ok(()),
        false => Err(Error::forbidden("This action is not allowed")),
    }
}

/// The report `id`, about `target`.
async fn reported(tx: &mut Tx, id: RowId, target: AccountId) -> Result<Report> {
    let report = store::report::list(&mut *tx, &[id]).await?.pop().ok_or(Error::NotFound)?;
    match report.target_account_id == target {
        true => Ok(report),
        false => Err(Error::invalid(format!("report_id: report {id} is about another account"))),
    }
}

/// The preset and the text, separated by a blank line.
async fn text(tx: &mut Tx, params: &ActionParams) -> Result<String> {
    let preset = match params.preset {
        Some(id) => Some(store::warning::find_preset(&mut *tx, id).await?.ok_or(Error::NotFound)?.text),
        None => None,
    };
    let parts: Vec<&str> = preset.iter().map(String::as_str).chain([params.text.trim()]).collect();
    Ok(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n"))
}

/// What the action does to the account, beyond the warning. Nothing changes for an account in that state already.
async fn impose(cx: &Cx, tx: &mut Tx, target: &Managed, action: WarningAction) -> Result<()> {
    let (id, now) = (target.account.id, cx.clock.now());
    match action {
        WarningAction::None => {}
        WarningAction::Disable => {
            store::managed_account::set_disabled(tx, id, true).await?;
            store::account::bump(tx, id).await?;
        }
        WarningAction::Sensitive => {
            if store::managed_account::set_sensitized(tx, id, Some(now)).await? {
                change::record(cx, tx, Change::AccountUpdated { account: id }).await?;
            }
        }
        WarningAction::Silence => {
            store::managed_account::set_limited(tx, id, Some(now)).await?;
        }
        WarningAction::Suspend => {
            removal::hide_for_a_time(cx, tx, &target.account).await?;
        }
    }
    Ok(())
}

/// Notifies the account of its strike, and mails the text.
async fn notify(cx: &Cx, tx: &mut Tx, warning: &Warning) -> Result<()> {
    let notice = Notice {
        receiver: warning.target_account_id,
        from: warning.target_account_id,
        kind: NotificationType::ModerationWarning.into(),
        activity: warning.id.into(),
        status: None,
    };
    notification::notify(cx, tx, &[notice]).await?;
    email::queue(cx, tx, warning.target_account_id, Subject::Warning(warning.id), None).await
}

fn logged_as(action: WarningAction) -> &'static str {
    match action {
        WarningAction::None => "account.warn",
        WarningAction::Disable => "account.disable",
        WarningAction::Sensitive => "account.sensitive",
        WarningAction::Silence => "account.silence",
        WarningAction::Suspend => "account.suspend",
    }
}
