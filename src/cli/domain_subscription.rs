//! `rookery domain subscription`, `exclude` and `unexclude`: lists that are fetched daily, and domains that no list may
//! block.

use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use context::Cx;
use entity::admin::{DomainList, DomainListDraft};
use model::domain_list::ListMode;
use model::instance::Severity;
use model::{RowId, Staff};
use service::domain_list::exclusion;
use service::domain_list::subscription::draft::{self, Decision};
use service::domain_list::subscription::{self, Blocks, Options};
use terminal::{Failure, Output};

use super::domain::Effect;
use super::domain_import::Format;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the subscribed lists by priority
    List,
    /// Subscribe to a list of blocked domains, and fetch it
    Add(NewList),
    /// End a subscription, and remove the blocks that the list made
    Remove {
        /// The address or the id of the list
        list: String,
        /// Keep the blocks, as decisions of the staff
        #[arg(long)]
        keep: bool,
    },
    /// Fetch a list now
    Refresh {
        /// The address or the id of the list
        list: String,
    },
    /// List the changes that a list proposes
    Drafts {
        /// The address or the id of the list
        list: String,
    },
    /// Apply changes that a list proposes
    Apply(Chosen),
    /// Dismiss changes that a list proposes, until the list changes them again
    Dismiss(Chosen),
}

#[derive(Debug, Args)]
pub(super) struct NewList {
    /// The address of the list: Mastodon's CSV, JSON, or a domain a line
    url: String,
    /// The format, which is otherwise detected
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The list with the highest priority decides about a domain
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
    /// The handling of changes
    #[arg(long, value_enum, default_value = "draft")]
    mode: Mode,
    /// The severity of all domains, whatever the list has for them
    #[arg(long, value_enum)]
    severity: Option<Effect>,
}

#[derive(Debug, Args)]
pub(super) struct Chosen {
    /// The address or the id of the list
    list: String,
    /// The changes of these domains
    #[arg(required_unless_present = "all")]
    domains: Vec<String>,
    /// All changes
    #[arg(long, conflicts_with = "domains")]
    all: bool,
}

/// The handling of changes.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// They wait for the staff
    Draft,
    /// They apply immediately
    Apply,
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        !matches!(self, Self::List | Self::Drafts { .. })
    }
}

/// The result of a refresh.
#[derive(Serialize)]
struct Refreshed {
    added: Vec<String>,
    changed: Vec<String>,
    removed: Vec<String>,
    list: DomainList,
}

#[derive(Serialize)]
struct Decided {
    drafts: usize,
}

#[derive(Serialize)]
struct Removed {
    list: String,
    changed: bool,
}

#[derive(Serialize)]
struct Excluded {
    domain: String,
    changed: bool,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let staff = Staff::operator();
    match command {
        Command::List => {
            let lists: Vec<DomainList> = subscription::list(cx).await?.into_iter().map(DomainList::from).collect();
            output.list(&lists, "No list is subscribed to.", line)
        }
        Command::Add(new) => {
            let options = Options {
                format: new.format.map(Into::into),
                priority: new.priority,
                mode: match new.mode {
                    Mode::Draft => ListMode::Draft,
                    Mode::Apply => ListMode::Apply,
                },
                severity: new.severity.map(Severity::from),
            };
            let list = subscription::create(cx, &staff, &new.url, options).await?.list;
            refresh(cx, list.id, output).await
        }
        Command::Remove { list, keep } => {
            let id = find(cx, &list).await?;
            let blocks = if keep { Blocks::Keep } else { Blocks::Remove };
            subscription::delete(cx, &staff, id, blocks).await?;
            let text = format!("{list} is no longer fetched.");
            show(&Removed { list, changed: true }, text, output)
        }
        Command::Refresh { list } => refresh(cx, find(cx, &list).await?, output).await,
        Command::Drafts { list } => {
            let (id, mut drafts) = (find(cx, &list).await?, Vec::new());
            loop {
                let after = drafts.last().map_or(String::new(), |draft: &DomainListDraft| draft.domain.clone());
                let page = draft::list(cx, id, &after).await?;
                if page.is_empty() {
                    break;
                }
                drafts.extend(page.into_iter().map(DomainListDraft::read).collect::<Result<Vec<_>, _>>()?);
            }
            output.list(&drafts, "The list proposes no change.", draft_line)
        }
        Command::Apply(chosen) => decide(cx, &staff, chosen, Decision::Apply, output).await,
        Command::Dismiss(chosen) => decide(cx, &staff, chosen, Decision::Dismiss, output).await,
    }
}

/// Excludes a domain from lists.
pub(super) async fn exclude(cx: &Cx, domain: &str, output: Output) -> Result<(), Failure> {
    let (domain, changed) = exclusion::exclude(cx, &Staff::operator(), domain).await?;
    let text = format!("No list can block {domain} now.");
    show(&Excluded { domain, changed }, text, output)
}

/// Ends an exclusion.
pub(super) async fn unexclude(cx: &Cx, domain: &str, output: Output) -> Result<(), Failure> {
    let domain = exclusion::unexclude(cx, &Staff::operator(), domain).await?;
    let text = format!("Lists can block {domain} again.");
    show(&Excluded { domain, changed: true }, text, output)
}

/// Lists the excluded domains.
pub(super) async fn exclusions(cx: &Cx, output: Output) -> Result<(), Failure> {
    output.list(&exclusion::list(cx).await?, "No domain is excluded from lists.", String::clone)
}

fn show<T: Serialize>(done: &T, text: String, output: Output) -> Result<(), Failure> {
    output.respond(done, || text)
}

async fn find(cx: &Cx, list: &str) -> Result<RowId, Failure> {
    let found = match list.parse::<i64>() {
        Ok(id) => subscription::find(cx, id.into()).await,
        Err(_) => subscription::find_by_url(cx, list).await,
    };
    match found {
        Ok(found) => Ok(found.list.id),
        Err(context::error::Error::NotFound) => Err(Failure::new(format!("{list:?} is not subscribed to"))),
        Err(error) => Err(error.into()),
    }
}

async fn refresh(cx: &Cx, id: RowId, output: Output) -> Result<(), Failure> {
    let changes = subscription::refresh(cx, id).await?;
    let list = DomainList::from(subscription::find(cx, id).await?);
    if let Some(error) = &list.error {
        return Err(Failure::new(format!("{} was not fetched: {error}", list.url)));
    }
    let refreshed = Refreshed { added: changes.added, changed: changes.changed, removed: changes.removed, list };
    output.respond(&refreshed, || {
        let Refreshed { added, changed, removed, list } = &refreshed;
        format!(
            "{}\nBlocks: {} are new, {} changed, {} were removed. {} changes are drafts.",
            line(list),
            added.len(),
            changed.len(),
            removed.len(),
            list.drafts_count
        )
    })
}

async fn decide(cx: &Cx, staff: &Staff, chosen: Chosen, decision: Decision, output: Output) -> Result<(), Failure> {
    let id = find(cx, &chosen.list).await?;
    let domains = (!chosen.all).then_some(chosen.domains);
    let drafts = draft::decide(cx, staff, id, domains, decision).await?;
    let done = match decision {
        Decision::Apply => "applied",
        Decision::Dismiss => "dismissed",
    };
    output.respond(&Decided { drafts }, || format!("{drafts} changes were {done}."))
}

fn line(list: &DomainList) -> String {
    let fetched = match (&list.error, &list.fetched_at) {
        (Some(error), _) => format!("not fetched: {error}"),
        (None, Some(at)) => format!("fetched at {at}"),
        (None, None) => "not fetched yet".to_owned(),
    };
    let line = format!(
        "{} {:>5} {:<5} {} ({} domains, {} drafts, {} faults, {fetched})",
        list.id, list.priority, list.mode, list.url, list.entries_count, list.drafts_count, list.faults_count
    );
    line.replace(char::is_control, " ")
}

fn draft_line(draft: &DomainListDraft) -> String {
    let block = draft
        .block
        .as_ref()
        .map_or(String::new(), |block| format!("{:<8} {}", block.severity.as_str(), block.flags.join(", ")));
    format!("{:<6} {:<40} {block}", draft.change.as_str(), draft.domain).trim_end().to_owned()
}
