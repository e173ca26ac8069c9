//! SQL errors: as failures with codes (`sql.…`) for the plugin, as sentences for its admin.

use rookery_plugin_host::imports::types::Failure;

use store::confined::Failed;

/// A failure with a specific code.
pub(super) fn failure(status: u16, code: &str, message: impl Into<String>) -> Failure {
    Failure { status, code: format!("sql.{code}"), message: message.into(), detail: None }
}

/// The failure for an unknown statement.
pub(super) fn unknown(name: &str) -> Failure {
    failure(404, "unknown", format!("no statement is called {name}"))
}

/// The failure for `error` in the statement `name`.
pub(super) fn of(name: &str, error: &Failed, bare: impl Fn(&str) -> String) -> Failure {
    let told = |status, code| failure(status, code, format!("{name}: {error}"));
    match error {
        Failed::Time(_) => told(429, "time"),
        Failed::Bytes(_) => told(429, "bytes"),
        Failed::Denied(_) => failure(403, "denied", format!("{name}: it reaches beyond what was granted")),
        Failed::Unique(table) => {
            let table = bare(table);
            let mut failure = failure(409, "unique", format!("{name}: a row like this is there already in {table}"));
            failure.detail = Some(serde_json::json!({ "table": table }).to_string());
            failure
        }
        Failed::ForeignKey => told(409, "foreign-key"),
        Failed::Constraint(_) => told(422, "constraint"),
        Failed::Undone => told(409, "undone"),
        Failed::Statement(_) => told(500, "failed"),
        Failed::Unavailable(_) => failure(503, "unavailable", format!("{name}: the database is busy")),
    }
}
