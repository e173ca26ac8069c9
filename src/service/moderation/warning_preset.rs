//! Preset texts that moderators choose from when they warn.
//!
//! Reached from `/api/v1/admin/warning_presets` and `rookery warning-preset`.
//!
//! Spec: docs/contract/admin.csv

use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, Result};
use model::{Cursor, RowId, Staff};

pub use store::warning::WarningPreset;

/// Longest title of a preset, in characters.
const TITLE_MAX: usize = 200;

/// Longest text of a preset, in characters.
const TEXT_MAX: usize = 5_000;

/// A page of the presets, newest first.
#[model::use_case]
pub async fn list(cx: &Cx, cursor: &Cursor) -> Result<Vec<WarningPreset>> {
    Ok(store::warning::list_presets(&cx.db, cursor).await?)
}

/// Adds a preset.
///
/// # Errors
/// [`Error::Invalid`] for a title or text that is blank or too long.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, title: &str, text: &str) -> Result<WarningPreset> {
    let title = read("Title", title, TITLE_MAX)?;
    let text = read("Text", text, TEXT_MAX)?;
    let preset = WarningPreset { id: cx.ids.next(), title, text, created_at: cx.clock.now() };
    let mut tx = cx.db.begin().await?;
    store::warning::insert_preset(&mut tx, &preset).await?;
    audit::record(cx, &mut tx, staff, entry("warning_preset.create", &preset)).await?;
    tx.commit().await?;
    Ok(preset)
}

/// Deletes a preset. Strikes keep their texts.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let preset = store::warning::find_preset(&mut tx, id).await?.ok_or(Error::NotFound)?;
    if !store::warning::delete_preset(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    audit::record(cx, &mut tx, staff, entry("warning_preset.destroy", &preset)).await?;
    tx.commit().await?;
    Ok(())
}

fn entry(action: &'static str, preset: &WarningPreset) -> Entry {
    Entry::new(action, Target::new("warning_preset", preset.id, preset.title.clone()))
}

/// The value of a field, without white space around it.
fn read(field: &str, value: &str, most: usize) -> Result<String> {
    let value = value.trim();
    if value.is_empty() {
        return Err(Error::invalid(format!("Validation failed: {field} can't be blank")));
    }
    if value.chars().count() > most {
        return Err(Error::invalid(format!("Validation failed: {field} is too long (maximum is {most} characters)")));
    }
    Ok(value.to_owned())
}
