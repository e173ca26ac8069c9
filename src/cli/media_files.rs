//! `rookery media usage|prune|move`: the size of stored files, deletion of unused ones, and moving all to a bucket or
//! back.

use std::fmt::Write as _;

use std::sync::Mutex;
use std::time::Duration;

use clap::{Subcommand, ValueEnum};
use serde::Serialize;
use tokio::time::Instant;

use config::StorageBackend;
use context::Cx;
use media::storage::Transferred;
use model::media::MediaKind;
use service::media::{relocate, stock};
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print how many attachments and files there are, and their sizes
    Usage,
    /// Delete files of attachments that no attachment has and that are older than two days
    Prune,
    /// Copy all files to the bucket or to the media folder, while servers run; a repeated command continues
    Move {
        /// Where to
        #[arg(long)]
        to: Place,
        /// Delete the files of the source, each after its copy was compared with it
        #[arg(long)]
        delete: bool,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Place {
    /// The media folder
    Local,
    /// The bucket of the section s3
    S3,
}

/// How often progress is printed.
const PROGRESS: Duration = Duration::from_secs(5);

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

#[derive(Serialize)]
struct Moved {
    copied: u64,
    copied_size_bytes: u64,
    present: u64,
    deleted: u64,
    vanished: u64,
    differing: u64,
}

impl From<Transferred> for Moved {
    fn from(done: Transferred) -> Self {
        let Transferred { copied, copied_bytes, present, deleted, vanished, differing } = done;
        Self { copied, copied_size_bytes: copied_bytes, present, deleted, vanished, differing }
    }
}

impl Moved {
    fn words(&self) -> String {
        format!(
            "{} files of {} bytes copied, {} were there, {} deleted at the source",
            self.copied, self.copied_size_bytes, self.present, self.deleted
        )
    }
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
        Command::Move { to, delete } => move_files(cx, to, delete, output).await,
    }
}

async fn move_files(cx: &Cx, to: Place, delete: bool, output: Output) -> Result<(), Failure> {
    let to = match to {
        Place::Local => StorageBackend::Local,
        Place::S3 => StorageBackend::S3,
    };
    let printed = Mutex::new(Instant::now());
    let progress = |done: Transferred| {
        let mut printed = printed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if printed.elapsed() >= PROGRESS {
            *printed = Instant::now();
            output.progress(&Moved::from(done).words());
        }
    };
    let moved = Moved::from(relocate::relocate(cx, to, delete, &progress).await?);
    output.answer(&moved, || format!("{}.", moved.words()))?;
    match moved.differing {
        0 => Ok(()),
        differing => Err(Failure::new(format!(
            "{differing} copies differed from their files and were removed: repeat the command, and look at the disk or the \
             service if it happens again"
        ))),
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
