//! `rookery report …`: reports of accounts to the staff, as `/api/v1/admin/reports` does it.

use clap::Subcommand;
use serde::Serialize;

use super::status::{StatusRow, plain};
use context::Cx;
use context::error::Error;
use model::report::ReportCategory;
use model::{Account, Cursor, RowId, RuleId, Staff, StatusId};
use service::held_status;
use service::moderation::report::{self, NamedReport, ReportNote};
use service::staff;
use terminal::{Failure, Output};

/// Most reports that are listed.
const LISTED_MAX: i64 = 1_000;

/// Most notes that are shown with a report.
const NOTES_MAX: i64 = 200;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the unresolved reports, newest first
    List {
        /// List resolved reports as well
        #[arg(long)]
        all: bool,
    },
    /// Show a report with the texts of its posts and its notes
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
    /// Assign a report to a member of staff
    Assign {
        /// Id of the report
        id: i64,
        /// User name
        name: String,
    },
    /// Assign a report to nobody
    Unassign {
        /// Id of the report
        id: i64,
    },
    /// Change the category of a report
    Category {
        /// Id of the report
        id: i64,
        /// spam, legal, violation or other
        category: ReportCategory,
        /// Id of a rule that is violated; may be repeated
        #[arg(long = "rule")]
        rules: Option<Vec<i64>>,
    },
    /// Add a note for the other staff
    Note {
        /// Id of the report
        id: i64,
        /// At most 2,000 characters
        text: String,
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
    assigned_account: Option<String>,
    action_taken_at: Option<String>,
}

/// A report with the statuses that it names and its notes, newest first.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    report: ReportRow,
    statuses: Vec<StatusRow>,
    notes: Vec<NoteRow>,
}

#[derive(Serialize)]
struct NoteRow {
    id: RowId,
    created_at: String,
    text: String,
}

#[derive(Serialize)]
struct Changed {
    id: RowId,
    changed: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let operator = Staff::operator();
    match command {
        Command::List { all } => {
            let reports = report::list(cx, all, LISTED_MAX).await?;
            let shown: Vec<ReportRow> =
                report::with_accounts(cx, reports).await?.into_iter().map(ReportRow::from).collect();
            output.list(&shown, if all { "There is no report." } else { "No report is open." }, ReportRow::line)
        }
        Command::Show { id } => show(cx, id, output).await,
        Command::Resolve { id } => {
            let changed = report::set_resolved(cx, &operator, existing(cx, id).await?, true).await?;
            done(id, changed, "resolved", output)
        }
        Command::Reopen { id } => {
            let changed = report::set_resolved(cx, &operator, existing(cx, id).await?, false).await?;
            done(id, changed, "open", output)
        }
        Command::Assign { id, name } => {
            let (report, to) = (existing(cx, id).await?, staff::find(cx, &name).await?);
            let changed = report::assign(cx, &operator, report, Some(to.id)).await?;
            done(id, changed, &format!("assigned to @{}", to.username), output)
        }
        Command::Unassign { id } => {
            let changed = report::assign(cx, &operator, existing(cx, id).await?, None).await?;
            done(id, changed, "assigned to nobody", output)
        }
        Command::Category { id, category, rules } => {
            let rules = rules.map(|rules| rules.into_iter().map(RuleId::from).collect());
            let changed = report::update(cx, &operator, existing(cx, id).await?, Some(category), rules).await?;
            done(id, changed, &format!("of the category {category}"), output)
        }
        Command::Note { id, text } => {
            let note = report::add_note(cx, &operator, existing(cx, id).await?, &text).await?;
            output.respond(&NoteRow::from(note), || format!("Added a note to the report {id}."))
        }
    }
}

/// The id of the report, which exists.
async fn existing(cx: &Cx, id: i64) -> Result<RowId, Failure> {
    match report::find(cx, RowId::from(id)).await {
        Ok(found) => Ok(found.id),
        Err(Error::NotFound) => Err(Failure::new(format!("there is no report {id}"))),
        Err(other) => Err(other.into()),
    }
}

fn done(id: i64, changed: bool, state: &str, output: Output) -> Result<(), Failure> {
    let since = if changed { "now" } else { "already" };
    output.respond(&Changed { id: RowId::from(id), changed }, || format!("The report {id} is {since} {state}."))
}

async fn show(cx: &Cx, id: i64, output: Output) -> Result<(), Failure> {
    let found = report::find(cx, existing(cx, id).await?).await?;
    let notes = report::notes(cx, found.id, &Cursor::first(NOTES_MAX)).await?;
    let notes: Vec<NoteRow> = notes.into_iter().map(NoteRow::from).collect();
    let ids = found.status_ids.as_ref().map(|ids| ids.0.clone()).unwrap_or_default();
    let statuses = held_status::texts(cx, &ids).await?.into_iter().map(StatusRow::from).collect();
    let Some(named) = report::with_accounts(cx, vec![found]).await?.pop() else { return Ok(()) };
    let shown = Shown { report: named.into(), statuses, notes };
    output.respond(&shown, || {
        let statuses = shown.statuses.iter().map(|status| format!("\n\n{}", status.text()));
        let notes = shown.notes.iter().map(|note| format!("\n\nNote of {}:\n{}", note.created_at, plain(&note.text)));
        shown.report.text() + &statuses.chain(notes).collect::<String>()
    })
}

impl From<ReportNote> for NoteRow {
    fn from(note: ReportNote) -> Self {
        Self { id: note.id, created_at: note.created_at.to_api(), text: note.text }
    }
}

impl From<NamedReport> for ReportRow {
    fn from(NamedReport { report, account, target, assigned }: NamedReport) -> Self {
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
            assigned_account: acct(assigned),
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
            "{} was reported by {account}: {}, {}\nStatuses: {}\nRules: {}\nForwarded to: {}\nAssigned to: {}\nResolved: {}\n\n{}",
            target,
            self.category,
            self.created_at,
            ids(self.status_ids.iter().map(StatusId::to_string).collect()),
            ids(self.rule_ids.iter().map(RuleId::to_string).collect()),
            ids(self.forward_to_domains.clone()),
            self.assigned_account.as_deref().map_or("nobody".to_owned(), |acct| format!("@{acct}")),
            self.action_taken_at.as_deref().unwrap_or("no"),
            plain(&self.comment),
        )
    }
}
