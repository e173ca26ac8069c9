//! `rookery rule list|add|remove`.

use clap::Subcommand;
use serde::Serialize;

use super::output::{Failure, Output};
use crate::app::App;
use crate::service::rule;
use model::RuleId;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print the rules, in order
    List,
    /// Add a rule below the others
    Add {
        /// What people agree to
        text: String,
        /// More about it
        #[arg(long, default_value = "")]
        hint: String,
    },
    /// Take a rule away
    Remove {
        /// Its id
        id: i64,
    },
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

pub(super) async fn run(app: &App, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let rules = app.rules();
            let rules: Vec<Listed<'_>> =
                rules.iter().map(|rule| Listed { id: rule.id, text: &rule.text, hint: &rule.hint }).collect();
            output.answer(&rules, || rules.iter().map(|rule| format!("{}  {}\n", rule.id, rule.text)).collect())
        }
        Command::Add { text, hint } => {
            let id = rule::add(app, &text, &hint).await?;
            output.answer(&Changed { id }, || format!("Added the rule {id}."))
        }
        Command::Remove { id } => {
            let id = RuleId::from(id);
            rule::remove(app, id).await?;
            output.answer(&Changed { id }, || format!("Took the rule {id} away."))
        }
    }
}
