//! Writes many blocks in one transaction, and queues the jobs that apply them to known accounts.

use std::collections::HashMap;

use super::impact::known_hosts_in;
use super::plan::Plan;
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, ApplyDomainPolicy};
use database::Tx;
use model::domain_policy::covering;
use model::{AccountId, Time};
use store::domain_policy::Block;

/// Most rows of one statement.
const ROWS: usize = 2_000;

/// Reads the existing blocks, and locks those of `domains`, which then change only in this transaction.
pub(super) async fn existing(tx: &mut Tx, domains: &[&str]) -> Result<HashMap<String, Block>> {
    for chunk in domains.chunks(ROWS) {
        store::domain_list::lock_blocks(tx, chunk).await?;
    }
    Ok(by_domain(store::domain_policy::list_blocks(&mut *tx).await?))
}

/// Blocks by their domains.
pub(super) fn by_domain(blocks: Vec<Block>) -> HashMap<String, Block> {
    blocks.into_iter().map(|block| (block.domain.clone(), block)).collect()
}

/// Writes the blocks of a plan.
///
/// # Errors
/// [`Error::Conflict`] when a new one was made meanwhile.
pub(super) async fn write(tx: &mut Tx, plan: &Plan, now: Time) -> Result<()> {
    for chunk in plan.added.chunks(ROWS) {
        if store::domain_list::insert_blocks(tx, chunk, now).await? != chunk.len() as u64 {
            return Err(Error::Conflict("The blocks changed meanwhile: try again".into()));
        }
    }
    for chunk in plan.changed.chunks(ROWS) {
        store::domain_list::replace_blocks(tx, chunk, now).await?;
    }
    Ok(())
}

/// Queues a job for each known host that a changed block covers; `changed` has the domains and when their blocks were
/// made.
pub(super) async fn queue_jobs(cx: &Cx, tx: &mut Tx, changed: &HashMap<&str, Time>) -> Result<()> {
    let now = cx.clock.now().timestamp_micros();
    let mut jobs = Vec::new();
    for host in known_hosts_in(tx).await? {
        let blocks = covering(&host).filter_map(|domain| changed.get_key_value(domain));
        jobs.extend(blocks.map(|(domain, blocked_at)| ApplyDomainPolicy {
            domain: (*domain).to_owned(),
            blocked_at: blocked_at.timestamp_micros(),
            begun_at: now,
            host: host.clone(),
            after: AccountId::from(0),
            alone: true,
        }));
    }
    for chunk in jobs.chunks(ROWS) {
        queue::enqueue_all(cx, tx, chunk).await?;
    }
    Ok(())
}
