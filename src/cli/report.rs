//! `rookery report list|show|resolve|reopen`: reports of accounts to the staff.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::report::ReportCategory;
use model::{Account, RowId, RuleId, Staff, StatusId};
use service::report::{self, NamedReport};
use terminal::{Failure, Output};

/// Most reports that are listed.
const LISTED_MAX: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the unresolved reports, newest first
    List {
        /// List resolved reports as well
        #[arg(long)]
        all: bool,
    },
    /// Show a report
    Show {
        /// Id of the report
        id: i64,
    },
    /// Mark a report as resolved
    Resolve {
        /// Id of the report
        id: i64,
    },
    /// Open a resolved report again
    Reopen {
        /// Id of the report
        id: i64,
    },
}

#[derive(Serialize)]
struct ReportRow {
    id: RowId,
    created_at: String,
    category: ReportCategory,
    account: Option<String>,
    target_account: Option<String>,
    comment: String,
    status_ids: Vec<StatusId>,
    rule_ids: Vec<RuleId>,
    forwarded: bool,
    forward_to_domains: Vec<String>,
    action_taken_at: Option<String>,
}

#[derive(Serialize)]
struct Changed {
    id: RowId,
    changed: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List { all } => {
            let reports = report::list(cx, all, LISTED_MAX).await?;
            let shown: Vec<ReportRow> =
                report::with_accounts(cx, reports).await?.into_iter().map(ReportRow::from).collect();
            output.answer(&shown, || shown.iter().map(ReportRow::line).collect())
        }
        Command::Show { id } => {
            let found = report::find(cx, RowId::from(id)).await?;
            let shown: Vec<ReportRow> =
                report::with_accounts(cx, vec![found]).await?.into_iter().map(ReportRow::from).collect();
            shown.iter().try_for_each(|shown| output.answer(shown, || shown.text()))
        }
        Command::Resolve { id } => set_resolved(cx, id, true, output).await,
        Command::Reopen { id } => set_resolved(cx, id, false, output).await,
    }
}

async fn set_resolved(cx: &Cx, id: i64, resolved: bool, output: Output) -> Result<(), Failure> {
    let id = RowId::from(id);
    let changed = report::set_resolved(cx, &Staff::operator(), id, resolved).await?;
    let state = if resolved { "resolved" } else { "open" };
    let since = if changed { "now" } else { "already" };
    output.answer(&Changed { id, changed }, || format!("The report {id} is {since} {state}."))
}

impl From<NamedReport> for ReportRow {
    fn from(NamedReport { report, account, target }: NamedReport) -> Self {
        let acct = |account: Option<Account>| account.map(|account| account.acct());
        Self {
            id: report.id,
            created_at: report.created_at.to_api(),
            category: report.category,
            account: acct(account),
            target_account: acct(target),
            comment: report.comment,
            status_ids: report.status_ids.map(|ids| ids.0).unwrap_or_default(),
            rule_ids: report.rule_ids.map(|ids| ids.0).unwrap_or_default(),
            forwarded: report.forwarded,
            forward_to_domains: report.forward_to_domains.0,
            action_taken_at: report.action_taken_at.map(model::Time::to_api),
        }
    }
}

impl ReportRow {
    fn line(&self) -> String {
        let state = if self.action_taken_at.is_some() { "  (resolved)" } else { "" };
        let target = self.target_account.as_deref().unwrap_or("?");
        format!("{}  {}  {}  @{target}{state}\n", self.id, self.created_at, self.category)
    }

    fn text(&self) -> String {
        let name = |acct: &Option<String>| acct.as_deref().map_or("?".to_owned(), |acct| format!("@{acct}"));
        let ids = |ids: Vec<String>| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
        let (target, account) = (name(&self.target_account), name(&self.account));
        format!(
            "{} was reported by {account}: {}, {}\nStatuses: {}\nRules: {}\nForwarded to: {}\nResolved: {}\n\n{}",
            target,
            self.category,
            self.created_at,
            ids(self.status_ids.iter().map(StatusId::to_string).collect()),
            ids(self.rule_ids.iter().map(RuleId::to_string).collect()),
            ids(self.forward_to_domains.clone()),
            self.action_taken_at.as_deref().unwrap_or("no"),
            // Untrusted text: control characters are removed for the terminal.
            self.comment.replace(|c: char| c.is_control() && c != '\n', " "),
        )
    }
}
