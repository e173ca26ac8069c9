//! `rookery warning-preset list|add|remove`: the texts that moderators choose from when they warn.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use context::error::Error;
use model::{Cursor, RowId, Staff};
use service::moderation::warning_preset::{self, WarningPreset};
use terminal::{Failure, Output};

/// Most presets that are listed.
const LISTED_MAX: i64 = 1_000;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the presets, newest first
    List,
    /// Add a preset
    Add {
        /// What moderators choose by
        title: String,
        /// What the person is told
        text: String,
    },
    /// Remove a preset
    Remove {
        /// Id of the preset
        id: i64,
    },
}

#[derive(Serialize)]
struct PresetRow {
    id: RowId,
    title: String,
    text: String,
}

#[derive(Serialize)]
struct Removed {
    id: RowId,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let operator = Staff::operator();
    match command {
        Command::List => {
            let presets = warning_preset::list(cx, &Cursor::first(LISTED_MAX)).await?;
            let rows: Vec<PresetRow> = presets.into_iter().map(PresetRow::from).collect();
            output.list(&rows, "There is no preset.", |row| format!("{}  {}", row.id, row.title))
        }
        Command::Add { title, text } => {
            let preset = PresetRow::from(warning_preset::create(cx, &operator, &title, &text).await?);
            output.respond(&preset, || format!("Added the preset {}.", preset.id))
        }
        Command::Remove { id } => {
            let preset = RowId::from(id);
            match warning_preset::delete(cx, &operator, preset).await {
                Ok(()) => output.respond(&Removed { id: preset }, || format!("Removed the preset {id}.")),
                Err(Error::NotFound) => Err(Failure::new(format!("there is no preset {id}"))),
                Err(other) => Err(other.into()),
            }
        }
    }
}

impl From<WarningPreset> for PresetRow {
    fn from(preset: WarningPreset) -> Self {
        Self { id: preset.id, title: preset.title, text: preset.text }
    }
}
