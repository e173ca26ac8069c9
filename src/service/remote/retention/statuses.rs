//! Old statuses and reblogs of other servers: which of them stay, and the removal of the others.

use std::collections::{HashMap, HashSet, VecDeque};

use chrono::TimeDelta;
use context::error::Result;
use context::queue::{self, Done, Failure, Next, PruneRemoteStatuses};
use context::{Cx, job};
use database::{Conn, Tx};
use model::retention::StatusKeepReason;
use model::{AccountId, StatusId};
use store::job::Claim;
use store::plugin_mark::MarkTables;
use store::retention::{self, OldStatus};
use tokio::time::Instant;

use super::{BATCH, Mode, Report, Rules, TIME_BUDGET, WINDOW, make_way, tables, unless_gone};
use crate::status;

/// Reblogs that are removed together with their status; of more, the others are removed before.
const REBLOGS_AT_ONCE: usize = 20;
/// How often the statuses that became old are looked at, and how often all: a reason to keep one may end.
const PASS_EVERY: TimeDelta = TimeDelta::hours(6);
const FULL_EVERY: TimeDelta = TimeDelta::days(7);
/// How soon a changed setting is noticed.
const CHECK_EVERY: TimeDelta = TimeDelta::hours(1);

#[model::use_case]
#[job]
async fn prune_remote_statuses(cx: &Cx, mut job: PruneRemoteStatuses, claim: Claim) -> Result<Done, Failure> {
    let (now, rules) = (cx.clock.now(), Rules::configured(cx));
    let next = if rules.statuses_before.is_none() {
        Next::At(now + CHECK_EVERY, PruneRemoteStatuses::begin())
    } else {
        if i64::from(job.after) == 0 {
            job.begun_at = now.timestamp_micros();
        }
        let mut report = Report::default();
        match super::statuses(cx, &rules, Mode::Remove, job.after, &mut report).await? {
            Some(last) => Next::Now(PruneRemoteStatuses { after: last, ..job }),
            None => {
                let again = now + PASS_EVERY;
                let all = again.timestamp_micros() - job.begun_at >= FULL_EVERY.num_microseconds().unwrap_or(i64::MAX);
                Next::At(again, if all { PruneRemoteStatuses::begin() } else { job })
            }
        }
    };
    let tx = cx.db.begin().await?;
    queue::run::end_step(cx, tx, next, claim).await
}

/// The reasons that are not in the row of a status.
struct Reasons {
    reported: HashSet<StatusId>,
    /// Statuses that rows of plugins refer to.
    marked: HashSet<StatusId>,
}

impl Reasons {
    /// The reasons for `found`, which are of other servers.
    async fn of(mut db: Conn<'_>, tables: &MarkTables, found: &[OldStatus]) -> Result<Self> {
        let ids: Vec<StatusId> = found.iter().map(|status| status.id).collect();
        let mut authors: Vec<AccountId> = found.iter().map(|status| status.account_id).collect();
        authors.sort_unstable();
        authors.dedup();
        let reported = retention::list_reported(db.reborrow(), &authors).await?;
        let reported = reported.into_iter().flat_map(|ids| ids.0).collect();
        let marks = tables.statuses(db.reborrow(), &ids).await?;
        // Marks of accounts of other servers keep nothing.
        let mut owners: Vec<AccountId> = marks.iter().filter_map(|(_, owner)| *owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let domains: HashMap<AccountId, bool> = match owners.as_slice() {
            [] => HashMap::new(),
            owners => store::account::domains(db, owners)
                .await?
                .into_iter()
                .map(|(id, domain)| (id, domain.is_none()))
                .collect(),
        };
        let local = |owner: Option<AccountId>| owner.is_none_or(|owner| domains.get(&owner) == Some(&true));
        let marked = marks.into_iter().filter(|(_, owner)| local(*owner)).map(|(id, _)| id).collect();
        Ok(Self { reported, marked })
    }

    /// The first reason that keeps `status`; `None`: it goes.
    fn first(&self, rules: &Rules, status: &OldStatus) -> Option<StatusKeepReason> {
        use StatusKeepReason as By;
        let reasons = [
            (status.own, By::Own),
            (status.pinned, By::Pinned),
            (self.reported.contains(&status.id), By::Reported),
            (status.direct, By::Direct),
            (status.voted, By::Voted),
            (self.marked.contains(&status.id), By::Plugin),
            (status.answered && rules.answered, By::Answered),
            (status.favourited && rules.favourited, By::Favourited),
            (status.boosted && rules.boosted, By::Boosted),
            (status.bookmarked && rules.bookmarked, By::Bookmarked),
            (status.quoted && rules.quoted, By::Quoted),
            (status.mentioned && rules.mentioned, By::Mentioned),
            (status.followed && rules.followed, By::Followed),
        ];
        reasons.into_iter().find_map(|(holds, by)| holds.then_some(by))
    }
}

/// Removes or counts the next statuses between these two; returns the last one that was looked at.
pub(super) async fn step(
    cx: &Cx,
    rules: &Rules,
    mode: Mode,
    (after, before): (StatusId, StatusId),
    report: &mut Report,
) -> Result<Option<StatusId>> {
    let mut found = retention::list_next(&cx.db, after, before, WINDOW).await?;
    let Some(last) = found.last().map(|status| status.id) else { return Ok(None) };
    found.retain(|status| !status.local);
    if found.is_empty() {
        return Ok(Some(last));
    }
    let tables = tables(cx).await?;
    let reasons = Reasons::of(Conn::from(&cx.db), &tables, &found).await?;
    let mut old = Vec::new();
    for status in found {
        match reasons.first(rules, &status) {
            Some(by) => *report.kept_statuses.entry(by).or_default() += 1,
            None => old.push(status),
        }
    }
    match mode {
        Mode::Remove => remove(cx, rules, &tables, &old, report).await?,
        Mode::Count => count(cx, &old, before, report).await?,
    }
    Ok(Some(last))
}

async fn count(cx: &Cx, old: &[OldStatus], before: StatusId, report: &mut Report) -> Result<()> {
    let reblogs = old.iter().filter(|status| status.is_reblog).count() as u64;
    report.statuses += old.len() as u64 - reblogs;
    // Younger reblogs go with their originals.
    let reblogged: Vec<StatusId> = old.iter().filter(|status| status.has_reblogs).map(|status| status.id).collect();
    let younger = match reblogged.as_slice() {
        [] => 0,
        reblogged => retention::count_reblogs(&cx.db, reblogged, before).await?,
    };
    report.reblogs += reblogs + u64::try_from(younger).unwrap_or_default();
    let ids: Vec<StatusId> = old.iter().map(|status| status.id).collect();
    report.media += u64::try_from(retention::count_media(&cx.db, &ids).await?).unwrap_or_default();
    Ok(())
}

/// Removes `old` in short transactions.
async fn remove(cx: &Cx, rules: &Rules, tables: &MarkTables, old: &[OldStatus], report: &mut Report) -> Result<()> {
    for status in old.iter().filter(|status| status.has_reblogs) {
        thin_out(cx, rules, tables, status.id, report).await?;
    }
    let mut left: VecDeque<StatusId> = old.iter().map(|status| status.id).collect();
    while !left.is_empty() {
        let batch: Vec<StatusId> = left.iter().take(BATCH).copied().collect();
        let mut tx = cx.db.begin().await?;
        let begun = Instant::now();
        let done = remove_batch(cx, &mut tx, rules, tables, &batch, report).await?;
        tx.commit().await?;
        left.drain(..done);
        make_way(begun, report).await;
    }
    Ok(())
}

/// Removes reblogs of `original` until few are left, which go together with it.
async fn thin_out(cx: &Cx, rules: &Rules, tables: &MarkTables, original: StatusId, report: &mut Report) -> Result<()> {
    let most = i64::try_from(REBLOGS_AT_ONCE).unwrap_or(i64::MAX);
    loop {
        let reblogs = retention::list_reblogs(&cx.db, original, most + 1).await?;
        if reblogs.len() <= REBLOGS_AT_ONCE {
            return Ok(());
        }
        let mut tx = cx.db.begin().await?;
        let begun = Instant::now();
        let mut authors: Vec<AccountId> = reblogs.iter().map(|(_, author)| *author).collect();
        authors.sort_unstable();
        store::account::lock(&mut tx, &authors).await?;
        let now = retention::list(&mut tx, &[original]).await?;
        let reasons = Reasons::of(Conn::from(&mut tx), tables, &now).await?;
        if now.iter().all(|status| reasons.first(rules, status).is_some()) {
            return Ok(());
        }
        for (reblog, author) in reblogs {
            if begun.elapsed() >= TIME_BUDGET {
                break;
            }
            report.reblogs += u64::from(unless_gone(status::erase(cx, &mut tx, author, reblog).await)?);
        }
        tx.commit().await?;
        make_way(begun, report).await;
    }
}

/// Removes the first of `batch`, in order, until the time budget is used up; returns the number of those that are done.
async fn remove_batch(
    cx: &Cx,
    tx: &mut Tx,
    rules: &Rules,
    tables: &MarkTables,
    batch: &[StatusId],
    report: &mut Report,
) -> Result<usize> {
    let begun = Instant::now();
    for id in batch {
        store::status::lock_for_deletion(tx, *id).await?;
    }
    let mut now = retention::list(&mut *tx, batch).await?;
    now.retain(|status| !status.local);
    let reasons = Reasons::of(Conn::from(&mut *tx), tables, &now).await?;
    let now: HashMap<StatusId, OldStatus> = now.into_iter().map(|status| (status.id, status)).collect();
    let most = i64::try_from(REBLOGS_AT_ONCE).unwrap_or(i64::MAX);
    for (done, id) in batch.iter().enumerate() {
        if done > 0 && begun.elapsed() >= TIME_BUDGET {
            return Ok(done);
        }
        let Some(status) = now.get(id) else { continue };
        if let Some(by) = reasons.first(rules, status) {
            *report.kept_statuses.entry(by).or_default() += 1;
            continue;
        }
        if status.has_reblogs {
            report.reblogs += retention::list_reblogs(&mut *tx, *id, most).await?.len() as u64;
        }
        report.media += retention::delete_media(tx, *id).await?;
        let removed = u64::from(unless_gone(status::erase(cx, tx, status.account_id, *id).await)?);
        if status.is_reblog {
            report.reblogs += removed;
        } else {
            report.statuses += removed;
        }
    }
    Ok(batch.len())
}
