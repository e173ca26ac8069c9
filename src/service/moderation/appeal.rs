//! Strikes as their account sees them, appeals against them, and the decisions about appeals.
//!
//! Reached from the pages of strikes, which a link in the mail opens without signing in, from `/api/v1/admin/appeals`
//! and `rookery appeal`. An approved appeal lifts what the strike imposed, unless a later strike imposes it as well.
//!
//! Spec: docs/contract/admin.csv

use chrono::TimeDelta;
use serde_json::json;

use super::account::Managed;
use super::strike_link;
use crate::audit::{self, Entry, Target};
use crate::{email, removal};
use context::Cx;
use context::change::{self, Change};
use context::error::{Error, OnUnique, Result, Validation};
use context::queue::Subject;
use database::Tx;
use model::moderation::{AppealState, WarningAction};
use model::{AccountId, Cursor, RowId, Staff, Time};

pub use store::warning::{Appeal, Warning};

/// Longest text of an appeal, in characters.
pub const TEXT_MAX: usize = 2_000;

/// How long an account may appeal against a strike.
const PERIOD: TimeDelta = TimeDelta::days(20);

/// How long the link in the mail about a strike opens it: beyond that the account signs in. As long as the data of a
/// suspended account is kept.
const LINK_PERIOD: TimeDelta = removal::SUSPENSION_PERIOD;

/// A strike with its appeal.
#[derive(Debug)]
pub struct Strike {
    pub warning: Warning,
    pub appeal: Option<Appeal>,
}

impl Strike {
    /// Until when an appeal is possible; `None` when there is one, or the time is over.
    #[must_use]
    pub fn open_until(&self, now: Time) -> Option<Time> {
        let until = self.warning.created_at + PERIOD;
        (self.appeal.is_none() && self.warning.overruled_at.is_none() && until > now).then_some(until)
    }
}

/// A page of the strikes of an account, newest first.
#[model::use_case]
pub async fn strikes(cx: &Cx, account: AccountId, cursor: &Cursor) -> Result<Vec<Strike>> {
    let warnings = store::warning::list_page(&cx.db, account, cursor).await?;
    with_appeals(cx, warnings).await
}

/// The strike `id` of `account`.
///
/// # Errors
/// [`Error::NotFound`] when it is missing, or of another account.
#[model::use_case]
pub async fn strike(cx: &Cx, account: AccountId, id: RowId) -> Result<Strike> {
    let mut warnings = store::warning::list(&cx.db, &[id]).await?;
    warnings.retain(|warning| warning.target_account_id == account);
    with_appeals(cx, warnings).await?.pop().ok_or(Error::NotFound)
}

/// The strike of a link in a mail with these parameters.
///
/// # Errors
/// [`Error::NotFound`] when the link is invalid or too old, or the account was deleted.
#[model::use_case]
pub async fn strike_of_link(cx: &Cx, id: &str, token: &str) -> Result<Strike> {
    let id = strike_link::strike(cx, id, token).ok_or(Error::NotFound)?;
    let mut warnings = store::warning::list(&cx.db, &[id]).await?;
    warnings.retain(|warning| warning.created_at + LINK_PERIOD > cx.clock.now());
    with_appeals(cx, warnings).await?.pop().ok_or(Error::NotFound)
}

async fn with_appeals(cx: &Cx, warnings: Vec<Warning>) -> Result<Vec<Strike>> {
    if warnings.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<RowId> = warnings.iter().map(|warning| warning.id).collect();
    let mut appeals = store::warning::list_appeals(&cx.db, &ids).await?;
    let with_appeal = |warning: Warning| {
        let index = appeals.iter().position(|appeal| appeal.warning_id == warning.id);
        Strike { appeal: index.map(|index| appeals.swap_remove(index)), warning }
    };
    Ok(warnings.into_iter().map(with_appeal).collect())
}

/// Appeals against a strike, in the name of its account.
///
/// # Errors
/// [`Error::Validation`] naming `text` when it is blank or too long, [`Error::Forbidden`] when the strike has an appeal
/// already or its time is over.
#[model::use_case]
pub async fn create(cx: &Cx, strike: &Strike, text: &str) -> Result<Appeal> {
    let text = text.trim();
    let mut faults = Validation::default();
    if text.is_empty() {
        faults.add("text", "ERR_BLANK", "can't be blank");
    }
    if text.chars().count() > TEXT_MAX {
        faults.add("text", "ERR_TOO_LONG", format!("is too long (maximum is {TEXT_MAX} characters)"));
    }
    faults.check()?;
    let already = || Error::forbidden("There is an appeal against this strike already");
    if strike.appeal.is_some() {
        return Err(already());
    }
    if strike.open_until(cx.clock.now()).is_none() {
        return Err(Error::forbidden(format!("Appeals are possible for {} days after a strike", PERIOD.num_days())));
    }
    let appeal = Appeal {
        id: cx.ids.next(),
        warning_id: strike.warning.id,
        account_id: strike.warning.target_account_id,
        decided_by_account_id: None,
        text: text.to_owned(),
        approved_at: None,
        rejected_at: None,
        created_at: cx.clock.now(),
    };
    let mut tx = cx.db.begin().await?;
    store::warning::insert_appeal(&mut tx, &appeal).await.on_unique(already)?;
    tx.commit().await?;
    Ok(appeal)
}

/// A page of the appeals in this state, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, state: AppealState, cursor: &Cursor) -> Result<Vec<Appeal>> {
    Ok(store::warning::list_appeals_page(&cx.db, state, cursor).await?)
}

/// The appeal `id`.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<Appeal> {
    store::warning::find_appeal(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// Approves an appeal, or rejects it, and mails the person. Approving lifts what the strike imposed.
///
/// # Errors
/// [`Error::NotFound`] when there is none, [`Error::Forbidden`] when it is decided already, for an account that `staff`
/// does not outrank, and when an appeal is approved whose account is being deleted.
#[model::use_case]
pub async fn decide(cx: &Cx, staff: &Staff, id: RowId, approve: bool) -> Result<()> {
    let appeal = find(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    let target = Managed::lock(&mut tx, staff, appeal.account_id).await?;
    if !store::warning::decide_appeal(&mut tx, id, approve, staff.account, cx.clock.now()).await? {
        let decided = store::warning::find_appeal(&mut tx, id).await?.ok_or(Error::NotFound)?;
        return Err(Error::forbidden(format!("The appeal is {} already", decided.state())));
    }
    let warning = store::warning::list(&mut tx, &[appeal.warning_id]).await?.pop().ok_or(Error::NotFound)?;
    let mut lifted = false;
    if approve {
        target.require_user()?;
        lifted = lift(cx, &mut tx, &target, &warning).await?;
        store::warning::set_overruled(&mut tx, warning.id, cx.clock.now()).await?;
    }
    if target.managed.user_id.is_some() {
        email::queue(cx, &mut tx, appeal.account_id, Subject::AppealDecided(id), None).await?;
    }
    let action = if approve { "appeal.approve" } else { "appeal.reject" };
    let details = json!({ "warning_id": warning.id, "action": warning.action, "lifted": lifted });
    let entry = Entry::new(action, Target::new("appeal", id, format!("@{}", target.account.acct()))).with(details);
    audit::record(cx, &mut tx, staff, entry).await?;
    Ok(tx.commit().await?)
}

/// Lifts what a strike imposed; false when nothing changes, or a later strike imposes it as well.
async fn lift(cx: &Cx, tx: &mut Tx, target: &Managed, warning: &Warning) -> Result<bool> {
    let id = target.account.id;
    if store::warning::has_later(&mut *tx, id, warning.id, warning.action).await? {
        return Ok(false);
    }
    let lifted = match warning.action {
        WarningAction::None => false,
        WarningAction::Disable => store::managed_account::set_disabled(tx, id, false).await?,
        WarningAction::Sensitive => store::managed_account::set_sensitized(tx, id, None).await?,
        WarningAction::Silence => store::managed_account::set_limited(tx, id, None).await?,
        WarningAction::Suspend => removal::reveal(cx, tx, &target.account).await?,
    };
    match warning.action {
        WarningAction::Disable => store::account::bump(tx, id).await?,
        WarningAction::Sensitive if lifted => {
            change::record(cx, tx, Change::AccountUpdated { account: id }).await?;
        }
        WarningAction::None | WarningAction::Sensitive | WarningAction::Silence | WarningAction::Suspend => {}
    }
    Ok(lifted)
}
