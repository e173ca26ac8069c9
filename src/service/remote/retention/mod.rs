//! Retention: old statuses and unused accounts of other servers are removed, with exceptions for everything that
//! accounts of this server refer to.
//!
//! Reached from recurring jobs and from `rookery status prune`. A step reads the next rows in the order of their ids,
//! and removes those that nothing keeps in short transactions, which check again. Nothing is sent, and no tombstone
//! stays: a removed status or account can be fetched again.
//!
//! Spec: docs/contract/rules.md#28-defaults-of-settings

mod accounts;
mod statuses;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::TimeDelta;
use context::Cx;
use context::error::{Error, Result};
use model::clock::Ids;
use model::retention::{AccountKeepReason, StatusKeepReason};
use model::settings::Settings;
use model::{AccountId, Status, StatusId, Time};
use store::plugin_mark::{self, MarkTables};
use tokio::time::Instant;

/// Rows read in one step.
const WINDOW: i64 = 500;
/// Statuses or accounts of one transaction.
const BATCH: usize = 20;
/// Time after which a transaction takes no further status, since it blocks all other writers.
const TIME_BUDGET: Duration = Duration::from_millis(8);

/// Which statuses and accounts are old, and what keeps them.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Statuses from before; `None`: all stay.
    pub statuses_before: Option<Time>,
    /// Accounts that were neither fetched nor seen since; `None`: all stay.
    pub accounts_before: Option<Time>,
    answered: bool,
    favourited: bool,
    boosted: bool,
    bookmarked: bool,
    quoted: bool,
    mentioned: bool,
    followed: bool,
}

impl Rules {
    /// The rules of the settings.
    #[must_use]
    pub fn configured(cx: &Cx) -> Self {
        let settings = cx.settings();
        Self::new(cx, &settings, settings.remote_status_days, settings.remote_account_days)
    }

    /// The exceptions of the settings with other ages, in days; 0: all stay.
    #[must_use]
    pub fn of_days(cx: &Cx, statuses: i64, accounts: i64) -> Self {
        Self::new(cx, &cx.settings(), statuses, accounts)
    }

    fn new(cx: &Cx, settings: &Settings, statuses: i64, accounts: i64) -> Self {
        let before = |days: i64| (days > 0).then(|| cx.clock.now() - TimeDelta::days(days));
        Self {
            statuses_before: before(statuses),
            accounts_before: before(accounts),
            answered: settings.remote_keep_answered,
            favourited: settings.remote_keep_favourited,
            boosted: settings.remote_keep_boosted,
            bookmarked: settings.remote_keep_bookmarked,
            quoted: settings.remote_keep_quoted,
            mentioned: settings.remote_keep_mentioned,
            followed: settings.remote_keep_followed,
        }
    }
}

/// Whether a step removes, or only counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Remove,
    Count,
}

/// The result of steps: removals, or with [`Mode::Count`] their number, and old rows that stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub statuses: u64,
    /// Reblogs, among them those of removed statuses.
    pub reblogs: u64,
    /// Attachments of the statuses.
    pub media: u64,
    pub accounts: u64,
    /// Old statuses and reblogs of other servers that stay, by the first reason.
    pub kept_statuses: BTreeMap<StatusKeepReason, u64>,
    /// Accounts of other servers that stay, by the first reason.
    pub kept_accounts: BTreeMap<AccountKeepReason, u64>,
    /// The longest transaction, from its begin to the end of its commit.
    pub longest: Duration,
}

impl Report {
    fn record(&self, before: &Self) {
        let counter = |kind: &'static str, now: u64, then: u64| {
            if now > then {
                metrics::counter!("rookery_retention_removed_total", "kind" => kind).increment(now - then);
            }
        };
        counter("status", self.statuses, before.statuses);
        counter("reblog", self.reblogs, before.reblogs);
        counter("media", self.media, before.media);
        counter("account", self.accounts, before.accounts);
    }
}

/// Removes or counts the next old statuses after `after`; returns the last one that was looked at, and `None` at the
/// end.
///
/// # Errors
/// When a table of a plugin cannot be read: nothing of the step is removed then.
#[model::use_case]
pub async fn statuses(
    cx: &Cx,
    rules: &Rules,
    mode: Mode,
    after: StatusId,
    report: &mut Report,
) -> Result<Option<StatusId>> {
    let Some(before) = rules.statuses_before else { return Ok(None) };
    let before = StatusId::from(Ids::first_at(before));
    let earlier = report.clone();
    let last = statuses::step(cx, rules, mode, (after, before), report).await?;
    if mode == Mode::Remove {
        report.record(&earlier);
    }
    Ok(last)
}

/// As [`statuses()`], for unused accounts.
///
/// # Errors
/// As [`statuses()`].
#[model::use_case]
pub async fn accounts(
    cx: &Cx,
    rules: &Rules,
    mode: Mode,
    after: AccountId,
    report: &mut Report,
) -> Result<Option<AccountId>> {
    let Some(before) = rules.accounts_before else { return Ok(None) };
    let earlier = report.clone();
    let last = accounts::step(cx, before, mode, after, report).await?;
    if mode == Mode::Remove {
        report.record(&earlier);
    }
    Ok(last)
}

/// The tables of plugins that refer to statuses and accounts.
async fn tables(cx: &Cx) -> Result<MarkTables> {
    Ok(plugin_mark::find_tables(&cx.db).await?)
}

/// Waits as long as the transaction took that began at `begun`, so that other writers have half of the time at least.
async fn make_way(begun: Instant, report: &mut Report) {
    let held = begun.elapsed();
    report.longest = report.longest.max(held);
    tokio::time::sleep(held).await;
}

/// Whether a status was removed; false when it was gone before, as a reblog whose original was removed.
fn unless_gone(removed: Result<Status>) -> Result<bool> {
    match removed {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(error) => Err(error),
    }
}
