//! What waits for a plugin, and retrying its dead letters.

use crate::Cx;
use crate::call::job_kind::kind_of;
use crate::life::desired;
use context::error::Result;
use model::Staff;
use serde_json::json;
use service::audit::{self, Entry, Target};
use store::plugin::Plugin;
use store::plugin_event::{self, Parked};

/// Most parked events that an admin is shown in detail.
const PARKED: i64 = 50;

/// What waits for a plugin: events, waiting and parked, and jobs.
#[derive(Debug)]
pub struct Outbox {
    /// Number of events that wait for delivery.
    pub waiting: i64,
    /// Number of parked events (dead letters).
    pub parked: i64,
    /// The first of the parked ones.
    pub first: Vec<Parked>,
    /// Number of jobs that wait.
    pub jobs: i64,
}

/// What waits for `plugin`.
pub async fn outbox(cx: &Cx, plugin: &Plugin) -> Result<Outbox> {
    let (waiting, parked) = plugin_event::count(&cx.db, plugin.id).await?;
    let first = if parked == 0 { Vec::new() } else { plugin_event::list_parked(&cx.db, plugin.id, PARKED).await? };
    let jobs = store::job::count_ready(&cx.db, &kind_of(&plugin.name)).await?;
    Ok(Outbox { waiting, parked, first, jobs })
}

/// Retries the plugin's dead letters; returns how many events that are.
///
/// # Errors
/// [`Error::Invalid`](context::Error::Invalid) when there is no such plugin.
pub async fn retry(cx: &Cx, staff: &Staff, name: &str) -> Result<u64> {
    let plugin = desired::find(cx, name).await?;
    let mut tx = cx.db.begin().await?;
    let count = plugin_event::retry_parked(&mut tx, plugin.id, cx.clock.now()).await?;
    let target = Target::new("plugin", plugin.id, name);
    audit::record(cx, &mut tx, staff, Entry::new("plugin.retry", target).with(json!({ "events": count }))).await?;
    tx.commit().await?;
    Ok(count)
}
