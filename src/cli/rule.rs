//! `rookery rule list|add|translate|remove`: the server rules that people accept at sign-up.

use clap::Subcommand;
use serde::Serialize;

use context::{Cx, Error};
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
    /// Translate a rule: clients and pages show it in their reader's language
    Translate {
        /// Id of the rule
        id: i64,
        /// The language: de
        language: String,
        /// Text of the rule in this language; empty removes the translation
        text: String,
        /// Longer explanation in this language
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
            Self::Add { .. } | Self::Translate { .. } | Self::Remove { .. } => true,
        }
    }
}

#[derive(Serialize)]
struct Listed<'a> {
    id: RuleId,
    text: &'a str,
    hint: &'a str,
    /// The languages into which it is translated.
    languages: Vec<&'a str>,
}

#[derive(Serialize)]
struct Changed {
    id: RuleId,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let rules = cx.rules();
            let rules: Vec<Listed<'_>> = rules
                .iter()
                .map(|rule| Listed {
                    id: rule.id,
                    text: &rule.text,
                    hint: &rule.hint,
                    languages: rule.translations.keys().map(String::as_str).collect(),
                })
                .collect();
            output.list(&rules, "There is no rule.", |rule| format!("{}  {}", rule.id, rule.text))
        }
        Command::Add { text, hint } => {
            let id = rule::add(cx, &Staff::operator(), &text, &hint).await?;
            output.respond(&Changed { id }, || format!("Added the rule {id}."))
        }
        Command::Translate { id, language, text, hint } => {
            let id = RuleId::from(id);
            let translated = rule::translate(cx, &Staff::operator(), id, &language, &text, &hint).await;
            translated.map_err(|error| match error {
                Error::NotFound => Failure::new(format!("there is no rule {id}")),
                error => error.into(),
            })?;
            output.respond(&Changed { id }, || format!("Changed the translation of the rule {id}."))
        }
        Command::Remove { id } => {
            let id = RuleId::from(id);
            rule::remove(cx, &Staff::operator(), id).await?;
            output.respond(&Changed { id }, || format!("Took the rule {id} away."))
        }
    }
}
