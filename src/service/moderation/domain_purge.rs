//! Removing everything that is known of a domain: its accounts with their data, what is owed to its hosts, and their state.
//!
//! Reached from `/api/v1/admin/domains/purge` and `rookery domain purge`. No block: what is not blocked may come back. The
//! accounts are hidden in batches and removed by their own jobs; the end of their follows is sent to the domain, and what
//! it did not take when they are gone is dropped.
//!
//! Spec: docs/contract/admin.csv

use chrono::TimeDelta;
use context::error::{Error, Result};
use context::queue::{self, Next, PurgeDomain};
use context::{Cx, job};
use database::Tx;
use model::{AccountId, RowId, Staff, domain_policy};
use outbound::Target;
use serde_json::json;

use crate::audit::{self, Entry, Target as AuditTarget};
use crate::{domain_decision, removal};

/// Most accounts hidden, and deliveries deleted, in one transaction.
const ACCOUNT_BATCH: i64 = 50;
const DELIVERY_BATCH: i64 = 1_000;
/// Up to which number accounts and deliveries are counted.
const COUNTED_MAX: i64 = 100_000;
/// Most hosts of one domain.
const HOSTS_MAX: usize = 50;
/// How often, and how many times, the job looks whether the accounts are gone.
const PAUSE: TimeDelta = TimeDelta::minutes(1);
const LOOKS_MAX: u32 = 1_440;

/// What a purge removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extent {
    pub domain: String,
    /// Number of accounts, at most 100,000.
    pub accounts: i64,
    /// Number of deliveries that the domain is owed, at most 100,000.
    pub deliveries: i64,
}

/// What a purge of the domain `text` would remove.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, a domain of this server, and one of which nothing is known.
#[model::use_case]
pub async fn preview(cx: &Cx, text: &str) -> Result<Extent> {
    let domain = domain_decision::parse(cx, text)?;
    let accounts = store::purge::count_accounts(&cx.db, &domain, COUNTED_MAX).await?;
    let deliveries = store::purge::count_deliveries(&cx.db, &domain, COUNTED_MAX).await?;
    let is_known = accounts > 0
        || deliveries > 0
        || store::instance::is_known(&cx.db, &domain).await?
        || store::host::find(&cx.db, &domain).await?.is_some();
    if !is_known {
        return Err(Error::invalid(format!("Nothing is known of {domain}")));
    }
    Ok(Extent { domain, accounts, deliveries })
}

/// Begins the removal of everything that is known of the domain `text`.
///
/// # Errors
/// As [`preview`].
#[model::use_case]
pub async fn purge(cx: &Cx, staff: &Staff, text: &str) -> Result<Extent> {
    let extent = preview(cx, text).await?;
    let domain = extent.domain.clone();
    let target = AuditTarget::new("domain", RowId::from(0), domain.clone());
    let details = json!({ "accounts": extent.accounts, "deliveries": extent.deliveries });
    let hosts = vec![domain.clone()];
    let job = PurgeDomain { domain, after: AccountId::from(0), hosts, looks: 0 };
    let mut tx = cx.db.begin().await?;
    audit::record(cx, &mut tx, staff, Entry::new("domain.purge", target).with(details)).await?;
    queue::enqueue(cx, &mut tx, &job).await?;
    tx.commit().await?;
    Ok(extent)
}

#[model::use_case]
#[job]
async fn purge_domain(cx: &Cx, tx: &mut Tx, mut job: PurgeDomain) -> Result<Next<PurgeDomain>> {
    let batch = store::domain_policy::list_accounts(&mut *tx, &job.domain, job.after, ACCOUNT_BATCH).await?;
    if let Some(last) = batch.last() {
        let inboxes = store::purge::list_inboxes(&mut *tx, &job.domain, job.after, ACCOUNT_BATCH).await?;
        for inbox in inboxes.into_iter().flat_map(|(own, shared)| [own, shared]).flatten() {
            let host = Target::parse(&inbox).map(|target| target.authority()).unwrap_or_default();
            // Others have accounts on hosts that are not of the domain.
            let is_own = domain_policy::is_below(&host, &job.domain);
            if is_own && job.hosts.len() < HOSTS_MAX && !job.hosts.contains(&host) {
                job.hosts.push(host);
            }
        }
        for account in store::account::lock(tx, &batch).await? {
            removal::begin_removal(cx, tx, &account).await?;
        }
        job.after = *last;
        return Ok(Next::Now(job));
    }
    let left = store::purge::count_accounts(&mut *tx, &job.domain, 1).await?;
    if left > 0 && job.looks < LOOKS_MAX {
        job.looks += 1;
        return Ok(Next::At(cx.clock.now() + PAUSE, job));
    }
    for host in &job.hosts {
        if store::purge::delete_deliveries(tx, host, DELIVERY_BATCH).await? > 0 {
            return Ok(Next::Now(job));
        }
    }
    for host in &job.hosts {
        store::purge::delete_host(tx, host).await?;
    }
    Ok(Next::Nothing)
}
