//! `rookery media …`: the size of stored files, deletion of unused ones, moving all to a bucket or back, and copies of
//! files of other servers.

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
use model::remote_file::{RemoteFileKind, RemoteMediaMode};
use service::media::{relocate, stock};
use service::remote::files;
use service::remote::files::trim::Budget;
use terminal::{Failure, Output};

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print how many attachments and files there are, and their sizes; copies of files of other servers by host
    Usage,
    /// Delete files of attachments that no attachment has and that are older than two days, and copies of files of other
    /// servers beyond their budget
    Prune {
        /// The most bytes of copies, instead of media.remote_limit_bytes; 0: no limit
        #[arg(long, value_name = "BYTES")]
        remote_limit: Option<u64>,
        /// Delete copies that were not used for so many days, instead of the setting remote_media_days; 0: no limit
        #[arg(long, value_name = "DAYS")]
        remote_days: Option<u32>,
    },
    /// Delete copies of files of other servers, and forget failures: each is fetched again when it is requested
    Refetch {
        /// Only files of this host
        host: Option<String>,
    },
    /// Compare the copies of files of other servers with the storage, and forget those without a file
    Verify,
    /// List the domains whose files are served in their own way, or set the way of one
    Mode {
        /// The domain, with its subdomains
        #[arg(requires = "mode")]
        domain: Option<String>,
        /// cache, pass or keep; default: as the setting remote_media has it
        mode: Option<String>,
    },
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

impl Command {
    /// True for a change of how files of a domain are served.
    pub(super) fn changes(&self) -> bool {
        matches!(self, Self::Mode { domain: Some(_), .. })
    }
}

#[derive(Serialize)]
struct Usage {
    attachments: Vec<OfKind>,
    folders: Vec<OfFolder>,
    remote: Vec<OfHost>,
}

/// Copies of files of another server.
#[derive(Serialize)]
struct OfHost {
    kind: RemoteFileKind,
    host: String,
    mode: RemoteMediaMode,
    files: i64,
    size_bytes: i64,
    failed: i64,
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
    remote_files: u64,
    remote_size_bytes: u64,
}

#[derive(Serialize)]
struct Refetched {
    files: u64,
    size_bytes: u64,
}

#[derive(Serialize)]
struct Compared {
    complete: u64,
    lost: u64,
}

#[derive(Serialize)]
struct OfDomain {
    domain: String,
    /// Absent: as the setting has it.
    mode: Option<RemoteMediaMode>,
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
            output.respond(&usage, || words(&usage))
        }
        Command::Prune { remote_limit, remote_days } => {
            let report = stock::prune(cx).await?;
            let mut budget = Budget::configured(cx);
            if let Some(limit) = remote_limit {
                budget.bytes = i64::try_from(limit).ok().filter(|limit| *limit > 0);
            }
            if let Some(days) = remote_days {
                budget.set_days(cx, days.into());
            }
            let remote = files::stock::prune(cx, budget).await?;
            let pruned = Pruned {
                files: report.files,
                size_bytes: report.bytes,
                remote_files: remote.files,
                remote_size_bytes: remote.bytes,
            };
            output.respond(&pruned, || {
                format!(
                    "Deleted {} files of {} bytes, and {} copies of {} bytes of files of other servers.",
                    pruned.files, pruned.size_bytes, pruned.remote_files, pruned.remote_size_bytes
                )
            })
        }
        Command::Refetch { host } => {
            let removed = files::stock::refetch(cx, host.as_deref()).await?;
            let report = Refetched { files: removed.files, size_bytes: removed.bytes };
            output.respond(&report, || {
                format!("Deleted {} copies of {} bytes, which are fetched again.", report.files, report.size_bytes)
            })
        }
        Command::Verify => {
            let files::stock::Verified { complete, lost } = files::stock::verify(cx).await?;
            let report = Compared { complete, lost };
            output.respond(&report, || {
                format!("{complete} copies are complete; {lost} had no file and are fetched again.")
            })
        }
        Command::Mode { domain: None, .. } => {
            let modes = files::modes::list(cx).await?.into_iter();
            let modes: Vec<OfDomain> = modes.map(|row| OfDomain { domain: row.domain, mode: Some(row.mode) }).collect();
            output.list(&modes, "The files of all domains are served alike.", line)
        }
        Command::Mode { domain: Some(domain), mode } => {
            let word = mode.unwrap_or_default();
            let mode = match word.as_str() {
                "default" => None,
                word => Some(word.parse().map_err(|error| Failure::new(format!("mode {error}, or default")))?),
            };
            let domain = files::modes::set(cx, &model::Staff::operator(), &domain, mode).await?;
            let row = OfDomain { domain, mode };
            output.respond(&row, || line(&row))
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
    output.respond(&moved, || format!("{}.", moved.words()))?;
    match moved.differing {
        0 => Ok(()),
        differing => Err(Failure::new(format!(
            "{differing} copies differed from their files and were removed: repeat the command, and look at the disk or the \
             service if it happens again"
        ))),
    }
}

fn line(row: &OfDomain) -> String {
    format!("{} {}", row.domain, row.mode.map_or("default", RemoteMediaMode::as_str))
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
    let remote = files::stock::usage(cx).await?.into_iter().map(|usage| OfHost {
        kind: usage.kind,
        mode: files::modes::of(cx, &usage.host),
        host: usage.host,
        files: usage.files,
        size_bytes: usage.bytes,
        failed: usage.failed,
    });
    Ok(Usage { attachments: attachments.collect(), folders: folders.collect(), remote: remote.collect() })
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
    for copies in &usage.remote {
        let _ = writeln!(
            text,
            "{:<10} {:>7} copies,      {:>14} bytes, {} failed, of {} ({})",
            copies.kind.as_str(),
            copies.files,
            copies.size_bytes,
            copies.failed,
            copies.host,
            copies.mode.as_str()
        );
    }
    text
}
