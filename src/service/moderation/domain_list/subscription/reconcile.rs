//! Brings the blocks that lists made in line with their entries.
//!
//! The list with the highest priority decides about a domain. A block that a person made stays as it is, and a list does
//! not weaken it for a subdomain. A block that a list made goes when no list names its domain any more.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::{Value, json};

use super::super::ListPolicy;
use super::super::bulk;
use super::super::host::Rules;
use super::super::import::DOMAINS_LOGGED;
use super::super::plan::{self, Plan};
use super::listed;
use crate::domain_decision::publish;
use context::Cx;
use context::error::Result;
use database::Tx;
use model::domain_list::ImportMode;
use model::domain_policy::covering;
use model::{RowId, Time};
use store::domain_policy::Block;
use store::domain_subscription::Decided;

/// Most rows of one statement.
const ROWS: usize = 2_000;

/// The blocks that a pass changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub added: Vec<String>,
    pub changed: Vec<String>,
    pub removed: Vec<String>,
}

impl Changes {
    pub(in super::super) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }

    /// For the audit log: the numbers, and the first domains.
    pub(in super::super) fn details(&self) -> Value {
        let first = |domains: &[String]| domains.iter().take(DOMAINS_LOGGED).cloned().collect::<Vec<_>>();
        json!({
            "added": self.added.len(),
            "changed": self.changed.len(),
            "removed": self.removed.len(),
            "added_domains": first(&self.added),
            "changed_domains": first(&self.changed),
            "removed_domains": first(&self.removed),
        })
    }

    /// Commits, and applies the changed policy in this process.
    pub(in super::super) async fn commit(self, cx: &Cx, tx: Tx) -> Result<()> {
        if self.is_empty() {
            return Ok(tx.commit().await?);
        }
        publish(cx, tx).await
    }
}

/// Changes the blocks in the transaction, which has locked the lists, and queues the jobs that apply them.
pub(in super::super) async fn reconcile(cx: &Cx, tx: &mut Tx) -> Result<Changes> {
    let excluded = store::domain_subscription::list_exclusions(&mut *tx).await?;
    let rules = Rules::new(&cx.config, ListPolicy::Block, excluded);
    let decided: Vec<Decided> = store::domain_subscription::decisions(&mut *tx)
        .await?
        .into_iter()
        .filter(|one| rules.check(&one.domain).is_ok())
        .collect();
    let made = store::domain_subscription::list_made(&mut *tx).await?;
    let concerned: BTreeSet<&str> =
        decided.iter().map(|one| one.domain.as_str()).chain(made.iter().map(|(domain, _)| domain.as_str())).collect();
    if concerned.is_empty() {
        return Ok(Changes::default());
    }
    let existing = bulk::existing(tx, &concerned.into_iter().collect::<Vec<_>>()).await?;
    // A person may have changed a block until it was locked.
    let made: HashMap<String, RowId> = store::domain_subscription::list_made(&mut *tx).await?.into_iter().collect();
    let urls = store::domain_subscription::list(&mut *tx).await?.into_iter().map(|list| (list.id, list.url)).collect();
    let desired = desired(cx, decided, &existing, &made, &urls)?;
    apply(cx, tx, desired, &existing, &made).await
}

/// The blocks that there should be, with their links.
#[derive(Default)]
struct Desired {
    plan: Plan,
    links: Vec<(String, RowId)>,
    /// The domains whose blocks by lists stay.
    kept: HashSet<String>,
}

fn desired(
    cx: &Cx,
    decided: Vec<Decided>,
    existing: &HashMap<String, Block>,
    made: &HashMap<String, RowId>,
    urls: &HashMap<RowId, String>,
) -> Result<Desired> {
    let by_people: HashMap<&str, &Block> = existing
        .iter()
        .filter(|(domain, _)| !made.contains_key(*domain))
        .map(|(domain, block)| (domain.as_str(), block))
        .collect();
    let now = cx.clock.now();
    let mut desired = Desired::default();
    for Decided { domain, block, list_id } in decided {
        if by_people.contains_key(domain.as_str()) {
            continue;
        }
        let mut listed = listed::read(&block)?;
        if listed.private_comment.is_none() {
            listed.private_comment = urls.get(&list_id).map(|url| format!("From the list {url}"));
        }
        let above = covering(&domain).skip(1).find_map(|domain| by_people.get(domain).copied());
        let Some(listed) = plan::below(above, listed, ImportMode::Merge) else { continue };
        desired.kept.insert(domain.clone());
        if made.get(&domain) != Some(&list_id) {
            desired.links.push((domain.clone(), list_id));
        }
        match existing.get(&domain) {
            None => desired.plan.added.push(plan::stored(cx.ids.next(), domain, now, listed)),
            Some(old) => {
                let new = plan::stored(old.id, domain, old.created_at, listed);
                if new != *old {
                    desired.plan.changed.push(new);
                }
            }
        }
    }
    Ok(desired)
}

async fn apply(
    cx: &Cx,
    tx: &mut Tx,
    desired: Desired,
    existing: &HashMap<String, Block>,
    made: &HashMap<String, RowId>,
) -> Result<Changes> {
    let Desired { plan, links, kept } = desired;
    let mut removed: Vec<&str> = made.keys().map(String::as_str).filter(|domain| !kept.contains(*domain)).collect();
    removed.sort_unstable();
    let names = |blocks: &[Block]| {
        let mut names: Vec<String> = blocks.iter().map(|block| block.domain.clone()).collect();
        names.sort_unstable();
        names
    };
    let changes = Changes {
        added: names(&plan.added),
        changed: names(&plan.changed),
        removed: removed.iter().map(|domain| (*domain).to_owned()).collect(),
    };
    bulk::write(tx, &plan, cx.clock.now()).await?;
    for chunk in removed.chunks(ROWS) {
        store::domain_subscription::delete_blocks(tx, chunk).await?;
    }
    for chunk in links.chunks(ROWS) {
        let rows: Vec<(&str, RowId)> = chunk.iter().map(|(domain, list)| (domain.as_str(), *list)).collect();
        store::domain_subscription::put_made(tx, &rows).await?;
    }
    let times = removed.iter().filter_map(|domain| Some((*domain, existing.get(*domain)?.created_at)));
    let written = plan.added.iter().chain(&plan.changed).map(|block| (block.domain.as_str(), block.created_at));
    let touched: HashMap<&str, Time> = times.chain(written).collect();
    if !touched.is_empty() {
        bulk::queue_jobs(cx, tx, &touched).await?;
    }
    Ok(changes)
}
