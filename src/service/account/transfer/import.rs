//! The job of an import: removes entries that the file does not contain, if requested, and then applies row after
//! row.
//!
//! Rows are applied by use cases that commit on their own. A batch of rows is settled in the transaction that queues
//! the job for the next batch: after a kill in between, the rows of one batch are applied again, which changes
//! nothing.

use super::{apply, entry, remove};
use crate::auth;
use context::error::{Error, Result};
use context::queue::{self, Done, Failure, RunImport};
use context::{Cx, job};
use model::{Actor, RowId, Time};
use store::job::Claim;
use store::transfer::{Import, ImportRow};

/// Rows per batch.
const BATCH: i64 = 50;
/// The error of a row that was not applied because the account became unusable.
const UNUSABLE: &str = "Your account could not be used at that time";
/// The error of a row that failed on the server in every attempt.
const GIVEN_UP: &str = "The server could not do it";

/// Applies the next batch of an import, and queues the job for the one after it.
///
/// # Errors
/// [`Failure::Retry`] for errors that may pass.
#[model::use_case]
#[job]
async fn run_batch(cx: &Cx, job: RunImport, claim: Claim) -> Result<Done, Failure> {
    let import = store::transfer::find(&cx.db, job.import).await?;
    let Some(import) = import.filter(|import| import.finished_at.is_none()) else { return Ok(Done::Remove) };
    let Some(actor) = auth::actors(cx, &[import.account_id]).await?.pop() else {
        return end(cx, &import, UNUSABLE, claim).await;
    };
    let last_attempt = claim.attempts >= i64::from(cx.config.jobs.max_attempts);
    let batch = if job.removing {
        remove_batch(cx, &actor, &import, job.after).await
    } else {
        apply_batch(cx, &actor, &import, job.after, last_attempt).await
    };
    match batch {
        Ok(Some(batch)) => finish(cx, &import, batch, claim).await,
        Ok(None) => end(cx, &import, GIVEN_UP, claim).await,
        Err(error) if last_attempt && !error.is_fault() => {
            tracing::error!(%error, "could not continue an import");
            end(cx, &import, GIVEN_UP, claim).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The results of a batch, and the job that continues the import.
struct Batch {
    done: Vec<i64>,
    failed: Vec<(i64, String)>,
    next: RunImport,
    /// When that job runs.
    at: Time,
}

impl Batch {
    /// Ends a batch before `position`, since the limit of follows is used up. The import continues when the window
    /// ends.
    fn resumed(mut self, cx: &Cx, import: RowId, position: i64) -> Self {
        self.next = RunImport { import, removing: false, after: position - 1 };
        self.at = cx.spent().map_or(self.at, |standing| standing.reset);
        self
    }
}

async fn remove_batch(cx: &Cx, actor: &Actor, import: &Import, after: i64) -> Result<Option<Batch>> {
    let next = match remove::remove_batch(cx, actor, import, after, BATCH).await? {
        Some(last) => RunImport { import: import.id, removing: true, after: last },
        None => RunImport { import: import.id, removing: false, after: 0 },
    };
    Ok(Some(Batch { done: Vec::new(), failed: Vec::new(), next, at: cx.clock.now() }))
}

/// Applies the next rows; `None` when none is left.
async fn apply_batch(cx: &Cx, actor: &Actor, import: &Import, after: i64, last: bool) -> Result<Option<Batch>> {
    let rows = store::transfer::list_waiting(&cx.db, import.id, after, BATCH).await?;
    let Some(end) = rows.last().map(|row| row.position) else { return Ok(None) };
    let next = RunImport { import: import.id, removing: false, after: end };
    let mut batch = Batch { done: Vec::new(), failed: Vec::new(), next, at: cx.clock.now() };
    for ImportRow { position, entry, .. } in rows {
        match apply::apply(cx, actor, entry::read(&entry)?).await {
            Ok(()) => batch.done.push(position),
            Err(Error::RateLimited) => return Ok(Some(batch.resumed(cx, import.id, position))),
            Err(error) => batch.failed.push((position, reason(error, last)?)),
        }
    }
    Ok(Some(batch))
}

/// The error message of a failed row.
///
/// # Errors
/// `error` itself, when a retry may succeed.
fn reason(error: Error, last_attempt: bool) -> Result<String> {
    if !error.may_pass() {
        return Ok(error.to_string());
    }
    if !last_attempt || error.is_fault() {
        return Err(error);
    }
    tracing::error!(%error, "could not apply a row of an import");
    Ok(GIVEN_UP.to_owned())
}

async fn finish(cx: &Cx, import: &Import, batch: Batch, claim: Claim) -> Result<Done, Failure> {
    let mut tx = cx.db.begin().await?;
    if !batch.done.is_empty() || !batch.failed.is_empty() {
        store::transfer::settle(&mut tx, import.id, &batch.done, batch.failed).await?;
    }
    queue::enqueue_at(cx, &mut tx, &batch.next, batch.at).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// Ends the import. Rows that were not applied yet fail with `why`.
async fn end(cx: &Cx, import: &Import, why: &str, claim: Claim) -> Result<Done, Failure> {
    let mut tx = cx.db.begin().await?;
    store::transfer::finish(&mut tx, import.id, why, cx.clock.now()).await?;
    queue::finish(&mut tx, claim).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}
