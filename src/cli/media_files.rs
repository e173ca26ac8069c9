//! `rookery media usage|prune`: the size of stored files, and deletion of unused ones.

use std::fmt::Write as _;

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::media::MediaKind;
use service::media::stock;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print how many attachments and files there are, and their sizes
    Usage,
    /// Delete files of attachments that no attachment has and that are older than two days
    Prune,
}

#[derive(Serialize)]
struct Usage {
    attachments: Vec<OfKind>,
    folders: Vec<OfFolder>,
}

#[derive(Serialize)]
struct OfKind {
    kind: MediaKind,
    attachments: i64,
    size_bytes: i64,
    unattached: i64,
    processing: i64,
    failed: i64,
}

#[derive(Serialize)]
struct OfFolder {
    folder: &'static str,
    files: u64,
    size_bytes: u64,
}

#[derive(Serialize)]
struct Pruned {
    files: u64,
    size_bytes: u64,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    match command {
        Command::Usage => {
            let usage = usage(cx).await?;
            output.answer(&usage, || words(&usage))
        }
        Command::Prune => {
            let report = stock::prune(cx).await?;
            let pruned = Pruned { files: report.files, size_bytes: report.bytes };
            output.answer(&pruned, || format!("Deleted {} files of {} bytes.", pruned.files, pruned.size_bytes))
        }
    }
}

async fn usage(cx: &Cx) -> Result<Usage, Failure> {
    let (kinds, stored) = stock::usage(cx).await?;
    let attachments = kinds.into_iter().map(|kind| OfKind {
        kind: kind.kind,
        attachments: kind.attachments,
        size_bytes: kind.bytes,
        unattached: kind.unattached,
        processing: kind.processing,
        failed: kind.failed,
    });
    let folders = stored.into_iter().map(|stored| OfFolder {
        folder: stored.folder,
        files: stored.files,
        size_bytes: stored.bytes,
    });
    Ok(Usage { attachments: attachments.collect(), folders: folders.collect() })
}

fn words(usage: &Usage) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for kind in &usage.attachments {
        let _ = writeln!(
            text,
            "{:<8} {:>9} attachments, {:>14} bytes; {} on no status, {} being processed, {} failed",
            kind.kind.as_str(),
            kind.attachments,
            kind.size_bytes,
            kind.unattached,
            kind.processing,
            kind.failed
        );
    }
    for folder in &usage.folders {
        let _ = writeln!(text, "{:<8} {:>9} files,       {:>14} bytes", folder.folder, folder.files, folder.size_bytes);
    }
    text
}
