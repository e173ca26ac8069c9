//! `rookery settings list|get|set`: settings kept in the database, which apply without a restart.

use std::io::Read as _;

use clap::Subcommand;
use serde_json::Value;

use context::Cx;
use service::picture;
use service::settings::{self, Setting};
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List every setting with its value and the values it accepts
    List,
    /// Print the value of a setting
    Get {
        /// Name of the setting
        key: String,
    },
    /// Change a setting; a running server applies it immediately
    Set {
        /// Name of the setting
        key: String,
        /// New value, or for a picture its file; - reads it from standard input
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

impl Command {
    /// True for a command that a running server must apply.
    pub(super) fn changes(&self) -> bool {
        match self {
            Self::List | Self::Get { .. } => false,
            Self::Set { .. } => true,
        }
    }
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::List => {
            let settings = settings::list(cx).await?;
            output.list(&settings, "There is no setting.", entry)
        }
        Command::Get { key } => show(output, &settings::get(cx, &key).await?),
        Command::Set { key, value } if settings::is_picture(&key)? && !value.trim().is_empty() => {
            picture::set(cx, &model::Staff::operator(), &key, &read_picture(&value)?).await?;
            show(output, &settings::get(cx, &key).await?)
        }
        Command::Set { key, value } => {
            let value = if value == "-" { standard_input()? } else { value };
            show(output, &settings::set(cx, &model::Staff::operator(), &key, &value).await?)
        }
    }
}

fn show(output: Output, setting: &Setting) -> Result<(), Failure> {
    output.respond(setting, || plain(&setting.value))
}

fn entry(setting: &Setting) -> String {
    let changed = if setting.value == setting.default { "" } else { "  (changed)" };
    format!(
        "{} = {}{changed}\n    {}. Takes {}.\n",
        setting.key,
        setting.value,
        setting.about.trim_end_matches('?'),
        setting.takes
    )
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// Reads the file of a picture; `-` is standard input. One that is too large is not read to its end.
fn read_picture(path: &str) -> Result<Vec<u8>, Failure> {
    let source: Box<dyn std::io::Read> = match path {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(|error| Failure::new(format!("{path}: {error}")))?),
    };
    let mut bytes = Vec::new();
    source
        .take(picture::BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(format!("{path}: {error}")))?;
    Ok(bytes)
}

/// Reads all of standard input, without the final line break.
pub(super) fn standard_input() -> Result<String, Failure> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| Failure::new(format!("standard input: {error}")))?;
    Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}
