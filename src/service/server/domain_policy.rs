//! The policy of this server about other servers: blocks of domains, and the domains that limited federation admits.
//!
//! Reached from `rookery domain`, later from the admin API. `Cx::domain_policy` reads the policy from memory. A change
//! starts a job that brings the known accounts of the domain and its subdomains in line with it: it suspends or limits
//! them and ends their follows, or lifts this. Suspensions and limits that follow from a block have the time of the
//! block, which tells them apart from decisions of moderators about single accounts; these are never changed.
//! `federation::policy` decides which servers are talked to. Blocks by single people are in
//! [`domain_block`](crate::domain_block).
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use std::collections::BTreeMap;

use crate::{domain, follow, notification};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use context::queue::{self, ApplyDomainPolicy};
use context::{Cx, job};
use database::Tx;
use model::domain_policy::{self, DomainPolicy, Flags};
use model::instance::Severity;
use model::severance::SeveranceKind;
use model::{Account, AccountId, NotificationType, Time};
use store::domain_policy::{Allow, Block};
use store::severance::Severance;

/// Most accounts changed in one transaction.
const ACCOUNT_BATCH: i64 = 100;
/// Most follows that end in one transaction.
const FOLLOW_BATCH: i64 = 50;
/// Most domains examined in one transaction.
const HOST_BATCH: i64 = 1_000;
/// Longest comment, in characters.
const COMMENT_MAX: usize = 10_000;

/// The parts of a block that its author chooses.
#[derive(Clone, Debug)]
pub struct BlockParams {
    pub severity: Severity,
    pub flags: Flags,
    /// The published list hides the middle of the domain.
    pub obfuscate: bool,
    /// The published list leaves the domain out.
    pub hidden: bool,
    /// For the moderators.
    pub private_comment: Option<String>,
    /// For the published list.
    pub public_comment: Option<String>,
}

/// Blocks the domain `text` and its subdomains, or replaces the block of the domain. Returns the stored block.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, a domain of this server, and a comment that is too long.
#[model::use_case]
pub async fn block(cx: &Cx, text: &str, params: BlockParams) -> Result<Block> {
    let domain = parse(cx, text)?;
    let now = cx.clock.now();
    let mut block = Block {
        id: cx.ids.next(),
        domain,
        severity: params.severity,
        flags: params.flags,
        obfuscate: params.obfuscate,
        hidden: params.hidden,
        private_comment: comment(params.private_comment)?,
        public_comment: comment(params.public_comment)?,
        created_at: now,
    };
    let mut tx = cx.db.begin().await?;
    (block.id, block.created_at) = store::domain_policy::upsert_block(&mut tx, &block).await?;
    apply(cx, tx, &block.domain, block.created_at, now).await?;
    Ok(block)
}

/// Removes the block of the domain `text`, and lifts the suspensions and limits that followed from it. Follows that it
/// ended are not restored. Returns the domain.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and when the domain is not blocked.
#[model::use_case]
pub async fn unblock(cx: &Cx, text: &str) -> Result<String> {
    let domain = read(text)?;
    let mut tx = cx.db.begin().await?;
    let Some(blocked_at) = store::domain_policy::delete_block(&mut tx, &domain).await? else {
        return Err(Error::invalid(format!("{domain} is not blocked")));
    };
    apply(cx, tx, &domain, blocked_at, cx.clock.now()).await?;
    Ok(domain)
}

/// Admits the domain `text`, without its subdomains, to limited federation. Returns the domain, and true when it was not
/// allowed before.
///
/// # Errors
/// As [`block`].
#[model::use_case]
pub async fn allow(cx: &Cx, text: &str) -> Result<(String, bool)> {
    let domain = parse(cx, text)?;
    let now = cx.clock.now();
    let mut tx = cx.db.begin().await?;
    let allow = Allow { id: cx.ids.next(), domain, created_at: now };
    let inserted = store::domain_policy::insert_allow(&mut tx, &allow).await?;
    if inserted {
        publish(cx, tx, now).await?;
    }
    Ok((allow.domain, inserted))
}

/// Removes the domain `text` from those that limited federation admits. Returns the domain.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and when the domain is not allowed.
#[model::use_case]
pub async fn disallow(cx: &Cx, text: &str) -> Result<String> {
    let domain = read(text)?;
    let mut tx = cx.db.begin().await?;
    if !store::domain_policy::delete_allow(&mut tx, &domain).await? {
        return Err(Error::invalid(format!("{domain} is not allowed")));
    }
    publish(cx, tx, cx.clock.now()).await?;
    Ok(domain)
}

/// All blocks and allows, by domain.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<(Vec<Block>, Vec<Allow>)> {
    Ok((store::domain_policy::list_blocks(&cx.db).await?, store::domain_policy::list_allows(&cx.db).await?))
}

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

fn read(text: &str) -> Result<String> {
    let fits = |domain: &String| domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    domain::parse(text)
        .filter(fits)
        .ok_or_else(|| Error::invalid(format!("{text:?} is not a domain: write it as in example.org")))
}

fn parse(cx: &Cx, text: &str) -> Result<String> {
    let domain = read(text)?;
    if [domain.as_str(), domain_policy::without_port(&domain)].iter().any(|own| cx.config.is_local_domain(own)) {
        return Err(Error::invalid(format!("{domain} is a domain of this server")));
    }
    Ok(domain)
}

/// A comment without surrounding space; `None` when it is empty.
fn comment(text: Option<String>) -> Result<Option<String>> {
    let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    if text.as_ref().is_some_and(|text| text.chars().count() > COMMENT_MAX || text.contains('\0')) {
        return Err(Error::invalid(format!("a comment has at most {COMMENT_MAX} characters")));
    }
    Ok(text)
}

/// Queues the job for a changed block, and commits.
async fn apply(cx: &Cx, mut tx: Tx, domain: &str, blocked_at: Time, now: Time) -> Result<()> {
    let job = ApplyDomainPolicy {
        domain: domain.to_owned(),
        blocked_at: blocked_at.timestamp_micros(),
        begun_at: now.timestamp_micros(),
        host: String::new(),
        after: AccountId::from(0),
    };
    queue::enqueue(cx, &mut tx, &job).await?;
    publish(cx, tx, now).await
}

/// Commits a change of the policy, and applies it in this process.
async fn publish(cx: &Cx, mut tx: Tx, now: Time) -> Result<()> {
    store::settings::bump_generation(&mut tx, now).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
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
        return next_host(tx, job).await;
    };
    if !align(cx, tx, &policy, &job, &batch).await? {
        job.after = *last;
    }
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
    Ok(!suspended.is_empty() || !limited.is_empty() || !pairs.is_empty())
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
    use model::domain_policy::Rule;

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
