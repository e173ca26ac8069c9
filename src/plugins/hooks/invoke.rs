//! Calls of hooks: limited in time, counted and reported.

use std::future::Future;
use std::sync::atomic::Ordering;
use tokio::time::Instant;

use rookery_plugin_host::CallError;

use super::subscription::Subscription;
use crate::Cx;

impl Subscription {
    /// Awaits a synchronous call on behalf of `person` (as [`CallError::person`]): for its time limit at most, and for what
    /// remains of the request's budget.
    ///
    /// # Errors
    /// The call's own; [`CallErrorKind::Wall`](rookery_plugin_host::CallErrorKind::Wall) on timeout.
    pub async fn ask<T>(
        &self,
        cx: &Cx,
        person: Option<i64>,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let hook_limits = &cx.plugins.hook_limits;
        let limit = hook_limits.stretch(self.timeout).min(cx.hook_time_left());
        let limited = async {
            let answer = hook_limits.limited(limit, call).await;
            answer.map_err(|error| CallError { person: error.person.or(person), ..error })
        };
        self.count(cx, limited).await
    }

    /// Counts a call, and reports it if it failed.
    ///
    /// # Errors
    /// The call's own.
    pub async fn count<T>(&self, cx: &Cx, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        cx.plugins.pauses.check(&self.active)?;
        let began = Instant::now();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = call.await.map_err(|error| cx.plugins.pauses.as_busy_if_paused(&self.active, error));
        let (plugin, hook) = (self.active.name().to_owned(), self.moment.as_str());
        let outcome = if answer.is_ok() { "ok" } else { "failed" };
        metrics::counter!("rookery_plugin_hooks_total", "plugin" => plugin.clone(), "hook" => hook, "outcome" => outcome)
            .increment(1);
        metrics::histogram!("rookery_plugin_hook_seconds", "plugin" => plugin, "hook" => hook)
            .record(began.elapsed().as_secs_f64());
        if let Err(error) = &answer {
            self.failures.fetch_add(1, Ordering::Relaxed);
            cx.plugins.report(&self.active, "hook", hook, error);
        }
        answer
    }

    /// As [`Subscription::ask`], and charges the time to the request's budget: for a call that is not concurrent with
    /// others.
    ///
    /// # Errors
    /// As [`Subscription::ask`].
    pub async fn ask_alone<T>(
        &self,
        cx: &Cx,
        person: Option<i64>,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        cx.spend_hook_time(self.ask(cx, person, call)).await
    }
}
