//! `rookery terms list|show|publish|remove`: the terms of service, in versions that apply from a day on.

use std::io::Read as _;

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::Staff;
use service::terms;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List every version
    List,
    /// Print a version
    Show {
        /// The day from which it applies: 2026-11-21; without one, the version that applies now
        date: Option<String>,
    },
    /// Publish a version
    Publish {
        /// File with its text in Markdown; - reads it from standard input
        file: String,
        /// The day (UTC) from which it applies: 2026-11-21
        #[arg(long, value_name = "DATE")]
        effective: String,
        /// Send a mail about it to everyone whose address is confirmed
        #[arg(long)]
        mail: bool,
    },
    /// Remove a version that does not apply yet
    Remove {
        /// The day from which it applies
        date: String,
    },
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List | Self::Show { .. } => false,
            Self::Publish { .. } | Self::Remove { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct Listed {
    effective_date: String,
    effective: bool,
}

#[derive(Serialize)]
struct Version {
    effective_date: String,
    text: String,
}

#[derive(Serialize)]
struct Changed {
    effective_date: String,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let listed = |date: String| Listed { effective: terms::is_effective(cx, &date), effective_date: date };
            let versions: Vec<Listed> = terms::dates(cx).into_iter().map(listed).collect();
            output.list(&versions, "There are no terms of service.", |version| {
                format!("{}{}", version.effective_date, if version.effective { "" } else { "  (not yet)" })
            })
        }
        Command::Show { date } => {
            let version = match date {
                Some(date) => terms::of_date(cx, &date).await?,
                None => terms::current(cx).await?,
            };
            let version = Version { effective_date: version.effective_date, text: version.text };
            output.respond(&version, || version.text.clone())
        }
        Command::Publish { file, effective, mail } => {
            let text = read(&file)?;
            let published = terms::publish(cx, &Staff::operator(), &effective, &text, mail).await?;
            let changed = Changed { effective_date: published.effective_date };
            let mails = if mail { " Mails are on their way, 100 in a minute." } else { "" };
            output.respond(&changed, || {
                format!("Published the terms of service that apply from {}.{mails}", changed.effective_date)
            })
        }
        Command::Remove { date } => {
            terms::remove(cx, &Staff::operator(), &date).await?;
            output.respond(&Changed { effective_date: date.clone() }, || {
                format!("Removed the terms of service of {date}.")
            })
        }
    }
}

/// Reads the text of a version. One that is too long is not read to its end.
fn read(file: &str) -> Result<String, Failure> {
    let fault = |error: std::io::Error| Failure::new(format!("{file}: {error}"));
    let source: Box<dyn std::io::Read> = match file {
        "-" => Box::new(std::io::stdin()),
        file => Box::new(std::fs::File::open(file).map_err(fault)?),
    };
    let mut text = String::new();
    source.take(terms::TEXT_MAX as u64 + 1).read_to_string(&mut text).map_err(fault)?;
    Ok(text)
}
