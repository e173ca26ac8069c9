//! `rookery config check|print`: validates and prints the configuration. Does not open the database.

use clap::Subcommand;
use serde::Serialize;

use config::Config;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Check the configuration, and print errors and warnings
    Check,
    /// Print every key with its description, default, value and origin, as a valid configuration file
    Print {
        /// Include secrets
        #[arg(long)]
        show_secrets: bool,
    },
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    warnings: Vec<String>,
}

/// Errors were reported when the configuration was read, so `check` has only warnings left to print.
pub(super) fn run(config: &Config, command: &Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Check => {
            let checked = Checked { ok: true, warnings: config.warnings() };
            output.respond(&checked, || {
                let warnings = checked.warnings.iter().map(|warning| format!("warning: {warning}\n"));
                warnings.collect::<String>() + "The configuration is good."
            })
        }
        Command::Print { show_secrets } => {
            let entries = config.entries(!*show_secrets);
            output.respond(&entries, || config.to_toml_with_comments(!*show_secrets))
        }
    }
}
