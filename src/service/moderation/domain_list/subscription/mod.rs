//! Subscriptions to lists of blocked domains by their addresses: fetched daily, and applied or drafted.
//!
//! Reached from `/api/v1/admin/domain_lists` and `rookery domain subscription`. The entries of a list are stored
//! ([`refresh()`]); of several lists, the one with the highest priority decides about a domain ([`reconcile`]). Blocks that
//! people made are never changed by a list, and a block that a person changes belongs to no list. The changes of a list
//! that drafts wait for the staff ([`draft`]).
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

pub mod draft;
mod listed;
pub(super) mod reconcile;
mod refresh;

use std::collections::HashMap;

use outbound::Target as Address;
use serde_json::json;

use crate::audit::{self, Entry, Target};
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, RefreshDomainList};
use database::Tx;
use model::domain_list::{ListFormat, ListMode};
use model::instance::Severity;
use model::{RowId, Staff};
pub use store::domain_subscription::DomainList;

pub use listed::Listed;
pub use refresh::refresh;

/// Most subscriptions.
const MOST: usize = 20;
/// Longest address, in bytes.
const URL_MAX: usize = 2_000;
/// Highest and lowest priority, apart from their signs.
const PRIORITY_MAX: i64 = 1_000;
/// Most entries of a subscribed list; an imported one may have more.
pub(super) const ENTRIES_MAX: usize = 100_000;

/// A subscribed list, with the number of its entries and drafts.
#[derive(Clone, Debug)]
pub struct Subscription {
    pub list: DomainList,
    /// How many domains it names; of a list that drafts, only applied ones.
    pub entries: i64,
    /// How many changes wait for the staff.
    pub drafts: i64,
}

/// The options of a subscription.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// `None`: it is detected.
    pub format: Option<ListFormat>,
    /// From -1,000 to 1,000.
    pub priority: i64,
    pub mode: ListMode,
    /// The severity of all entries, whatever the list has for them.
    pub severity: Option<Severity>,
}

/// What happens to the blocks that a removed list made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// They are removed, unless another list names their domains.
    Remove,
    /// They stay, as decisions of the staff.
    Keep,
}

/// The subscriptions, by priority.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<Subscription>> {
    let lists = store::domain_subscription::list(&cx.db).await?;
    let counts: HashMap<RowId, (i64, i64)> = store::domain_subscription::counts(&cx.db)
        .await?
        .into_iter()
        .map(|(id, entries, drafts)| (id, (entries, drafts)))
        .collect();
    let subscription = |list: DomainList| {
        let (entries, drafts) = counts.get(&list.id).copied().unwrap_or_default();
        Subscription { list, entries, drafts }
    };
    Ok(lists.into_iter().map(subscription).collect())
}

/// One subscription.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find(cx: &Cx, id: RowId) -> Result<Subscription> {
    list(cx).await?.into_iter().find(|one| one.list.id == id).ok_or(Error::NotFound)
}

/// The subscription to the address `url`.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_by_url(cx: &Cx, url: &str) -> Result<Subscription> {
    list(cx).await?.into_iter().find(|one| one.list.url == url).ok_or(Error::NotFound)
}

/// Subscribes to the list at `url`, which a job fetches.
///
/// # Errors
/// [`Error::Invalid`] for an address that cannot be fetched or is subscribed to, a priority out of range, and when there
/// are too many lists.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, url: &str, options: Options) -> Result<Subscription> {
    let url = url.trim();
    let address = Address::parse(url).map_err(|error| Error::invalid(format!("{url:?} is {error}")))?;
    if url.len() > URL_MAX {
        return Err(Error::invalid(format!("An address has at most {URL_MAX} bytes")));
    }
    check(options)?;
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    if store::domain_subscription::lock(&mut tx).await?.len() >= MOST {
        return Err(Error::invalid(format!("There are at most {MOST} lists")));
    }
    let list = DomainList {
        id: cx.ids.next(),
        url: address.url().to_owned(),
        format: options.format,
        priority: options.priority,
        mode: options.mode,
        severity: options.severity,
        etag: None,
        due_at: now,
        fetched_at: None,
        failures: 0,
        error: None,
        faults: 0,
        created_at: now,
    };
    if !store::domain_subscription::insert(&mut tx, &list).await? {
        return Err(Error::invalid(format!("{} is subscribed to already", list.url)));
    }
    record(cx, &mut tx, staff, "domain_list.create", &list).await?;
    queue::enqueue(cx, &mut tx, &RefreshDomainList { list: list.id }).await?;
    tx.commit().await?;
    Ok(Subscription { list, entries: 0, drafts: 0 })
}

/// Changes the options of a subscription, and fetches it again.
///
/// # Errors
/// [`Error::NotFound`], and [`Error::Invalid`] for a priority out of range.
#[model::use_case]
pub async fn update(
    cx: &Cx,
    staff: &Staff,
    id: RowId,
    change: impl FnOnce(&mut Options) + Send,
) -> Result<Subscription> {
    let mut tx = cx.db.begin().await?;
    let mut list = lock(&mut tx, id).await?;
    let mut options =
        Options { format: list.format, priority: list.priority, mode: list.mode, severity: list.severity };
    change(&mut options);
    check(options)?;
    (list.format, list.priority, list.mode, list.severity) =
        (options.format, options.priority, options.mode, options.severity);
    (list.etag, list.due_at) = (None, cx.clock.now());
    store::domain_subscription::update(&mut tx, &list).await?;
    let changes = reconcile::reconcile(cx, &mut tx).await?;
    record(cx, &mut tx, staff, "domain_list.update", &list).await?;
    queue::enqueue(cx, &mut tx, &RefreshDomainList { list: id }).await?;
    changes.commit(cx, tx).await?;
    find(cx, id).await
}

/// Ends a subscription.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId, blocks: Blocks) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let list = lock(&mut tx, id).await?;
    let changes = match blocks {
        Blocks::Keep => reconcile::Changes::default(),
        Blocks::Remove => {
            store::domain_subscription::delete_all_entries(&mut tx, id).await?;
            reconcile::reconcile(cx, &mut tx).await?
        }
    };
    store::domain_subscription::delete(&mut tx, id).await?;
    let target = Target::new("domain_list", list.id, list.url);
    audit::record(cx, &mut tx, staff, Entry::new("domain_list.destroy", target).with(changes.details())).await?;
    changes.commit(cx, tx).await
}

/// Queues the refresh of a list now.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn queue_refresh(cx: &Cx, id: RowId) -> Result<Subscription> {
    let mut tx = cx.db.begin().await?;
    let mut list = lock(&mut tx, id).await?;
    list.due_at = cx.clock.now();
    store::domain_subscription::update(&mut tx, &list).await?;
    queue::enqueue(cx, &mut tx, &RefreshDomainList { list: id }).await?;
    tx.commit().await?;
    find(cx, id).await
}

/// Locks all lists; returns one of them.
async fn lock(tx: &mut Tx, id: RowId) -> Result<DomainList> {
    let lists = store::domain_subscription::lock(tx).await?;
    lists.into_iter().find(|list| list.id == id).ok_or(Error::NotFound)
}

fn check(options: Options) -> Result<()> {
    if !(-PRIORITY_MAX..=PRIORITY_MAX).contains(&options.priority) {
        return Err(Error::invalid(format!("A priority is from -{PRIORITY_MAX} to {PRIORITY_MAX}")));
    }
    Ok(())
}

async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, list: &DomainList) -> Result<()> {
    let details = json!({
        "priority": list.priority,
        "mode": list.mode,
        "format": list.format,
        "severity": list.severity,
    });
    let target = Target::new("domain_list", list.id, list.url.clone());
    audit::record(cx, tx, staff, Entry::new(action, target).with(details)).await
}
