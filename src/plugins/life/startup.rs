//! The plugins of a process that starts: a server loads them while its core serves, a command leaves them to the server.

use std::sync::atomic::Ordering;

use model::boxed;

use super::reconcile::{Outcome, Report, follow, keep_events_for_absent};
use crate::Cx;
use context::error::Result;

/// Before [`start`], which may take long: keeps events for every enabled plugin, and refuses the posts that one of them
/// should check.
#[boxed]
pub async fn prepare(cx: &Cx) {
    cx.starting.begin();
    let _one_at_a_time = cx.plugins.load_lock.lock().await;
    keep_events_for_absent(cx).await;
}

/// Ends the start when it is dropped, also after a panic: the server waits for nothing then.
struct Ending<'a>(&'a Cx);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.starting.end();
    }
}

/// Loads every enabled plugin at start. A plugin that fails does not keep the server from starting.
#[boxed]
pub async fn start(cx: &Cx) -> Vec<Report> {
    let ending = Ending(cx);
    let reports = follow(cx).await;
    drop(ending);
    for report in &reports {
        if let Outcome::Loaded(_) = report.outcome {
            tracing::info!(plugin = %report.name, "the plugin {} serves", report.name);
        }
    }
    reports
}

/// For a command that runs beside a server: leaves events to the plugins of the process that runs them.
#[boxed]
pub async fn leave_to_server(cx: &Cx) -> Result<()> {
    let some = store::plugin::list(&cx.db).await?.iter().any(|plugin| plugin.enabled);
    cx.plugins.elsewhere.store(some, Ordering::Relaxed);
    Ok(())
}
