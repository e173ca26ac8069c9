//! `rookery audit`: the changes that the staff and operators made.

use clap::Args;
use serde::Serialize;

use context::Cx;
use model::{Cursor, RowId};
use service::audit::{self, AuditEntry, AuditFilter};
use service::staff;
use terminal::{Failure, Output};

/// Entries per query.
const PAGE: i64 = 200;

#[derive(Debug, Args)]
pub(super) struct Filter {
    /// Only changes by this member of staff
    #[arg(long, value_name = "NAME")]
    account: Option<String>,
    /// Only this action, such as account.suspend, or all actions on a kind of target, such as account
    #[arg(long)]
    action: Option<String>,
    /// Only changes of one target: its kind, such as account, and its id
    #[arg(long, num_args = 2, value_names = ["KIND", "ID"])]
    target: Option<Vec<String>>,
    /// Most entries that are listed
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=1_000_000))]
    limit: i64,
}

#[derive(Serialize)]
struct Row {
    id: RowId,
    created_at: String,
    actor: String,
    action: String,
    target_type: String,
    target_id: RowId,
    target: String,
    details: serde_json::Value,
}

/// Prints entries, the newest first.
pub(super) async fn run(cx: &Cx, sent: Filter, output: Output) -> Result<(), Failure> {
    let account = match &sent.account {
        Some(name) => Some(staff::find(cx, name).await?.id),
        None => None,
    };
    let filter = AuditFilter { account, action: sent.action, target: sent.target.as_deref().map(target).transpose()? };
    let (mut left, mut cursor, mut rows) = (sent.limit, Cursor::default(), Vec::new());
    while left > 0 {
        cursor.limit = left.min(PAGE);
        let page = audit::list(cx, &filter, &cursor).await?;
        let Some(last) = page.last() else { break };
        cursor.max_id = Some(last.id.into());
        left -= cursor.limit;
        rows.extend(page.into_iter().map(Row::from));
    }
    output.list(&rows, "There is no such entry.", Row::line)
}

fn target(words: &[String]) -> Result<(String, i64), Failure> {
    let [kind, id] = words else { return Err(Failure::usage("--target takes a kind and an id")) };
    let id = id.parse().ok().filter(|id| *id != 0);
    let id = id.ok_or_else(|| Failure::usage("--target: the id must be a number other than 0"))?;
    Ok((kind.clone(), id))
}

impl From<AuditEntry> for Row {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id,
            created_at: entry.created_at.to_api(),
            actor: entry.actor_name,
            action: entry.action,
            target_type: entry.target_kind,
            target_id: entry.target_id,
            target: entry.target_name,
            details: entry.details.0,
        }
    }
}

impl Row {
    fn line(&self) -> String {
        let details = if self.details.as_object().is_some_and(serde_json::Map::is_empty) {
            String::new()
        } else {
            self.details.to_string()
        };
        let line = format!("{}  {:<20} {:<28} {}  {details}", self.created_at, self.actor, self.action, self.target);
        line.replace(char::is_control, " ").trim_end().to_owned()
    }
}
