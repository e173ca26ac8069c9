//! SQL errors: as failures with codes (`sql.…`) for the plugin, as sentences for its admin.

use rookery_plugin_host::imports::types::Failure;

use store::confined::ConfinedError;

/// A failure with a specific code.
pub(super) fn failure(status: u16, code: &str, message: impl Into<String>) -> Failure {
    Failure { status, code: format!("sql.{code}"), message: message.into(), detail: None }
}

/// The failure for an unknown statement.
pub(super) fn unknown(name: &str) -> Failure {
    failure(404, "unknown", format!("no statement is called {name}"))
}

/// The failure for `error` in the statement `name`.
pub(super) fn of(name: &str, error: &ConfinedError, bare: impl Fn(&str) -> String) -> Failure {
    let told = |status, code| failure(status, code, format!("{name}: {error}"));
    match error {
        ConfinedError::Time(_) => told(429, "time"),
        ConfinedError::Bytes(_) => told(429, "bytes"),
        ConfinedError::Denied(_) => failure(403, "denied", format!("{name}: it reaches beyond what was granted")),
        ConfinedError::Unique(table) => {
            let table = bare(table);
            let mut failure = failure(409, "unique", format!("{name}: a row like this is there already in {table}"));
            failure.detail = Some(serde_json::json!({ "table": table }).to_string());
            failure
        }
        ConfinedError::ForeignKey => told(409, "foreign-key"),
        ConfinedError::Constraint(_) => told(422, "constraint"),
        ConfinedError::RolledBack => told(409, "undone"),
        ConfinedError::Statement(_) => told(500, "failed"),
        ConfinedError::Unavailable(_) => failure(503, "unavailable", format!("{name}: the database is busy")),
    }
}
