//! A hook of an active plugin, ready to be called: its predicate, time limit and failure policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rookery_plugin_host::LoadError;
use serde_json::{Map, Value};

use super::field::Field;
use super::predicate::Predicate;
use crate::active::Active;
use plugin_package::manifest::{self, Hook, Keep, Moment, Policy};

/// Most events of one call.
const EVENTS: usize = 256;
/// Most statuses of one `fanout` call.
const STATUSES: usize = 64;
/// How long the first status of a `fanout` batch waits for others.
const GATHER: Duration = Duration::from_millis(50);

/// A hook of a plugin.
#[derive(Debug)]
pub struct Subscription {
    pub active: Arc<Active>,
    /// The moment of the call.
    pub moment: Moment,
    /// What happens when the call fails.
    pub policy: Policy,
    /// Which statuses it is called for.
    pub when: Predicate,
    /// Time limit, for synchronous moments.
    pub timeout: Duration,
    /// Most items of one call.
    pub batch: usize,
    /// How long the first item waits for others.
    pub gather: Duration,
    /// Kinds, types or words, depending on the moment.
    pub kinds: Vec<String>,
    /// Of `kinds` that are notifications, the types that it is asked about; all without any.
    pub types: Vec<String>,
    /// Request parameters that it is given.
    pub params: Vec<String>,
    /// The parameters that name an audience.
    pub audience: Vec<String>,
    /// Members that it adds.
    pub fields: Vec<Field>,
    /// The dependencies of its results, if they may be cached.
    pub keep: Option<Keep>,
    pub(super) calls: AtomicU64,
    pub(super) failures: AtomicU64,
}

/// How long a synchronous call may take; `limits.hook-wall` and the request's budget may be shorter.
fn time_limit(moment: Moment) -> Duration {
    match moment {
        Moment::StatusFilter | Moment::SignUp => Duration::from_millis(200),
        Moment::NotificationFilter => Duration::from_millis(20),
        Moment::Decorate => Duration::from_millis(100),
        Moment::Channels => Duration::from_secs(1),
        Moment::ActivityFilter | Moment::ActivityHandler | Moment::Events | Moment::Fanout => Duration::from_secs(30),
    }
}

impl Subscription {
    /// The subscription of `active` by `hook`, which the manifest's checks accepted.
    pub(super) fn new(active: &Arc<Active>, hook: &Hook) -> Result<Self, LoadError> {
        let (most, gather) = match hook.on {
            Moment::Fanout => (STATUSES, GATHER),
            _ => (EVENTS, Duration::ZERO),
        };
        let wait = hook.batch.as_ref().and_then(|batch| batch.wait.as_deref()).and_then(manifest::duration);
        Ok(Self {
            active: Arc::clone(active),
            moment: hook.on,
            policy: hook.policy.unwrap_or(manifest::policies(hook.on)[0]),
            when: Predicate::new(active.name(), &hook.when)?,
            timeout: time_limit(hook.on),
            batch: hook.batch.as_ref().map_or(most, |batch| batch.max.clamp(1, most)),
            gather: wait.map_or(gather, |wait| wait.min(Duration::from_secs(5))),
            kinds: hook.kinds.clone(),
            types: hook.types.clone(),
            params: hook.params.clone(),
            audience: hook.audience.clone(),
            fields: hook.fields.iter().map(|name| Field::new(name, hook.defaults.get(name))).collect(),
            keep: hook.cache,
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// True when it subscribes to `kind`.
    #[must_use]
    pub fn has_kind(&self, kind: &str) -> bool {
        self.kinds.iter().any(|known| known == kind)
    }

    /// True when it is asked about notifications of the type `name`.
    #[must_use]
    pub fn has_type(&self, name: &str) -> bool {
        self.types.is_empty() || self.types.iter().any(|known| known == name)
    }

    /// True when this plugin decides the audience of a status: the client sent a visibility of the plugin, or a
    /// visibility of the server that leaves the audience open together with a parameter that names one.
    #[must_use]
    pub fn owns_audience(&self, visibility: Option<&str>, params: &Map<String, Value>) -> bool {
        let given = |name: &String| {
            params.get(name).is_some_and(|value| !value.is_null() && value.as_str().is_none_or(|text| !text.is_empty()))
        };
        visibility.is_some_and(|word| {
            self.has_kind(word) || (matches!(word, "limited" | "reply") && self.audience.iter().any(given))
        })
    }

    /// Number of calls, and number of failed calls.
    #[must_use]
    pub fn calls(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.failures.load(Ordering::Relaxed))
    }
}
