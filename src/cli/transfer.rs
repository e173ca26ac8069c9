//! `rookery user export`, `archive`, `import` and `imports`: files of a user's follows, blocks and so on.
//!
//! An import only begins here: the server imports the rows, or the next server that starts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;

use context::Cx;
use model::transfer::TransferKind;
use model::{AccountId, RowId, Time};
use service::staff;
use service::transfer::{self, FILE_MAX, FailureReason, Import, Mode};
use terminal::{Failure, Output};

/// A file that was written.
#[derive(Serialize)]
struct Exported {
    bytes: usize,
}

/// How far an import is.
#[derive(Serialize)]
struct Progress {
    id: RowId,
    kind: TransferKind,
    overwrite: bool,
    total: i64,
    done: i64,
    failed: i64,
    /// Why rows failed, the most frequent reasons first.
    errors: Vec<Reason>,
    created_at: String,
    finished_at: Option<String>,
}

/// Why rows of an import failed.
#[derive(Serialize)]
struct Reason {
    error: String,
    rows: i64,
}

/// Writes a file, or its content to standard output.
pub(super) async fn export(
    cx: &Cx,
    username: &str,
    kind: TransferKind,
    file: Option<&Path>,
    output: Output,
) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    let content = transfer::export(cx, account.id, kind).await?;
    let Some(file) = file else { return say(content, output) };
    let exported = Exported { bytes: content.len() };
    fs::write(file, content).map_err(|error| Failure::new(format!("{}: {error}", file.display())))?;
    output.respond(&exported, || format!("Wrote {}.", file.display()))
}

/// The data of a user that the files do not contain.
pub(super) async fn document(cx: &Cx, account: AccountId) -> Result<serde_json::Value, Failure> {
    Ok(entity::account_document::document(cx, account, entity::account_document::WHOLE).await?)
}

/// Writes an archive of a user's statuses.
pub(super) async fn archive(cx: &Cx, username: &str, file: &Path, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    if file.exists() {
        return Err(Failure::new(format!("{} is there already", file.display())));
    }
    let bytes = entity::archive::write(cx, &account, file, None).await?;
    let exported = Exported { bytes: usize::try_from(bytes).unwrap_or(usize::MAX) };
    output.respond(&exported, || format!("Wrote {}.", file.display()))
}

/// Begins an import.
pub(super) async fn import(
    cx: &Cx,
    username: &str,
    kind: TransferKind,
    mode: Mode,
    file: &Path,
    output: Output,
) -> Result<(), Failure> {
    let unreadable = |error| Failure::new(format!("{}: {error}", file.display()));
    if fs::metadata(file).map_err(unreadable)?.len() > FILE_MAX as u64 {
        return Err(Failure::new(format!("{} is larger than {} MiB", file.display(), FILE_MAX >> 20)));
    }
    let account = staff::find(cx, username).await?;
    let import = transfer::import(cx, account.id, kind, mode, &fs::read(file).map_err(unreadable)?).await?;
    let progress = Progress::new(&import, &[]);
    output.respond(&progress, || {
        format!("{} rows wait to be imported: rookery user imports {}", progress.total, account.username)
    })
}

/// Lists the last imports, or prints the failed rows of one.
pub(super) async fn imports(cx: &Cx, username: &str, id: Option<RowId>, output: Output) -> Result<(), Failure> {
    let account = staff::find(cx, username).await?;
    if let Some(id) = id {
        return say(transfer::failures(cx, account.id, id).await?, output);
    }
    let imports = transfer::list(cx, account.id).await?;
    let reasons = transfer::reasons(cx, &imports).await?;
    let rows: Vec<Progress> = imports.iter().map(|import| Progress::new(import, &reasons)).collect();
    output.list(&rows, "There is no import.", Progress::line)
}

fn say(content: Vec<u8>, output: Output) -> Result<(), Failure> {
    let text = String::from_utf8(content).map_err(Failure::new)?;
    if !text.is_empty() {
        output.say(&text);
    }
    Ok(())
}

impl Progress {
    fn new(import: &Import, reasons: &[FailureReason]) -> Self {
        let errors = reasons.iter().filter(|reason| reason.import_id == import.id);
        Self {
            id: import.id,
            kind: import.kind,
            overwrite: import.overwrite,
            total: import.total,
            done: import.done,
            failed: import.failed,
            errors: errors.map(|reason| Reason { error: reason.error.clone(), rows: reason.failed }).collect(),
            created_at: import.created_at.to_api(),
            finished_at: import.finished_at.map(Time::to_api),
        }
    }

    fn line(&self) -> String {
        let Self { id, kind, total, done, failed, created_at, .. } = self;
        let state = if self.finished_at.is_some() { "ended" } else { "running" };
        let mut text =
            format!("{id:<20} {created_at:<25} {kind:<16} {state:<8} {done} of {total} done, {failed} failed");
        for Reason { error, rows } in &self.errors {
            // Writing to a String cannot fail.
            let _ = write!(text, "\n    {rows} failed: {error}");
        }
        text
    }
}
