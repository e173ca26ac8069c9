//! The budget of copies: the least recently used ones go first, and a host has a share of it.
//!
//! A copy is removed in small transactions, its files by a job of the same transaction; it is fetched again when a client
//! requests it. Copies whose row is gone are removed as well. Files of hosts that are kept are not counted, and stay as
//! long as their rows.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use chrono::TimeDelta;
use context::error::{Error, Result};
use context::queue::{self, Done, Failure, Next, PruneRemoteFiles, PurgeRemoteFiles, TrimRemoteFiles};
use context::{Cx, job};
use database::Tx;
use model::Time;
use model::remote_file::{RemoteFileKind, RemoteMediaMode};
use store::job::Claim;
use store::remote_file::{self, Place, RemoteFile, Usage};

use super::modes;

/// Most copies that are removed, or looked at, in one transaction.
const BATCH: i64 = 100;
/// Most copies that one job removes.
const MOST: usize = 5_000;
/// A host may have this part of the budget.
const SHARE_OF_HOST: i64 = 4;
/// How long failures are remembered.
const FAILED_TTL: TimeDelta = TimeDelta::days(30);
/// How often the budget is checked.
const TRIM_EVERY: TimeDelta = TimeDelta::minutes(15);
/// How often a walk through the copies begins.
const PRUNE_EVERY: TimeDelta = TimeDelta::hours(6);

/// The removed copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    pub files: u64,
    pub bytes: u64,
}

impl Removed {
    pub(super) fn add(&mut self, copy: &RemoteFile) {
        self.files += u64::from(copy.file.is_some());
        self.bytes += u64::try_from(copy.bytes).unwrap_or_default();
    }
}

/// The bounds of the stored copies.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// In bytes; `None`: without a bound.
    pub bytes: Option<i64>,
    /// Copies that were not used since are removed.
    pub used_since: Option<Time>,
}

impl Budget {
    /// The configured budget.
    #[must_use]
    pub fn configured(cx: &Cx) -> Self {
        let bytes = i64::try_from(cx.config.media.remote_limit_bytes).unwrap_or(i64::MAX);
        let mut budget = Self { bytes: (bytes > 0).then_some(bytes), used_since: None };
        budget.set_days(cx, cx.settings().remote_media_days);
        budget
    }

    /// Bounds the days since the last use; 0: without a bound.
    pub fn set_days(&mut self, cx: &Cx, days: i64) {
        self.used_since = (days > 0).then(|| cx.clock.now() - TimeDelta::days(days));
    }
}

/// Removes copies until the others fit into `budget`, at most some thousand. True when there are more.
///
/// # Errors
/// When the database fails; earlier removals stay.
pub(super) async fn fit(cx: &Cx, budget: Budget, removed: &mut Removed) -> Result<bool> {
    let mut left = MOST;
    if let Some(since) = budget.used_since {
        walk(cx, None, &mut left, removed, |copy| (copy.used_at < since).then_some(copy.file.is_some())).await?;
    }
    let forgotten = cx.clock.now() - FAILED_TTL;
    let old = |copy: &RemoteFile| (copy.used_at < forgotten).then_some(copy.file.is_none());
    walk(cx, None, &mut left, removed, old).await?;
    let Some(limit) = budget.bytes else { return Ok(left == 0) };
    let mut stored: HashMap<String, i64> = HashMap::new();
    for Usage { host, bytes, .. } in remote_file::usage(&cx.db).await? {
        *stored.entry(host).or_default() += bytes;
    }
    stored.retain(|host, _| modes::of(cx, host) != RemoteMediaMode::Keep);
    let mut total: i64 = stored.values().sum();
    for (host, bytes) in stored {
        let excess = bytes - limit / SHARE_OF_HOST;
        total -= reduce(cx, Some(&host), excess, &mut left, removed).await?;
    }
    reduce(cx, None, total - limit, &mut left, removed).await?;
    Ok(left == 0)
}

/// Counts stored bytes. After a sixteenth of the budget, copies are removed before the time of the job.
pub(super) fn stored(cx: &Cx, bytes: i64) {
    let bytes = u64::try_from(bytes).unwrap_or_default();
    let limit = cx.config.media.remote_limit_bytes;
    let since = cx.remote_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if limit == 0 || since < limit / 16 {
        return;
    }
    cx.remote_bytes.store(0, Ordering::Relaxed);
    let cx = cx.clone();
    tokio::spawn(async move {
        if let Err(error) = fit(&cx, Budget::configured(&cx), &mut Removed::default()).await {
            context::log_failure!(error, "could not remove copies of files of other servers");
        }
    });
}

/// Removes the least recently used copies of `host`, or of all hosts, until `excess` bytes are free; returns how many are.
async fn reduce(cx: &Cx, host: Option<&str>, excess: i64, left: &mut usize, removed: &mut Removed) -> Result<i64> {
    let mut free = 0;
    walk(cx, host, left, removed, |copy| {
        if free >= excess {
            return None;
        }
        let goes = copy.file.is_some();
        free += copy.bytes;
        Some(goes)
    })
    .await?;
    Ok(free)
}

/// Goes through copies, the least recently used first, and removes those that `decide` returns true for; `None` ends it.
/// Copies that are kept are passed over.
async fn walk(
    cx: &Cx,
    host: Option<&str>,
    left: &mut usize,
    removed: &mut Removed,
    mut decide: impl FnMut(&RemoteFile) -> Option<bool> + Send,
) -> Result<()> {
    let mut after = Place { used_at: Time::from_micros(0), kind: RemoteFileKind::Avatar, subject_id: 0 };
    loop {
        let batch = remote_file::list_oldest(&cx.db, host, after, BATCH).await?;
        let Some(last) = batch.last() else { return Ok(()) };
        after = Place { used_at: last.used_at, kind: last.kind, subject_id: last.subject_id };
        let (mut ended, mut going) = (false, Vec::new());
        for copy in batch {
            if copy.file.is_some() && modes::of(cx, &copy.host) == RemoteMediaMode::Keep {
                continue;
            }
            match decide(&copy).filter(|_| going.len() < *left) {
                Some(true) => going.push(copy),
                Some(false) => {}
                None => {
                    ended = true;
                    break;
                }
            }
        }
        if !going.is_empty() {
            let mut tx = cx.db.begin().await?;
            for copy in &going {
                if remove(cx, &mut tx, copy).await? {
                    *left -= 1;
                    removed.add(copy);
                }
            }
            tx.commit().await?;
        }
        if ended {
            return Ok(());
        }
    }
}

/// Deletes an entry, and its files by a job; false when it was used or replaced meanwhile.
pub(super) async fn remove(cx: &Cx, tx: &mut Tx, copy: &RemoteFile) -> Result<bool> {
    let deleted = remote_file::delete(tx, copy).await?;
    if deleted {
        purge(cx, tx, copy).await?;
    }
    Ok(deleted)
}

/// Queues the removal of the files of an entry that is replaced or deleted.
pub(super) async fn purge(cx: &Cx, tx: &mut Tx, copy: &RemoteFile) -> Result<()> {
    let files = copy.files();
    if files.is_empty() {
        return Ok(());
    }
    let job = PurgeRemoteFiles { kind: copy.kind, subject: copy.subject_id, files };
    queue::enqueue(cx, tx, &job).await
}

#[model::use_case]
#[job]
async fn purge_remote_files(cx: &Cx, job: PurgeRemoteFiles) -> Result<(), Failure> {
    let entry = remote_file::find(&cx.db, job.kind, job.subject).await.map_err(Error::from)?;
    let used = entry.map_or_else(Vec::new, |entry| entry.files());
    let unused: Vec<String> = job.files.into_iter().filter(|file| !used.contains(file)).collect();
    crate::media::purge::remove(cx, &unused).await
}

#[model::use_case]
#[job]
async fn trim_remote_files(cx: &Cx, job: TrimRemoteFiles, claim: Claim) -> Result<Done, Failure> {
    let mut removed = Removed::default();
    let more = fit(cx, Budget::configured(cx), &mut removed).await?;
    if removed.files > 0 {
        tracing::info!(files = removed.files, bytes = removed.bytes, "removed copies of files of other servers");
    }
    let pause = if more { TimeDelta::zero() } else { TRIM_EVERY };
    let tx = cx.db.begin().await?;
    queue::run::end_step(cx, tx, Next::At(cx.clock.now() + pause, job), claim).await
}

/// Removes the next copies whose rows are gone.
#[model::use_case]
#[job]
async fn prune_remote_files(cx: &Cx, tx: &mut Tx, job: PruneRemoteFiles) -> Result<Next<PruneRemoteFiles>, Failure> {
    let batch = remote_file::list_of_kind(&mut *tx, job.kind, job.after, BATCH).await.map_err(Error::from)?;
    let ids: Vec<i64> = batch.iter().map(|copy| copy.subject_id).collect();
    let existing = remote_file::list_existing(&mut *tx, job.kind, &ids).await.map_err(Error::from)?;
    for copy in batch.iter().filter(|copy| !existing.contains(&copy.subject_id)) {
        remove(cx, tx, copy).await?;
    }
    if let Some(last) = batch.last().filter(|_| i64::try_from(batch.len()).is_ok_and(|many| many == BATCH)) {
        return Ok(Next::Now(PruneRemoteFiles { kind: job.kind, after: last.subject_id }));
    }
    let next = RemoteFileKind::ALL.iter().copied().find(|kind| *kind > job.kind);
    Ok(match next {
        Some(kind) => Next::Now(PruneRemoteFiles { kind, after: 0 }),
        None => Next::At(cx.clock.now() + PRUNE_EVERY, PruneRemoteFiles::begin()),
    })
}
