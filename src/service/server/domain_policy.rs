//! The effect of the policy about other servers on their known accounts.
//!
//! [`domain_decision`](crate::domain_decision) changes the policy, and `Cx::domain_policy` reads it from memory. A change
//! starts a job that brings the known accounts of the domain and its subdomains in line with it: it suspends or limits
//! them and ends their follows, or lifts this. Suspensions and limits that follow from a block have the time of the
//! block, which tells them apart from decisions of moderators about single accounts; these are never changed.
//! `federation::policy` decides which servers are talked to.
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use std::collections::BTreeMap;

use crate::{follow, notification, removal};
use context::change::{self, Change};
use context::error::Result;
use context::extension::Notice;
use context::queue::{ApplyDomainPolicy, RemoveDisallowed};
use context::{Cx, job};
use database::Tx;
use model::domain_policy::{self, DomainPolicy};
use model::instance::Severity;
use model::severance::SeveranceKind;
use model::{Account, AccountId, NotificationType, Time};
use store::severance::Severance;

/// Most accounts changed in one transaction.
const ACCOUNT_BATCH: i64 = 100;
/// Most follows that end in one transaction.
const FOLLOW_BATCH: i64 = 50;
/// Most attachments that are cleared in one transaction.
const MEDIA_BATCH: i64 = 500;
/// Most domains examined in one transaction.
const HOST_BATCH: i64 = 1_000;
/// When a new account of `host` is suspended and limited by `policy`; `None` when it is not.
#[must_use]
pub fn standing_of_new(policy: &DomainPolicy, host: &str) -> (Option<Time>, Option<Time>) {
    let rule = policy.of(host);
    match rule.severity {
        Severity::Suspend => (rule.blocked_at, None),
        Severity::Silence => (None, rule.blocked_at),
        Severity::Noop => (None, None),
    }
}

/// Brings the next accounts of a domain and its subdomains in line with the policy that holds now. Returns the
/// remaining work.
#[model::use_case]
#[job]
async fn apply_domain_policy(cx: &Cx, tx: &mut Tx, mut job: ApplyDomainPolicy) -> Result<Option<ApplyDomainPolicy>> {
    // Another process may have changed the policy and queued this job.
    cx.reload().await?;
    let policy = cx.domain_policy();
    let batch = if job.host.is_empty() {
        Vec::new()
    } else {
        store::domain_policy::list_accounts(&mut *tx, &job.host, job.after, ACCOUNT_BATCH).await?
    };
    let Some(last) = batch.last() else {
        return if job.alone { Ok(None) } else { next_host(tx, job).await };
    };
    if !align(cx, tx, &policy, &job, &batch).await? {
        job.after = *last;
    }
    Ok(Some(job))
}

/// Removes the next accounts of a domain that limited federation no longer admits: they are suspended now, and their
/// data is deleted by jobs. Stops when the domain is allowed again. Returns the remaining work.
#[model::use_case]
#[job]
async fn remove_disallowed(cx: &Cx, tx: &mut Tx, mut job: RemoveDisallowed) -> Result<Option<RemoveDisallowed>> {
    cx.reload().await?;
    if !cx.config.access.limited_federation || cx.domain_policy().allows(&job.domain) {
        return Ok(None);
    }
    let batch = store::domain_policy::list_accounts(&mut *tx, &job.domain, job.after, ACCOUNT_BATCH).await?;
    let Some(last) = batch.last() else { return Ok(None) };
    for account in store::account::lock(tx, &batch).await? {
        removal::begin_removal(cx, tx, &account).await?;
    }
    job.after = *last;
    Ok(Some(job))
}

/// Continues with the next domain that the pass covers.
async fn next_host(tx: &mut Tx, mut job: ApplyDomainPolicy) -> Result<Option<ApplyDomainPolicy>> {
    let hosts = store::domain_policy::list_hosts(&mut *tx, &job.host, HOST_BATCH).await?;
    let Some(last) = hosts.last() else { return Ok(None) };
    match hosts.iter().find(|host| domain_policy::is_below(host, &job.domain)) {
        Some(host) => (job.host, job.after) = (host.clone(), AccountId::from(0)),
        // No account has a higher id, so the next step continues after this domain.
        None => (job.host, job.after) = (last.clone(), AccountId::from(i64::MAX)),
    }
    Ok(Some(job))
}

/// Suspends, limits or releases the accounts `batch` of the job's host, and ends some follows of suspended ones; true when
/// anything changed, so that the batch is examined again.
async fn align(
    cx: &Cx,
    tx: &mut Tx,
    policy: &DomainPolicy,
    job: &ApplyDomainPolicy,
    batch: &[AccountId],
) -> Result<bool> {
    let (suspended_at, limited_at) = standing_of_new(policy, &job.host);
    let pairs = match suspended_at {
        Some(_) => store::domain_policy::list_follow_pairs(&mut *tx, batch, FOLLOW_BATCH).await?,
        None => Vec::new(),
    };
    let all: Vec<AccountId> = pairs.iter().map(|(own, _)| *own).chain(batch.iter().copied()).collect();
    let locked = store::account::lock(tx, &all).await?;

    let mut times = policy.block_times(&job.host);
    times.push(Time::from_micros(job.blocked_at));
    // A change applies to accounts without a decision, or with one that followed from a block.
    let differing = |of: fn(&Account) -> Option<Time>, expected: Option<Time>| -> Vec<AccountId> {
        let changes = |account: &&Account| {
            let actual = of(account);
            actual != expected && actual.is_none_or(|time| times.contains(&time)) && batch.contains(&account.id)
        };
        locked.iter().filter(changes).map(|account| account.id).collect()
    };
    let suspended = differing(|account| account.suspended_at, suspended_at);
    let limited = differing(|account| account.limited_at, limited_at);
    if !suspended.is_empty() {
        store::domain_policy::set_suspended(tx, &suspended, suspended_at).await?;
    }
    if !limited.is_empty() {
        store::domain_policy::set_limited(tx, &limited, limited_at).await?;
    }
    let cleared =
        policy.of(&job.host).flags.reject_media && store::domain_policy::clear_media(tx, batch, MEDIA_BATCH).await? > 0;
    if suspended_at.is_some() {
        let changes: Vec<Change> = suspended.iter().map(|id| Change::AccountSuspended { account: *id }).collect();
        change::record_all(cx, tx, &changes).await?;
    }
    let is_local = |id: AccountId| locked.iter().any(|account| account.id == id && account.is_local());
    for (own, (followers, following)) in sever(cx, tx, &pairs).await? {
        if followers + following > 0 && is_local(own) {
            record(cx, tx, job, own, followers, following).await?;
        }
    }
    Ok(cleared || !suspended.is_empty() || !limited.is_empty() || !pairs.is_empty())
}

/// Ends the follows and requests of these pairs of a local and a remote account. Returns the ended follows of each local
/// account: by others, and by itself.
async fn sever(cx: &Cx, tx: &mut Tx, pairs: &[(AccountId, AccountId)]) -> Result<BTreeMap<AccountId, (i64, i64)>> {
    let mut lost: BTreeMap<AccountId, (i64, i64)> = BTreeMap::new();
    for (own, other) in pairs {
        let (followers, following) = lost.entry(*own).or_default();
        *following += i64::from(follow::sever(cx, tx, *own, *other).await?);
        *followers += i64::from(follow::sever(cx, tx, *other, *own).await?);
    }
    Ok(lost)
}

/// Adds lost follows to the severance of the account in this pass. The first ones create it, and notify the account.
async fn record(
    cx: &Cx,
    tx: &mut Tx,
    job: &ApplyDomainPolicy,
    account: AccountId,
    followers: i64,
    following: i64,
) -> Result<()> {
    let severance = Severance {
        id: cx.ids.next(),
        account_id: account,
        kind: SeveranceKind::DomainBlock,
        target_name: job.domain.clone(),
        purged: false,
        followers_count: followers,
        following_count: following,
        created_at: Time::from_micros(job.begun_at),
    };
    if store::severance::add(tx, &severance).await? {
        return Ok(());
    }
    store::severance::insert(tx, &severance).await?;
    let notice = Notice {
        receiver: account,
        from: account,
        kind: NotificationType::SeveredRelationships.into(),
        activity: severance.id.into(),
        status: None,
    };
    notification::notify(cx, tx, &[notice]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::domain_policy::{Flags, Rule};

    #[test]
    fn new_account_takes_the_time_of_the_block() {
        let rule = |severity, at| Rule { severity, flags: Flags::NONE, blocked_at: Some(Time::from_micros(at)) };
        let blocks = [
            ("gone.test", rule(Severity::Suspend, 1)),
            ("loud.test", rule(Severity::Silence, 2)),
            ("noop.test", rule(Severity::Noop, 3)),
        ];
        let policy = DomainPolicy::new(blocks.map(|(domain, rule)| (domain.to_owned(), rule)), []);
        assert_eq!(standing_of_new(&policy, "a.gone.test"), (Some(Time::from_micros(1)), None));
        assert_eq!(standing_of_new(&policy, "loud.test"), (None, Some(Time::from_micros(2))));
        for host in ["noop.test", "other.test"] {
            assert_eq!(standing_of_new(&policy, host), (None, None));
        }
    }
}
