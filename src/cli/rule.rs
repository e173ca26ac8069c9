//! `rookery rule list|add|remove`: the server rules that people accept at sign-up.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::{RuleId, Staff};
use service::rule;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the rules, in order
    List,
    /// Add a rule at the end
    Add {
        /// Text of the rule
        text: String,
        /// Longer explanation
        #[arg(long, default_value = "")]
        hint: String,
    },
    /// Remove a rule
    Remove {
        /// Id of the rule
        id: i64,
    },
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List => false,
            Self::Add { .. } | Self::Remove { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct Listed<'a> {
    id: RuleId,
    text: &'a str,
    hint: &'a str,
}

#[derive(Serialize)]
struct Changed {
    id: RuleId,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let rules = cx.rules();
            let rules: Vec<Listed<'_>> =
                rules.iter().map(|rule| Listed { id: rule.id, text: &rule.text, hint: &rule.hint }).collect();
            output.list(&rules, "There is no rule.", |rule| format!("{}  {}", rule.id, rule.text))
        }
        Command::Add { text, hint } => {
            let id = rule::add(cx, &Staff::operator(), &text, &hint).await?;
            output.answer(&Changed { id }, || format!("Added the rule {id}."))
        }
        Command::Remove { id } => {
            let id = RuleId::from(id);
            rule::remove(cx, &Staff::operator(), id).await?;
            output.answer(&Changed { id }, || format!("Took the rule {id} away."))
        }
    }
}
