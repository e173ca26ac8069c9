//! The kinds and deduplication keys of jobs of plugins.

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
