//! The durable queue: work that is done after the answer and is never lost.
//!
//! [`enqueue`] writes a job in the transaction that makes it true; [`worker`] claims, runs and removes it. A job may run
//! twice (a kill between its work and its removal), so every kind is harmless when repeated. One file per kind.

pub mod accept_requests;
pub mod cron;
pub mod expire_mute;
pub mod feed;
pub mod forget_account;
pub mod generate_key;
pub mod judge_notices;
pub mod plugin;
pub mod purge_media;
pub mod purge_profile_images;
pub mod record_changes;
pub mod remove_account;
pub mod send_mail;
pub mod tend_feeds;
pub mod trim_feeds;
pub mod worker;

use std::future::Future;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::error::{Error, Result};
use model::job::Lane;
use model::{JobId, Time};
use store::Tx;

/// A kind of job.
pub trait Job: Serialize + DeserializeOwned + Send {
    /// Its name in the database; never changed once released.
    const KIND: &'static str;
    /// Where it queues.
    const LANE: Lane;

    /// While a job of the same kind and key waits, another is not queued: it would do the same work.
    fn key(&self) -> Option<String> {
        None
    }

    /// Does the work. `id` is for a kind that removes itself in the transaction of its work (see [`Done`]).
    fn run(self, app: &App, id: JobId) -> impl Future<Output = Result<Done, Failure>> + Send;
}

/// How a job ended well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The worker is to remove it.
    Remove,
    /// It removed itself, by [`finish`], in the transaction of its work.
    Removed,
}

/// How a job ended badly: trying again is a decision.
#[derive(Debug)]
pub enum Failure {
    /// Later it may work: again with growing pauses, until the configured number of tries is used up.
    Retry(String),
    /// It was not tried: again soon, and this time does not count.
    NotNow(String),
    /// It will never work: laid aside for an admin.
    Fail(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Retry(error.to_string())
    }
}
impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::Retry(error.to_string())
    }
}

/// Queues `job` in `tx`, to run as soon as that is committed.
///
/// # Errors
/// When the database does.
pub async fn enqueue<J: Job>(app: &App, tx: &mut Tx, job: &J) -> Result<()> {
    enqueue_at(app, tx, job, app.clock.now()).await
}

/// Queues `job` in `tx`, to run at `run_at`.
///
/// # Errors
/// When the database does.
pub async fn enqueue_at<J: Job>(app: &App, tx: &mut Tx, job: &J, run_at: Time) -> Result<()> {
    let payload = serde_json::to_value(job).map_err(Error::internal)?;
    let new = store::job::NewJob {
        id: app.ids.next(),
        lane: J::LANE,
        kind: J::KIND,
        key: job.key(),
        payload,
        run_at,
        now: app.clock.now(),
    };
    Ok(store::job::insert(tx, new).await?)
}

/// Removes a job in the transaction of its work.
///
/// # Errors
/// When the database does.
pub async fn finish(tx: &mut Tx, id: JobId) -> Result<(), Failure> {
    Ok(store::job::delete(tx, id).await?)
}

/// Runs a job by the name of its kind. Every kind stands here.
async fn dispatch(app: &App, row: store::job::JobRow) -> Result<Done, Failure> {
    if let Some(name) = plugin::plugin_of(&row.kind).map(str::to_owned) {
        return app.plugins.pinned(Box::pin(plugin::run(app, &name, row))).await;
    }
    macro_rules! kinds {
        ($($kind:ty),* $(,)?) => {
            match row.kind.as_str() {
                $(<$kind>::KIND => {
                    let job: $kind = serde_json::from_value(row.payload.0).map_err(|error| Failure::Fail(format!("payload: {error}")))?;
                    job.run(app, row.id).await
                })*
                other => Err(Failure::Fail(format!("unknown kind {other}"))),
            }
        };
    }
    kinds!(
        cron::Clean,
        send_mail::SendMail,
        accept_requests::AcceptRequests,
        expire_mute::ExpireMute,
        feed::FanOut,
        feed::Merge,
        feed::Unmerge,
        feed::Rebuild,
        forget_account::ForgetAccount,
        generate_key::GenerateKey,
        judge_notices::JudgeNotices,
        purge_media::PurgeMedia,
        purge_profile_images::PurgeProfileImages,
        record_changes::RecordChanges,
        remove_account::RemoveAccount,
        tend_feeds::TendFeeds,
        trim_feeds::TrimFeeds,
    )
}
