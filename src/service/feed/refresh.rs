//! Work in the background that completes a response, which a client may follow: the visit to a thread that fills it.
//!
//! Reached from `GET /api/v1/statuses/{id}/context`, whose header names the refresh, and from
//! `GET /api/v1_alpha/async_refreshes/{id}`. Nothing is stored for a refresh: its id has the status, the number of
//! public statuses in the thread, the time and a tag that only this server makes, and its state is the state of the job. So
//! every node has the response, and their number needs no bound.
//!
//! Spec: <https://docs.joinmastodon.org/methods/async_refreshes/>, docs/contract/rules.md#10-statuses

use chrono::TimeDelta;

use context::Cx;
use context::error::{Error, Result};
use context::queue::{FillReplies, Job as _};
use model::{Actor, StatusId, Time};

use crate::access::visibility;

/// How long the id of a refresh is valid.
const VALIDITY: TimeDelta = TimeDelta::hours(1);
/// Most statuses of a thread that are counted.
const COUNTED: i64 = 4_096;
/// Purpose of the tags.
const PURPOSE: &str = "async refresh";

/// A refresh, as it is now.
#[derive(Clone, Debug)]
pub struct Refresh {
    pub id: String,
    pub is_running: bool,
    /// The number of public and unlisted statuses that came to the thread since the id was made. Others are not counted:
    /// the number would show that there are some.
    pub results: i64,
}

/// The visit to the thread of `status`, which is queued or running.
pub(crate) async fn begin(cx: &Cx, status: StatusId) -> Result<Refresh> {
    let known = store::timeline::count_thread(&cx.db, status, COUNTED).await?;
    let parts = [status.to_string(), known.to_string(), cx.clock.now().timestamp().to_string()];
    let id = format!("{}.{}", parts.join("."), tag(cx, &parts.each_ref().map(String::as_str)));
    Ok(Refresh { id, is_running: true, results: 0 })
}

/// True while a visit to the thread of `status` is queued or running, on any node.
pub(crate) async fn is_visited(cx: &Cx, status: StatusId) -> Result<bool> {
    Ok(store::job::exists(&cx.db, FillReplies::KIND, &status.to_string()).await?)
}

/// The refresh `id`.
///
/// # Errors
/// [`Error::NotFound`] when this server did not make the id, when it is too old, and when the status is hidden from
/// `viewer`.
#[model::use_case]
pub async fn find(cx: &Cx, viewer: &Actor, id: &str) -> Result<Refresh> {
    let parts: Vec<&str> = id.splitn(4, '.').collect();
    let [status, known, seconds, sent] = parts[..] else { return Err(Error::NotFound) };
    if !crypto::same(&tag(cx, &[status, known, seconds]), sent) {
        return Err(Error::NotFound);
    }
    let made = seconds.parse::<i64>().ok().and_then(|seconds| seconds.checked_mul(1_000_000)).map(Time::from_micros);
    let is_valid = made.is_some_and(|made| cx.clock.now() - made < VALIDITY);
    let (Ok(status), Ok(known), true) = (status.parse::<StatusId>(), known.parse::<i64>(), is_valid) else {
        return Err(Error::NotFound);
    };
    visibility::status(cx, Some(viewer), status).await?;
    // The job first: a status that comes between the two statements is counted.
    let is_running = is_visited(cx, status).await?;
    let now = store::timeline::count_thread(&cx.db, status, COUNTED).await?;
    Ok(Refresh { id: id.to_owned(), is_running, results: (now - known).max(0) })
}

fn tag(cx: &Cx, parts: &[&str]) -> String {
    cx.keys.tags(PURPOSE).of(parts)
}
