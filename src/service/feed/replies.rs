//! When the replies to a remote status are fetched, and how many.

use chrono::TimeDelta;

use context::Cx;
use context::error::Result;
use context::queue::{self, FillReplies};
use model::StatusId;

use super::refresh;

/// Most replies that are fetched with a status (docs/contract/federation.md#7-accepting-activities).
pub const AT_ONCE: u32 = 5;
/// Most replies that are fetched when someone looks at a thread.
const OF_A_THREAD: u32 = 50;
/// Pause between two visits to the replies of one status.
pub const PAUSE: TimeDelta = TimeDelta::minutes(15);

/// How long after its start a visit may still run.
const DURATION_MAX: TimeDelta = TimeDelta::minutes(3);

/// Queues a visit to the thread of a remote status that someone looks at, unless one was recent. True while a visit is
/// queued or running.
#[model::use_case]
pub async fn revisit(cx: &Cx, id: StatusId) -> Result<bool> {
    let Some(thread) = store::remote_thread::find(&cx.db, id).await? else { return Ok(false) };
    let now = cx.clock.now();
    let is_whole = thread.replies_url.is_none() && thread.parent_uri.is_none();
    if is_whole {
        return Ok(false);
    }
    if let Some(last) = thread.replies_fetched_at.filter(|last| now - *last < PAUSE) {
        return Ok(now - last < DURATION_MAX && refresh::is_visited(cx, id).await?);
    }
    let mut tx = cx.db.begin().await?;
    queue::enqueue(cx, &mut tx, &FillReplies { status: id, most: OF_A_THREAD, allowance: cx.hand_on() }).await?;
    tx.commit().await?;
    Ok(true)
}
