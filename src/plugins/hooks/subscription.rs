//! One hook of one plugin, ready to be asked: its predicate, its limits, what happens when it gives no answer.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rookery_plugin_host::{CallError, Fault};

use super::budget;
use super::field::Field;
use super::when::Predicate;
use crate::app::App;
use crate::plugins::Active;
use crate::plugins::manifest::{self, Hook, Moment, Policy};

/// Most events of one call.
const EVENTS: usize = 256;
/// Most statuses of one call that asks where they should appear.
const STATUSES: usize = 64;
/// How long the first of those statuses waits for others.
const GATHER: Duration = Duration::from_millis(50);

/// A hook of a plugin.
#[derive(Debug)]
pub struct Subscription {
    /// The plugin.
    pub active: Arc<Active>,
    /// When it is asked.
    pub moment: Moment,
    /// What happens when it gives no answer.
    pub policy: Policy,
    /// About which statuses.
    pub when: Predicate,
    /// How long it may take, for a moment at which somebody waits.
    pub timeout: Duration,
    /// Most things of one call.
    pub batch: usize,
    /// How long the first of them waits for others.
    pub gather: Duration,
    /// Kinds, types or words, by the moment.
    pub kinds: Vec<String>,
    /// Parameters of the request that it is shown.
    pub params: Vec<String>,
    /// Members that it adds.
    pub fields: Vec<Field>,
    /// What it says is kept.
    pub keeps: bool,
    calls: AtomicU64,
    failures: AtomicU64,
}

/// How long a hook may take where its manifest does not say.
fn usual(moment: Moment) -> Duration {
    match moment {
        Moment::StatusFilter => Duration::from_millis(200),
        Moment::NotificationFilter => Duration::from_millis(20),
        Moment::Decorate => Duration::from_millis(100),
        Moment::Channels => Duration::from_secs(1),
        Moment::ActivityFilter | Moment::ActivityHandler | Moment::Events | Moment::Fanout => Duration::from_secs(30),
    }
}

impl Subscription {
    /// The subscription of `active` by `hook`, which the manifest's rules let pass.
    pub(super) fn new(active: &Arc<Active>, hook: &Hook) -> Result<Self, Fault> {
        let duration = |text: Option<&str>| text.and_then(manifest::duration);
        let (most, gather) = match hook.on {
            Moment::Fanout => (STATUSES, GATHER),
            _ => (EVENTS, Duration::ZERO),
        };
        let wait = hook.batch.as_ref().and_then(|batch| batch.wait.as_deref());
        Ok(Self {
            active: Arc::clone(active),
            moment: hook.on,
            policy: hook.policy.unwrap_or(manifest::policies(hook.on)[0]),
            when: Predicate::new(active.name(), &hook.when)?,
            timeout: duration(hook.timeout.as_deref()).unwrap_or_else(|| usual(hook.on)),
            batch: hook.batch.as_ref().map_or(most, |batch| batch.max.clamp(1, most)),
            gather: duration(wait).map_or(gather, |wait| wait.min(Duration::from_secs(5))),
            kinds: hook.kinds.clone(),
            params: hook.params.clone(),
            fields: hook.fields.iter().map(|name| Field::new(name, hook.defaults.get(name))).collect(),
            keeps: hook.cache.is_some(),
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// True when `kind` is one that it asked for.
    #[must_use]
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }

    /// How often it was called, and how often that did not end well.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.failures.load(Ordering::Relaxed))
    }

    /// Waits for an answer while somebody waits for ours: not longer than the hook may take, and than the request has
    /// left for hooks.
    ///
    /// # Errors
    /// As the call; [`Ended::Wall`](rookery_plugin_host::Ended::Wall) when it takes too long.
    pub async fn ask<T>(&self, app: &App, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        let patience = &app.plugins.patience;
        let limit = patience.stretch(self.timeout).min(patience.left());
        self.count(app, patience.limited(limit, call)).await
    }

    /// Counts a call, and reports it when it did not end well.
    ///
    /// # Errors
    /// As the call.
    pub async fn count<T>(&self, app: &App, call: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        app.plugins.pauses.check(&self.active)?;
        let began = Instant::now();
        self.calls.fetch_add(1, Ordering::Relaxed);
        let answer = call.await.map_err(|error| app.plugins.pauses.excuse(&self.active, error));
        let (plugin, hook) = (self.active.name().to_owned(), self.moment.as_str());
        let outcome = if answer.is_ok() { "ok" } else { "failed" };
        metrics::counter!("rookery_plugin_hooks_total", "plugin" => plugin.clone(), "hook" => hook, "outcome" => outcome)
            .increment(1);
        metrics::histogram!("rookery_plugin_hook_seconds", "plugin" => plugin, "hook" => hook)
            .record(began.elapsed().as_secs_f64());
        if let Err(error) = &answer {
            self.failures.fetch_add(1, Ordering::Relaxed);
            app.plugins.report(&self.active, "hook", hook, error);
        }
        answer
    }

    /// As [`Subscription::ask`], when nothing else goes on meanwhile.
    ///
    /// # Errors
    /// As [`Subscription::ask`].
    pub async fn ask_alone<T>(
        &self,
        app: &App,
        call: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        budget::spend(self.ask(app, call)).await
    }
}
