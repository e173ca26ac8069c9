//! Fetches a subscribed list, daily, and stores its changes.
//!
//! Reached from the job [`RefreshDomainList`], which a recurring job queues for lists that are due, and from the command
//! line. A list that cannot be fetched or parsed changes nothing, and is fetched again after a back-off.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::TimeDelta;
use outbound::Target as Address;

use super::super::host::{Names, Rules};
use super::super::parse::{Parsed, parse};
use super::super::{LIST_MAX, ListPolicy};
use super::reconcile::{self, Changes};
use super::{DomainList, ENTRIES_MAX, listed};
use crate::audit::{self, Entry, Target};
use crate::web_page;
use context::error::{Error, Result};
use context::queue::{self, Done, Failure, RefreshDomainList, RefreshDomainLists};
use context::{Cx, job};
use database::Tx;
use model::domain_list::{DraftChange, ListMode};
use model::instance::Severity;
use model::{RowId, Staff};
use store::domain_subscription::{Draft, ListedDomain};
use store::job::Claim;

/// How often a list is fetched.
const INTERVAL: TimeDelta = TimeDelta::days(1);
/// The first back-off after a failure; each further one is twice as long, up to [`INTERVAL`].
const FIRST_BACK_OFF: TimeDelta = TimeDelta::hours(1);
/// How often lists that are due are looked for.
const LOOK_EVERY: TimeDelta = TimeDelta::minutes(15);
/// The time limit of a fetch.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest stored validator and error, in characters.
const TEXT_MAX: usize = 1_000;
/// Most rows of one statement.
const ROWS: usize = 2_000;

/// A fetched list: domains with their parameters, as stored.
struct Fetched {
    entries: BTreeMap<String, String>,
    faults: usize,
    etag: Option<String>,
}

/// Fetches a list, if it is still subscribed to, and stores its changes. Returns the changed blocks.
///
/// # Errors
/// [`Error::NotFound`]. The reason why a list cannot be fetched is stored, and is not an error.
#[model::use_case]
pub async fn refresh(cx: &Cx, id: RowId) -> Result<Changes> {
    let list = store::domain_subscription::find(&cx.db, id).await?.ok_or(Error::NotFound)?;
    let fetched = fetch(cx, &list).await?;
    let mut tx = cx.db.begin().await?;
    let mut list = super::lock(&mut tx, id).await?;
    let now = cx.clock.now();
    let mut changes = Changes::default();
    match fetched {
        Ok(fetched) => {
            (list.fetched_at, list.failures, list.error) = (Some(now), 0, None);
            list.due_at = now + INTERVAL;
            if let Some(fetched) = fetched {
                list.faults = i64::try_from(fetched.faults).unwrap_or(i64::MAX);
                list.etag.clone_from(&fetched.etag);
                changes = store(cx, &mut tx, &list, fetched).await?;
            }
        }
        Err(error) => {
            tracing::info!(list.id = %id, %error, "failed to refresh a list of domains");
            list.failures += 1;
            list.due_at = now + back_off(list.failures);
            list.error = Some(error.chars().take(TEXT_MAX).collect());
        }
    }
    store::domain_subscription::update(&mut tx, &list).await?;
    if !changes.is_empty() {
        let staff = Staff { name: "subscription".to_owned(), ..Staff::operator() };
        let target = Target::new("domain_list", list.id, list.url.clone());
        let entry = Entry::new("domain_list.refresh", target).with(changes.details());
        audit::record(cx, &mut tx, &staff, entry).await?;
    }
    changes.clone().commit(cx, tx).await?;
    Ok(changes)
}

#[model::use_case]
#[job]
async fn refresh_domain_list(cx: &Cx, job: RefreshDomainList) -> Result<()> {
    match refresh(cx, job.list).await {
        // It is no longer subscribed to.
        Err(Error::NotFound) => Ok(()),
        other => other.map(drop),
    }
}

#[model::use_case]
#[job]
async fn refresh_domain_lists(cx: &Cx, job: RefreshDomainLists, claim: Claim) -> Result<Done, Failure> {
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let lists = store::domain_subscription::list(&mut tx).await?;
    for list in lists.iter().filter(|list| list.due_at <= now) {
        queue::enqueue(cx, &mut tx, &RefreshDomainList { list: list.id }).await?;
    }
    queue::finish(&mut tx, claim).await?;
    queue::enqueue_at(cx, &mut tx, &job, now + LOOK_EVERY).await?;
    tx.commit().await?;
    Ok(Done::Removed)
}

/// After so many failures in a row.
fn back_off(failures: i64) -> TimeDelta {
    let doublings = u32::try_from(failures - 1).unwrap_or_default().min(10);
    (FIRST_BACK_OFF * 2_i32.pow(doublings)).min(INTERVAL)
}

/// The list now; `None` when it has not changed. The inner error is the reason why it was not fetched.
async fn fetch(cx: &Cx, list: &DomainList) -> Result<Result<Option<Fetched>, String>> {
    let address = match Address::parse(&list.url) {
        Ok(address) => address,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let document = match web_page::file(cx, address, list.etag.as_deref(), LIST_MAX, TIMEOUT).await {
        Ok(Some(document)) => document,
        Ok(None) => return Ok(Ok(None)),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let etag = document.etag().filter(|etag| etag.len() <= TEXT_MAX).map(str::to_owned);
    // Exclusions may end, so that they count when the list is applied, not here.
    let rules = Rules::new(&cx.config, ListPolicy::Block, Vec::new());
    let (format, severity) = (list.format, list.severity);
    let read = move || read(parse(&document.body, format, severity.unwrap_or(Severity::Suspend), &rules)?, severity);
    let parsed = tokio::task::spawn_blocking(read).await.map_err(Error::internal)?;
    Ok(match parsed {
        Ok((entries, faults)) => Ok(Some(Fetched { entries, faults, etag })),
        Err(error) => Err(error.to_string()),
    })
}

/// The entries as they are stored, and the number of faults.
fn read(parsed: Parsed, severity: Option<Severity>) -> Result<(BTreeMap<String, String>, usize)> {
    if parsed.entries.len() > ENTRIES_MAX {
        return Err(Error::invalid(format!("The list has more than {ENTRIES_MAX} domains")));
    }
    if parsed.entries.is_empty() {
        return Err(Error::invalid(format!("The list has no domain, but {} lines with faults", parsed.faults_count)));
    }
    let entry = |mut entry: super::super::parse::Entry| {
        entry.block.severity = severity.unwrap_or(entry.block.severity);
        Ok((entry.domain, listed::write(entry.block)?))
    };
    Ok((parsed.entries.into_iter().map(entry).collect::<Result<_>>()?, parsed.faults_count))
}

/// Stores the entries of a list, or drafts its changes. Returns the changed blocks.
async fn store(cx: &Cx, tx: &mut Tx, list: &DomainList, fetched: Fetched) -> Result<Changes> {
    let old = store::domain_subscription::list_entries(&mut *tx, list.id).await?;
    let old: BTreeMap<String, String> = old.into_iter().map(|entry| (entry.domain, entry.block)).collect();
    let new = fetched.entries;
    let changed = new.iter().filter(|(domain, block)| old.get(*domain) != Some(*block));
    let removed = old.keys().filter(|domain| !new.contains_key(*domain));
    match list.mode {
        ListMode::Apply => {
            let put: Vec<ListedDomain> =
                changed.map(|(domain, block)| ListedDomain { domain: domain.clone(), block: block.clone() }).collect();
            let removed: Vec<&str> = removed.map(String::as_str).collect();
            for chunk in put.chunks(ROWS) {
                store::domain_subscription::put_entries(tx, list.id, chunk).await?;
            }
            for chunk in removed.chunks(ROWS) {
                store::domain_subscription::delete_entries(tx, list.id, chunk).await?;
            }
            write_drafts(tx, list.id, Vec::new()).await?;
            reconcile::reconcile(cx, tx).await
        }
        ListMode::Draft => {
            let excluded: Names = store::domain_subscription::list_exclusions(&mut *tx).await?.into_iter().collect();
            let is_excluded = |domain: &str| excluded.cover(domain) || excluded.below(domain).is_some();
            let draft = |domain: &String, change, block| Draft {
                list_id: list.id,
                domain: domain.clone(),
                change,
                block,
                dismissed: false,
            };
            let put = changed.filter(|(domain, _)| !is_excluded(domain)).map(|(domain, block)| {
                let change = if old.contains_key(domain) { DraftChange::Update } else { DraftChange::Add };
                draft(domain, change, Some(block.clone()))
            });
            let drafts = put.chain(removed.map(|domain| draft(domain, DraftChange::Remove, None))).collect();
            write_drafts(tx, list.id, drafts).await?;
            Ok(Changes::default())
        }
    }
}

/// Replaces the drafts of a list. A draft that was dismissed stays so until the list proposes something else.
async fn write_drafts(tx: &mut Tx, list: RowId, drafts: Vec<Draft>) -> Result<()> {
    let old = store::domain_subscription::list_drafts(&mut *tx, list).await?;
    let new: BTreeSet<&str> = drafts.iter().map(|draft| draft.domain.as_str()).collect();
    let gone: Vec<&str> =
        old.iter().map(|draft| draft.domain.as_str()).filter(|domain| !new.contains(domain)).collect();
    for chunk in gone.chunks(ROWS) {
        store::domain_subscription::delete_drafts(tx, list, chunk).await?;
    }
    let old: BTreeMap<&str, &Draft> = old.iter().map(|draft| (draft.domain.as_str(), draft)).collect();
    let differs = |draft: &&Draft| {
        let same = |old: &&Draft| old.change == draft.change && old.block == draft.block;
        !old.get(draft.domain.as_str()).is_some_and(same)
    };
    let put: Vec<Draft> = drafts.iter().filter(differs).cloned().collect();
    for chunk in put.chunks(ROWS) {
        store::domain_subscription::put_drafts(tx, list, chunk).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn back_off_doubles_up_to_a_day() {
        assert_eq!([1, 2, 3, 6, 100].map(|failures| back_off(failures).num_hours()), [1, 2, 4, 24, 24]);
    }
}
