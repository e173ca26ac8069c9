//! The export of blocks and allows: as Mastodon exports them, with everything that this server stores, or as plain lists.

use serde_json::{Map, Value, json};

use super::bounds::ListPolicy;
use context::Cx;
use context::error::{Error, Result};
use model::domain_list::ListFormat;
use model::domain_policy::Flags;
use store::domain_policy::Block;

/// The columns of Mastodon's export.
const COLUMNS: &[&str] = &["domain", "severity", "reject_media", "reject_reports", "public_comment", "obfuscate"];
/// Further columns, in addition to the other flags.
const FURTHER: &[&str] = &["hidden", "private_comment"];

/// The columns of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exported {
    /// The columns of Mastodon.
    Common,
    /// All, with the comments for the staff.
    All,
}

/// The blocks or allows of this server, by domain, as a list that can be imported.
///
/// # Errors
/// None of its own.
#[model::use_case]
pub async fn export(cx: &Cx, policy: ListPolicy, format: ListFormat, columns: Exported) -> Result<String> {
    let names = names(policy, columns);
    let rows: Vec<Map<String, Value>> = match policy {
        ListPolicy::Block => store::domain_policy::list_blocks(&cx.db).await?.iter().map(members).collect(),
        ListPolicy::Allow => {
            let allows = store::domain_policy::list_allows(&cx.db).await?;
            allows.into_iter().map(|allow| Map::from_iter([("domain".to_owned(), json!(allow.domain))])).collect()
        }
    };
    match format {
        ListFormat::Csv => csv_text(&names, &rows),
        ListFormat::Plain => Ok(rows.iter().map(|row| format!("{}\n", cell(&row["domain"]))).collect()),
        ListFormat::Json => {
            let kept = |mut row: Map<String, Value>| {
                row.retain(|name, _| names.contains(&name.as_str()));
                row
            };
            serde_json::to_string_pretty(&rows.into_iter().map(kept).collect::<Vec<_>>()).map_err(Error::internal)
        }
    }
}

fn names(policy: ListPolicy, columns: Exported) -> Vec<&'static str> {
    match (policy, columns) {
        (ListPolicy::Allow, _) => vec!["domain"],
        (ListPolicy::Block, Exported::Common) => COLUMNS.to_vec(),
        (ListPolicy::Block, Exported::All) => {
            let flags = Flags::NAMES.iter().filter(|flag| !COLUMNS.contains(flag));
            COLUMNS.iter().chain(flags).chain(FURTHER).copied().collect()
        }
    }
}

fn members(block: &Block) -> Map<String, Value> {
    let set = block.flags.names();
    let mut members = Map::new();
    for flag in Flags::NAMES {
        members.insert((*flag).to_owned(), json!(set.contains(flag)));
    }
    for (name, value) in [
        ("domain", json!(block.domain)),
        ("severity", json!(block.severity)),
        ("obfuscate", json!(block.obfuscate)),
        ("hidden", json!(block.hidden)),
        ("public_comment", json!(block.public_comment)),
        ("private_comment", json!(block.private_comment)),
    ] {
        members.insert(name.to_owned(), value);
    }
    members
}

fn csv_text(names: &[&str], rows: &[Map<String, Value>]) -> Result<String> {
    let mut file = csv::Writer::from_writer(Vec::new());
    file.write_record(names.iter().map(|name| format!("#{name}"))).map_err(Error::internal)?;
    for row in rows {
        let cells = names.iter().map(|name| row.get(*name).map_or_else(String::new, cell));
        file.write_record(cells).map_err(Error::internal)?;
    }
    let bytes = file.into_inner().map_err(Error::internal)?;
    String::from_utf8(bytes).map_err(Error::internal)
}

/// A value as Mastodon writes it.
fn cell(value: &Value) -> String {
    match value {
        Value::Bool(true) => "TRUE".to_owned(),
        Value::Bool(false) => "FALSE".to_owned(),
        Value::String(text) => text.clone(),
        _ => String::new(),
    }
}
