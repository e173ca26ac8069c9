//! Applies changes by other processes: settings, rules, emojis, the domain policy, accounts, roles and tokens.
//!
//! Reached in two ways. A command of `rookery` that committed a change sends `POST /refresh` over the admin socket, and
//! returns when the change is applied. And every server polls: on PostgreSQL a command reaches only the server on the
//! same machine, a server's socket may be missing, and not every writer is a command. The desired state of plugins is
//! followed by the poll alone: the commands that change it use the admin routes, which load before they answer.

use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use tokio::task::JoinHandle;

use crate::platform;
use context::{Cx, Result};
use model::job::Lane;
use rookery_http::json::Json;

/// Path of [`apply`] on the admin socket.
pub const PATH: &str = "/refresh";
/// How often a server looks for changes of other processes.
const INTERVAL: Duration = Duration::from_millis(500);

/// `POST /refresh`: answers `{}` once every change that was committed before the request holds in this process. Jobs that
/// the command queued begin before the next poll of their workers.
pub async fn apply(State(cx): State<Cx>) -> rookery_http::Result<impl IntoResponse> {
    refresh(&cx).await?;
    Lane::ALL.iter().for_each(|lane| cx.db.wake_workers(*lane));
    Ok(Json::empty())
}

/// Refreshes until it is aborted, the first time immediately: a command that found no socket yet may have made a change
/// while the server started.
pub async fn poll(cx: Cx) {
    let mut following: Option<JoinHandle<()>> = None;
    loop {
        // Clears a fault that is over, also where no load balancer checks readiness.
        if cx.db.fault().is_some() {
            cx.db.check_writing().await;
        }
        if let Err(error) = cx.node.check_clock().await {
            context::log_failure!(error, "could not reschedule jobs after the clock was set back");
        }
        if let Err(error) = refresh(&cx).await {
            context::log_failure!(error, "could not look for changed settings");
        }
        if following.as_ref().is_none_or(JoinHandle::is_finished) {
            // In a separate task: loading may take long, and settings must not wait for it.
            following = Some(tokio::spawn(platform::follow_changes(cx.clone())));
        }
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Applies what other processes committed so far.
async fn refresh(cx: &Cx) -> Result<()> {
    if cx.invalidate().await? {
        tracing::info!("settings, rules, emojis, the domain policy or plugins changed and were read again");
    }
    platform::reload_pauses(cx).await
}
