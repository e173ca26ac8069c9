//! `rookery status prune`: removes old statuses and unused accounts of other servers, or counts them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clap::Args;
use context::Cx;
use model::{AccountId, StatusId};
use serde::Serialize;
use service::remote::retention::{self, Mode, Report, Rules};
use terminal::{Failure, Output};

#[derive(Debug, Args)]
pub(super) struct Prune {
    /// Remove posts of other servers that are older, instead of the setting remote_status_days; 0: none
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    days: Option<u32>,
    /// Remove accounts of other servers without any relation that were not fetched for so long, instead of the setting
    /// remote_account_days; 0: none
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(..=36_500))]
    accounts_days: Option<u32>,
    /// Only count: removals, and what stays by reason
    #[arg(long)]
    dry_run: bool,
}

impl Prune {
    /// True unless it only counts.
    pub(super) fn changes(&self) -> bool {
        !self.dry_run
    }
}

/// The counts of a report.
#[derive(Serialize)]
struct Pruned {
    removed: bool,
    status_days: i64,
    account_days: i64,
    statuses: u64,
    reblogs: u64,
    media: u64,
    accounts: u64,
    kept_statuses: BTreeMap<&'static str, u64>,
    kept_accounts: BTreeMap<&'static str, u64>,
}

/// How often progress is printed.
const PROGRESS_EVERY: Duration = Duration::from_secs(5);

pub(super) async fn run(cx: &Cx, prune: &Prune, output: Output) -> Result<(), Failure> {
    let settings = cx.settings();
    let days = |given: Option<u32>, set: i64| given.map_or(set, i64::from);
    let status_days = days(prune.days, settings.remote_status_days);
    let account_days = days(prune.accounts_days, settings.remote_account_days);
    if status_days == 0 && account_days == 0 {
        return Err(Failure::usage(
            "all posts and accounts stay: state --days or --accounts-days, or set remote_status_days or \
             remote_account_days",
        ));
    }
    let rules = Rules::of_days(cx, status_days, account_days);
    let mode = if prune.dry_run { Mode::Count } else { Mode::Remove };
    let report = walk(cx, &rules, mode, output).await?;
    let pruned = Pruned {
        removed: !prune.dry_run,
        status_days,
        account_days,
        statuses: report.statuses,
        reblogs: report.reblogs,
        media: report.media,
        accounts: report.accounts,
        kept_statuses: report.kept_statuses.iter().map(|(by, count)| (by.as_str(), *count)).collect(),
        kept_accounts: report.kept_accounts.iter().map(|(by, count)| (by.as_str(), *count)).collect(),
    };
    match mode {
        Mode::Count => output.respond(&pruned, || words("Would remove", &pruned)),
        Mode::Remove => output.respond(&pruned, || words("Removed", &pruned)),
    }
}

/// Goes through all old statuses, and then through all unused accounts, which may be without statuses only then.
async fn walk(cx: &Cx, rules: &Rules, mode: Mode, output: Output) -> Result<Report, Failure> {
    let mut report = Report::default();
    let mut printed = Instant::now();
    let mut progress = |report: &Report| {
        if printed.elapsed() >= PROGRESS_EVERY {
            printed = Instant::now();
            output.progress(&format!("{} posts, {} accounts", report.statuses + report.reblogs, report.accounts));
        }
    };
    let mut after = StatusId::from(0);
    while let Some(last) = retention::statuses(cx, rules, mode, after, &mut report).await? {
        after = last;
        progress(&report);
    }
    let mut after = AccountId::from(0);
    while let Some(last) = retention::accounts(cx, rules, mode, after, &mut report).await? {
        after = last;
        progress(&report);
    }
    Ok(report)
}

fn words(verb: &str, pruned: &Pruned) -> String {
    let Pruned { statuses, reblogs, media, accounts, .. } = pruned;
    let mut text =
        format!("{verb} {statuses} posts with {media} attachments, {reblogs} boosts and {accounts} accounts.\n");
    for (what, kept) in [("posts and boosts", &pruned.kept_statuses), ("accounts", &pruned.kept_accounts)] {
        for (by, count) in kept {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{count:>9} {what} stay: {by}");
        }
    }
    text
}
