//! The kinds, deduplication keys and payloads of jobs of plugins.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Prefix of the kinds of plugin jobs.
const PREFIX: &str = "plugin.";

/// The kind of all jobs of the plugin called `name`.
#[must_use]
pub(crate) fn kind_of(name: &str) -> String {
    format!("{PREFIX}{name}")
}

/// The deduplication key of a job of `kind` that is unique by `unique`.
#[must_use]
pub(crate) fn key_of(kind: &str, unique: &str) -> String {
    format!("{kind}:{unique}")
}

/// The key of a job that is never deduplicated.
#[must_use]
pub(crate) fn key_of_one(id: i64) -> String {
    format!("#{id}")
}

/// The name of the plugin that jobs of `kind` belong to.
pub(crate) fn plugin_of(kind: &str) -> Option<&str> {
    kind.strip_prefix(PREFIX)
}

/// The payload of a plugin job's row.
#[derive(Debug, Serialize, Deserialize)]
pub struct Queued {
    /// The plugins whose actions led to it, as JSON; none for a schedule.
    #[serde(default)]
    pub origin: Option<String>,
    /// One of the kinds that the manifest declares.
    pub kind: String,
    /// The payload that the plugin gave it.
    pub payload: Value,
    /// Attempts before it is a dead letter; 0 for the queue's default.
    pub max_attempts: u8,
    /// Milliseconds since the epoch.
    pub scheduled_for: i64,
}

impl From<Queued> for Value {
    fn from(queued: Queued) -> Self {
        serde_json::json!({
            "origin": queued.origin,
            "kind": queued.kind,
            "payload": queued.payload,
            "max_attempts": queued.max_attempts,
            "scheduled_for": queued.scheduled_for,
        })
    }
}
