//! `rookery domain import` and `export`: lists of blocked and allowed domains.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{Read as _, stdin};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use context::Cx;
use entity::admin::{DomainImport, DomainImportRefused};
use model::Staff;
use model::domain_list::{ImportMode, ListFormat};
use model::instance::Severity;
use service::domain_list::{self, Exported, Import, Imported, LIST_MAX, ListPolicy};
use terminal::{Failure, Output};

use super::domain::Effect;

/// Most domains that a preview names.
const DOMAINS_NAMED: usize = 20;

#[derive(Debug, Args)]
pub(super) struct NewImport {
    /// The list: Mastodon's CSV, JSON, or a domain a line; - reads standard input
    file: PathBuf,
    /// Import allows of limited federation instead of blocks
    #[arg(long)]
    allow: bool,
    /// The format, which is otherwise detected
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Overwrite existing blocks; otherwise the stricter severity and the flags of both hold
    #[arg(long, conflicts_with = "allow")]
    replace: bool,
    /// The severity of entries without one
    #[arg(long, value_enum, default_value = "suspend", conflicts_with = "allow")]
    severity: Effect,
    /// Leave out lines with faults; otherwise nothing is applied when there are any
    #[arg(long)]
    skip_faults: bool,
    /// Apply the list; otherwise only its effect is shown
    #[arg(long)]
    yes: bool,
}

#[derive(Debug, Args)]
pub(super) struct NewExport {
    /// Export allows of limited federation instead of blocks
    #[arg(long)]
    allow: bool,
    /// The format; with --json it is JSON
    #[arg(long, value_enum, default_value = "csv")]
    format: Format,
    /// Export all flags and the reasons for the staff; otherwise the columns of Mastodon
    #[arg(long)]
    all: bool,
}

/// The format of a list.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Format {
    /// Mastodon's columns
    Csv,
    /// A domain a line
    Plain,
    /// An array
    Json,
}

impl From<Format> for ListFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Csv => Self::Csv,
            Format::Plain => Self::Plain,
            Format::Json => Self::Json,
        }
    }
}

/// Shows the effect of a list, and applies it with `--yes`.
pub(super) async fn import(cx: &Cx, new: NewImport, output: Output) -> Result<(), Failure> {
    let list = read(&new.file)?;
    let import = Import {
        policy: policy(new.allow),
        format: new.format.map(ListFormat::from),
        mode: if new.replace { ImportMode::Replace } else { ImportMode::Merge },
        severity: Severity::from(new.severity),
        skip_faults: new.skip_faults,
    };
    let preview = domain_list::preview(cx, list.clone(), import).await?;
    if !new.yes {
        return show(&DomainImport::new(preview, false), "Nothing was changed: --yes applies the list.", output);
    }
    match domain_list::import(cx, &Staff::operator(), list, import, &preview.token).await? {
        Imported::Applied(preview) => show(&DomainImport::new(preview, true), "The list was applied.", output),
        Imported::Refused(preview) => {
            let refused = DomainImportRefused::from(preview);
            output.respond(&refused, || words(&refused.import))?;
            Err(Failure::new(format!("{}; --skip-faults leaves them out", refused.error)))
        }
    }
}

fn show(import: &DomainImport, done: &str, output: Output) -> Result<(), Failure> {
    output.respond(import, || format!("{}{done}", words(import)))
}

/// Prints a list that can be imported.
pub(super) async fn export(cx: &Cx, new: NewExport, output: Output) -> Result<(), Failure> {
    let columns = if new.all { Exported::All } else { Exported::Common };
    let json = domain_list::export(cx, policy(new.allow), ListFormat::Json, columns).await?;
    let text = domain_list::export(cx, policy(new.allow), new.format.into(), columns).await?;
    let rows: serde_json::Value = serde_json::from_str(&json).map_err(Failure::new)?;
    output.respond(&rows, || text)
}

fn policy(allow: bool) -> ListPolicy {
    if allow { ListPolicy::Allow } else { ListPolicy::Block }
}

/// As much of a file as a list may have, and a byte more of one that is too large.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |error| Failure::new(format!("{}: {error}", path.display()));
    let most = LIST_MAX as u64 + 1;
    let mut list = Vec::new();
    if path == Path::new("-") {
        stdin().take(most).read_to_end(&mut list).map_err(unreadable)?;
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut list)).map_err(unreadable)?;
    }
    Ok(list)
}

/// The effect of a list, in lines.
fn words(import: &DomainImport) -> String {
    let mut text = String::new();
    for fault in &import.faults {
        let _ = writeln!(text, "line {}: {:?} {}", fault.line, fault.domain, fault.reason);
    }
    let more = import.faults_count - import.faults.len();
    if more > 0 {
        let _ = writeln!(text, "and {more} more lines with faults");
    }
    for one in import.domains.iter().take(DOMAINS_NAMED) {
        let _ = writeln!(
            text,
            "{:<8} {:<40} {} accounts, {} follows of {} people here, {} media attachments",
            one.severity.as_str(),
            one.domain,
            one.accounts,
            one.follows,
            one.people,
            one.media_attachments
        );
    }
    let _ = writeln!(
        text,
        "{} domains are new, {} change, {} stay as they are; {} lines have faults.",
        import.added, import.changed, import.unchanged, import.faults_count
    );
    let _ = writeln!(
        text,
        "Known there: {} accounts with {} media attachments. {} follows of {} people here end.",
        import.accounts, import.media_attachments, import.follows, import.people
    );
    text
}
