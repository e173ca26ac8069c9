//! `rookery config check` and `rookery config print`.

use clap::Subcommand;
use serde::Serialize;

use super::output::{Failure, Output};
use config::Config;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Say what is wrong with the configuration, and what is hardly meant
    Check,
    /// Print every key with its meaning, default, value and origin, as a file that can be edited
    Print {
        /// Print secrets too
        #[arg(long)]
        show_secrets: bool,
    },
}

#[derive(Serialize)]
struct Checked {
    ok: bool,
    warnings: Vec<String>,
}

/// The configuration was read before this, so it is without fault.
pub(super) fn run(config: &Config, command: &Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Check => {
            let checked = Checked { ok: true, warnings: config.warnings() };
            output.answer(&checked, || {
                let warnings = checked.warnings.iter().map(|warning| format!("warning: {warning}\n"));
                warnings.collect::<String>() + "The configuration is good."
            })
        }
        Command::Print { show_secrets } => {
            output.say(&config.to_toml_with_comments(!*show_secrets));
            Ok(())
        }
    }
}
