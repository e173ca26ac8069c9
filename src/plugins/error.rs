//! Errors that plugins cause, as the core's: a refusal in the plugin's own words, or no answer at all.
//!
//! The opposite direction, from errors of the core to failures for plugins, is `failure`.

use rookery_plugin_host::imports::types::Failure;
use rookery_plugin_host::{CallErrorKind, LoadError};

use crate::hooks::is_value;
use context::error::{Error, NoAnswer, Refusal};

/// [`Error::Refused`] in the words of the plugin.
#[must_use]
pub fn refused(failure: Failure) -> Error {
    let Failure { status, code, message, detail } = failure;
    // Invalid JSON is dropped.
    let detail = detail.filter(|detail| is_value(detail));
    Error::Refused(Refusal { status, code, message, detail })
}

/// The prefixes of the failure codes of host functions; codes of plugins have other prefixes.
const HOST: [&str; 11] = [
    "cache.",
    "core.",
    "feeds.",
    "host.",
    "kv.",
    "limit.",
    "notifications.",
    "queue.",
    "sealing.",
    "sql.",
    "streaming.",
];

/// True for a failure by which a plugin refuses something: below 500, and not one that a host function gave it.
#[must_use]
pub fn is_refusal(failure: &Failure) -> bool {
    (400..500).contains(&failure.status) && !HOST.iter().any(|host| failure.code.starts_with(host))
}

/// True for a failure of a host function that is a mistake in the plugin: an unknown statement, a parameter of the
/// wrong type, a kind that its manifest does not declare, a missing permission. The client cannot fix it.
#[must_use]
pub fn is_own_mistake(failure: &Failure) -> bool {
    const MISTAKES: [&str; 9] = [
        "core.undeclared",
        "core.unknown-kind",
        "feeds.undeclared",
        "host.denied",
        "queue.undeclared",
        "sql.denied",
        "sql.read-only",
        "sql.transaction-open",
        "sql.unknown",
    ];
    MISTAKES.contains(&failure.code.as_str()) || (failure.code == "sql.params" && failure.status == 422)
}

/// [`Error::Plugin`]: `plugin` did not answer, and ended so. `status` where it is not the usual one of that end.
#[must_use]
pub fn no_answer(plugin: &str, ended: CallErrorKind, status: Option<u16>) -> Error {
    let (usual, code) = match ended {
        CallErrorKind::Trap => (500, "plugin.trap"),
        CallErrorKind::Failure => (500, "plugin.failure"),
        CallErrorKind::Cpu | CallErrorKind::Wall => (504, "plugin.timeout"),
        CallErrorKind::Limit => (503, "plugin.limit"),
        CallErrorKind::Busy | CallErrorKind::Open | CallErrorKind::Drained => (503, "plugin.unavailable"),
    };
    Error::Plugin(NoAnswer { plugin: plugin.to_owned(), code, status: status.unwrap_or(usual) })
}

/// A fault of a plugin's package as an error that an admin reads as it is.
#[must_use]
pub fn of_fault(fault: &LoadError) -> Error {
    Error::invalid(fault.to_string())
}
