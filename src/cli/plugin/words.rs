//! Human-readable output of `rookery plugin`.

use std::fmt::Write as _;

use serde_json::Value;

use plugins::admin::ConfigKey;
use plugins::admin::entity::OrderRow;
use text::printable::escaped;

/// A plugin in the list.
pub(super) fn row(plugin: &Value) -> String {
    format!(
        "{:<24} {:<10} {:<12} {}",
        word(&plugin["name"]),
        word(&plugin["version"]),
        word(&plugin["state"]),
        remark(plugin)
    )
}

/// The last column: the reason why the plugin is not loaded, its wait, or its description.
fn remark(plugin: &Value) -> String {
    let missing = words(&plugin["missing"]);
    let waiting = plugin["waiting"]["version"].as_str().filter(|_| plugin["enabled"] == true);
    // The wait of an upgrade is more informative than the different digest.
    if let Some(version) = waiting.filter(|_| !missing.is_empty()) {
        return format!("{version} waits for a grant of {missing}");
    }
    if let Some(sentence) = plugin["error"]["sentence"].as_str() {
        return escaped(sentence).into_owned();
    }
    if plugin["rolled_back"].is_object() {
        return rolled_back(&plugin["rolled_back"], &word(&plugin["name"]));
    }
    if plugin["enabled"] == true && !missing.is_empty() {
        return format!("waits for a grant of {missing}");
    }
    if let Some(version) = waiting {
        return format!("{version} waits: `rookery plugin reload {}` accepts it", word(&plugin["name"]));
    }
    word(&plugin["title"])
}

/// That the plugin was rolled back, from which version, and why if that is known.
fn rolled_back(from: &Value, name: &str) -> String {
    let version =
        from["version"].as_str().map_or_else(|| word(&from["digest"]).chars().take(12).collect(), str::to_owned);
    match from["sentence"].as_str() {
        Some(sentence) => format!("rolled back from {version}: {}", escaped(sentence)),
        None => format!("{version} failed or was rolled back: `rookery plugin reload {name}` tries it again"),
    }
}

/// The permissions and declarations of a plugin, for consent.
pub(super) fn request(detail: &Value) -> String {
    let version = detail["waiting"]["version"].as_str().or(detail["version"].as_str()).unwrap_or_default();
    let mut text = format!("{} {version}: {}", word(&detail["name"]), word(&detail["description"]));
    table(&mut text, "routes", &["methods", "path", "auth", "scopes"], &detail["routes"]);
    table(&mut text, "pages", &["path", "title", "auth", "permission"], &detail["pages"]);
    table(&mut text, "hooks", &["on", "policy", "fields", "kinds"], &detail["hooks"]);
    table(&mut text, "search", &["my"], &detail["searches"]);
    table(&mut text, "cleanup", &["title"], &detail["cleanups"]);
    table(&mut text, "schedules", &["cron", "job"], &detail["schedules"]);
    let permissions = if detail["before"].is_null() { "permissions" } else { "new permissions" };
    lines(&mut text, permissions, &detail["missing"]);
    text
}

/// A package for installation: its origin, signer, declarations and permissions.
pub(super) fn review(review: &Value) -> String {
    let mut text = request(review);
    let mut row = |key: &str, value: String| {
        let _ = write!(text, "\n{key:<8} {value}");
    };
    row("from", word(&review["source"]));
    row("sha256", word(&review["sha256"]));
    row("digest", word(&review["digest"]));
    let key = word(&review["key"]);
    row(
        "key",
        match review["trust"].as_str() {
            Some("known") => format!("{key}, which is trusted for this plugin"),
            Some("new") => format!("{key}, which is new: compare it with the key that the author publishes"),
            Some("replaced") => format!("{key}, in the place of the one that was trusted"),
            _ => "none: the package is not signed".to_owned(),
        },
    );
    let index_key = word(&review["index_key"]);
    match review["index_trust"].as_str() {
        Some("known") => row("index", format!("signed with {index_key}, which is trusted for it")),
        Some("new") => row("index", format!("signed with {index_key}, which was not seen before")),
        Some("replaced") => row("index", format!("signed with {index_key}, in the place of the one that was trusted")),
        Some(_) => row("index", "not signed".to_owned()),
        None => {}
    }
    if let Some(before) = review["before"].as_str() {
        row("here is", escaped(before).into_owned());
    }
    text
}

/// A package that was verified.
pub(super) fn verified(verified: &Value) -> String {
    let mut text = format!("{}.\n", word(&verified["sentence"]));
    for key in ["origin", "sha256", "digest", "key", "key_id", "comment", "installed_at", "source"] {
        let value = word(&verified[key]);
        if !value.is_empty() {
            let _ = writeln!(text, "  {key:<14} {value}");
        }
    }
    text
}

/// The output after a running server applied a change.
pub(super) fn changed(detail: &Value) -> String {
    let (name, version) = (word(&detail["name"]), word(&detail["version"]));
    match detail["generation"].as_u64() {
        Some(generation) => format!("{name} {version} serves since generation {generation}.\n{}", granted(detail)),
        None => format!("{name} does not serve.\n"),
    }
}

/// The keys of a configuration: value, type and description.
pub(super) fn config(name: &str, keys: &[ConfigKey]) -> String {
    if keys.is_empty() {
        return format!("{name} has no configuration.\n");
    }
    let mut text = String::new();
    for ConfigKey { key, value, default, description } in keys {
        let set = if value == default { "default".to_owned() } else { format!("default {default}") };
        let (key, description) = (escaped(key), escaped(description));
        let line = format!("{key}={}  ({})  {description}", escaped(&value.to_string()), escaped(&set));
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The output after a change that no server has applied yet.
pub(super) fn desired(detail: &Value) -> String {
    let name = word(&detail["name"]);
    if detail["enabled"] == true {
        format!(
            "{name} {} is enabled, and serves once a server has loaded it.\n{}",
            word(&detail["version"]),
            granted(detail)
        )
    } else {
        format!("{name} is disabled.\n")
    }
}

fn granted(detail: &Value) -> String {
    let granted = words(&detail["granted"]);
    if granted.is_empty() { "It was granted nothing.\n".to_owned() } else { format!("It may use {granted}.\n") }
}

/// Sections shown as tables, with their columns from left to right.
const TABLES: [(&str, &[&str]); 13] = [
    ("routes", &["methods", "path", "auth", "scopes", "id", "native"]),
    ("pages", &["path", "title", "auth", "permission", "id"]),
    ("searches", &["my", "among", "newest"]),
    ("cleanups", &["title", "id", "statement"]),
    ("hooks", &["on", "policy", "priority", "fields", "kinds"]),
    ("schedules", &["cron", "job"]),
    ("statements", &["name", "writes", "reads", "changes"]),
    ("quotas", &["limit", "used", "most", "refused"]),
    ("breakers", &["kind", "name", "state", "openings"]),
    ("parked", &["seq", "created_at", "stream", "kind", "subject_id", "error"]),
    ("failures", &["at", "generation", "kind", "name", "ended", "message", "backtrace"]),
    ("installs", &["at", "version", "digest", "key", "source"]),
    ("history", &["at", "what", "version", "generation", "took_ms", "digest", "stage", "sentence"]),
];

/// All details, by section.
pub(super) fn detail(detail: &Value) -> String {
    let mut text = String::new();
    for key in [
        "name",
        "title",
        "version",
        "state",
        "since",
        "generation",
        "digest",
        "sha256",
        "origin",
        "source",
        "key",
        "config_version",
        "events_waiting",
        "events_parked",
    ] {
        let _ = writeln!(text, "{key:<16} {}", word(&detail[key]));
    }
    let _ = writeln!(text, "{:<16} {}", "granted", words(&detail["granted"]));
    if let Some(sentence) = detail["error"]["sentence"].as_str() {
        let _ = writeln!(text, "{:<16} {}: {}", "error", word(&detail["error"]["stage"]), escaped(sentence));
    }
    for section in ["missing", "commands"] {
        lines(&mut text, section, &detail[section]);
    }
    for (section, columns) in TABLES {
        table(&mut text, section, columns, &detail[section]);
    }
    for section in ["limits", "usage", "config", "secrets"] {
        members(&mut text, section, &detail[section]);
    }
    text
}

fn lines(text: &mut String, section: &str, list: &Value) {
    let lines = list.as_array().map(Vec::as_slice).unwrap_or_default();
    if !lines.is_empty() {
        let _ = writeln!(text, "\n{section}");
    }
    for line in lines {
        let _ = writeln!(text, "  {}", word(line));
    }
}

/// A table with a header; columns are as wide as their content, and empty ones are left out.
fn table(text: &mut String, section: &str, columns: &[&str], rows: &Value) {
    let rows = rows.as_array().map(Vec::as_slice).unwrap_or_default();
    if rows.is_empty() {
        return;
    }
    let columns = columns.iter().map(|name| {
        let words: Vec<String> = rows.iter().map(|row| word(&row[*name])).collect();
        (name, words)
    });
    let columns: Vec<_> = columns.filter(|(_, words)| words.iter().any(|word| !word.is_empty())).collect();
    let mut lines = vec![String::new(); rows.len() + 1];
    for (name, words) in columns {
        let cells = || std::iter::once(*name).chain(words.iter().map(String::as_str));
        let width = cells().map(|cell| cell.chars().count()).max().unwrap_or(0);
        for (line, cell) in lines.iter_mut().zip(cells()) {
            let _ = write!(line, "  {cell:<width$}");
        }
    }
    let _ = writeln!(text, "\n{section}");
    for line in lines {
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

fn members(text: &mut String, section: &str, members: &Value) {
    let Some(members) = members.as_object().filter(|members| !members.is_empty()) else { return };
    let _ = writeln!(text, "\n{section}");
    for (key, value) in members {
        let _ = writeln!(text, "  {key:<20} {}", word(value));
    }
}

/// A log line.
pub(super) fn log(line: &Value) -> String {
    format!("{} {:<5} {}", word(&line["at"]), word(&line["level"]), word(&line["message"]))
}

/// One line per plugin, in the order of calls.
pub(super) fn place(row: &OrderRow) -> String {
    let kinds = if row.kinds.is_empty() { String::new() } else { format!("  kinds {}", row.kinds.join(", ")) };
    format!("{:<24} {}{kinds}", row.plugin, row.priority)
}

fn words(list: &Value) -> String {
    list.as_array().into_iter().flatten().map(word).collect::<Vec<_>>().join(", ")
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // Packages and plugins wrote it.
        Value::String(text) => escaped(text).into_owned(),
        Value::Array(_) => words(value),
        other => other.to_string(),
    }
}
