//! SQL errors: as failures with codes (`sql.…`) for the plugin, as sentences for its admin.

use rookery_plugin_host::imports::types::Failure;

use crate::call::transaction_time;
use database::confined::ConfinedError;
use database::confined::functions::MAX_VALUE_BYTES;

/// A failure with a specific code.
pub(super) fn failure(status: u16, code: &str, message: impl Into<String>) -> Failure {
    Failure { status, code: format!("sql.{code}"), message: message.into(), detail: None }
}

/// The failure for an unknown statement.
pub(super) fn unknown(name: &str) -> Failure {
    failure(404, "unknown", format!("no statement is called {name}"))
}

/// The failure for `error` in the statement `name`, whose result may have `most` bytes.
pub(super) fn of(name: &str, error: &ConfinedError, most: usize, bare: impl Fn(&str) -> String) -> Failure {
    let coded = |status, code| failure(status, code, format!("{name}: {error}"));
    match error {
        ConfinedError::Time(most) => {
            let most = most.as_millis();
            failure(429, "time", format!("{name}: it reached the limit of {most} ms for a statement"))
        }
        ConfinedError::TransactionTime => transaction_time(),
        ConfinedError::Bytes(MAX_VALUE_BYTES) => {
            let most = MAX_VALUE_BYTES >> 10;
            failure(429, "bytes", format!("{name}: a value reached the limit of {most} KiB for a value"))
        }
        ConfinedError::Bytes(left) if *left < most => {
            let why = format!("{name}: the result is larger than the {left} bytes that are left of the limit bytes-in");
            failure(429, "bytes", why)
        }
        ConfinedError::Bytes(_) => {
            let most = most >> 20;
            failure(429, "bytes", format!("{name}: the result reached the limit of {most} MiB for a statement"))
        }
        ConfinedError::Denied(_) => failure(403, "denied", format!("{name}: it exceeds the granted permissions")),
        ConfinedError::Unique(table) => {
            let table = bare(table);
            let mut failure = failure(409, "unique", format!("{name}: a row like this is there already in {table}"));
            failure.detail = Some(serde_json::json!({ "table": table }).to_string());
            failure
        }
        ConfinedError::ForeignKey => coded(409, "foreign-key"),
        ConfinedError::Constraint(_) => coded(422, "constraint"),
        ConfinedError::RolledBack => coded(409, "undone"),
        ConfinedError::Statement(_) => coded(500, "failed"),
        ConfinedError::Unavailable(_) => failure(503, "unavailable", format!("{name}: the database is busy")),
    }
}
