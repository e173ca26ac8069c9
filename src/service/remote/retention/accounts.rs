//! Unused accounts of other servers: without any relation here, and not fetched for long.

use chrono::TimeDelta;
use context::error::Result;
use context::queue::{self, Done, Failure, Next, PruneRemoteAccounts};
use context::{Cx, job};
use model::clock::Ids;
use model::retention::AccountKeepReason;
use model::{AccountId, Time};
use store::job::Claim;
use store::plugin_mark::MarkTables;
use store::retention;
use tokio::time::Instant;

use super::{BATCH, Mode, Report, Rules, TIME_BUDGET, WINDOW, make_way, tables};
use crate::removal;

/// How often a walk begins.
const PASS_EVERY: TimeDelta = TimeDelta::days(1);
/// How soon a changed setting is noticed.
const CHECK_EVERY: TimeDelta = TimeDelta::hours(1);

#[model::use_case]
#[job]
async fn prune_remote_accounts(cx: &Cx, job: PruneRemoteAccounts, claim: Claim) -> Result<Done, Failure> {
    let (now, rules) = (cx.clock.now(), Rules::configured(cx));
    let next = if rules.accounts_before.is_none() {
        Next::At(now + CHECK_EVERY, PruneRemoteAccounts::begin())
    } else {
        match super::accounts(cx, &rules, Mode::Remove, job.after, &mut Report::default()).await? {
            Some(after) => Next::Now(PruneRemoteAccounts { after }),
            None => Next::At(now + PASS_EVERY, PruneRemoteAccounts::begin()),
        }
    };
    let tx = cx.db.begin().await?;
    queue::run::end_step(cx, tx, next, claim).await
}

/// Removes or counts the next accounts after `after` that were neither made nor seen here since `before`; returns the
/// last one that was looked at.
pub(super) async fn step(
    cx: &Cx,
    before: Time,
    mode: Mode,
    after: AccountId,
    report: &mut Report,
) -> Result<Option<AccountId>> {
    let bound = AccountId::from(Ids::first_at(before));
    let mut found = retention::list_next_accounts(&cx.db, before, after, bound, WINDOW).await?;
    let Some(last) = found.last().map(|account| account.id) else { return Ok(None) };
    found.retain(|account| !account.local);
    let mut old: Vec<AccountId> = Vec::new();
    for account in found {
        match account.kept_by {
            Some(by) => *report.kept_accounts.entry(by).or_default() += 1,
            None => old.push(account.id),
        }
    }
    if old.is_empty() {
        return Ok(Some(last));
    }
    let tables = tables(cx).await?;
    let named = tables.accounts((&cx.db).into(), &old).await?;
    old.retain(|account| !named.contains(account));
    *report.kept_accounts.entry(AccountKeepReason::Plugin).or_default() += named.len() as u64;
    match mode {
        Mode::Remove => remove(cx, before, &tables, &old, report).await?,
        Mode::Count => report.accounts += old.len() as u64,
    }
    Ok(Some(last))
}

/// Removes `old` in short transactions.
async fn remove(cx: &Cx, before: Time, tables: &MarkTables, old: &[AccountId], report: &mut Report) -> Result<()> {
    let mut left = old;
    while !left.is_empty() {
        let batch = &left[..left.len().min(BATCH)];
        let mut tx = cx.db.begin().await?;
        let begun = Instant::now();
        store::account::lock(&mut tx, batch).await?;
        let now = retention::list_accounts(&mut tx, before, batch).await?;
        let named = tables.accounts((&mut tx).into(), batch).await?;
        let unused = |id: AccountId| {
            let account = now.iter().find(|account| account.id == id);
            account.is_some_and(|account| !account.local && account.kept_by.is_none()) && !named.contains(&id)
        };
        let mut done = 0;
        for id in batch {
            if done > 0 && begun.elapsed() >= TIME_BUDGET {
                break;
            }
            done += 1;
            if unused(*id) {
                removal::finish(cx, &mut tx, *id).await?;
                report.accounts += 1;
            }
        }
        tx.commit().await?;
        left = &left[done..];
        make_way(begun, report).await;
    }
    Ok(())
}
