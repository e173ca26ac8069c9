//! `rookery search reindex`: brings every status into the full-text index again, in batches that let others write.
//!
//! Statuses that are indexed already are found meanwhile. Publishing keeps the index; this command is for one that was damaged.

use clap::Subcommand;
use serde::Serialize;

use context::Cx;
use model::StatusId;
use service::search::index;
use terminal::{Failure, Output};

/// Batches between two lines about the progress.
const REPORT: u64 = 100;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Index every status again, newest first
    Reindex {
        /// Only statuses before this one: goes on where a command was interrupted
        #[arg(long, value_name = "ID")]
        before: Option<i64>,
    },
}

#[derive(Serialize)]
struct Reindexed {
    statuses: usize,
}

pub(super) async fn run(cx: &Cx, command: Command, output: Output) -> Result<(), Failure> {
    let Command::Reindex { before } = command;
    let (mut before, mut statuses) = (StatusId::from(before.unwrap_or(i64::MAX)), 0);
    for batch in 1_u64.. {
        let mut tx = cx.db.begin().await?;
        let done = index::fill(cx, &mut tx, before).await?;
        tx.commit().await?;
        let Some(last) = done.last() else { break };
        (before, statuses) = (*last, statuses + done.len());
        if batch.is_multiple_of(REPORT) {
            output.warn(&format!("{statuses} statuses are indexed; to go on from here: --before {before}"));
        }
    }
    output.respond(&Reindexed { statuses }, || format!("Indexed {statuses} statuses."))
}
