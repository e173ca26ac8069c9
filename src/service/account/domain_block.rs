//! Domain blocks by a person, and their effects: they end follows and requests both ways, and delete notifications
//! and conversations from the domain.
//!
//! Reached from `/api/v1/domain_blocks`, and [`sever_domain`] from a job. The effect on visibility is implemented
//! elsewhere: for statuses in [`visibility`](crate::visibility), for notifications in [`notification`].
//! [`instance`](crate::instance) shows the server's own domain blocks.
//!
//! Spec: docs/contract/rules.md#20-blocks-and-requests.

use crate::{domain, follow, notification};
use context::change::{self, Change};
use context::error::{Error, Result};
use context::extension::Notice;
use context::queue::SeverDomain;
use context::{Cx, job};
use database::Tx;
use model::severance::SeveranceKind;
use model::{AccountId, Actor, Cursor, NotificationType, RowId};
use store::domain_block::FollowCounts;
use store::severance::Severance;

/// Most accounts whose follows end in one transaction.
const ACCOUNT_BATCH: i64 = 50;
/// Most notifications or conversations deleted in one transaction.
const ROW_BATCH: i64 = 1_000;

/// Makes `actor` block the domain `text`. Repeating it is not an error.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and for a domain of this server.
#[model::use_case]
pub async fn block(cx: &Cx, actor: &Actor, text: &str) -> Result<()> {
    let domain = parse(cx, text)?;
    let mut tx = cx.db.begin().await?;
    // A concurrent follow locks both accounts as well: either the job finds it, or it is refused.
    store::account::lock(&mut tx, &[actor.id]).await?;
    if store::domain_block::insert(&mut tx, cx.ids.next(), actor.id, &domain, cx.clock.now()).await? {
        change::record(cx, &mut tx, Change::DomainBlocked { account: actor.id, domain }).await?;
    }
    tx.commit().await?;
    Ok(())
}

/// Ends a block; not an error when there is none. Ended follows and deleted rows are not restored.
#[model::use_case]
pub async fn unblock(cx: &Cx, actor: &Actor, text: &str) -> Result<()> {
    let Some(domain) = domain::parse(text) else { return Ok(()) };
    let mut tx = cx.db.begin().await?;
    store::domain_block::delete(&mut tx, actor.id, &domain).await?;
    tx.commit().await?;
    Ok(())
}

/// The domains that `viewer` blocks, most recent block first, each with its key.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<Vec<(RowId, String)>> {
    Ok(store::domain_block::list(&cx.db, viewer.id, cursor).await?)
}

/// How many follows a block of the domain `text` would end.
///
/// # Errors
/// As [`block`].
#[model::use_case]
pub async fn preview(cx: &Cx, viewer: &Actor, text: &str) -> Result<FollowCounts> {
    let domain = parse(cx, text)?;
    Ok(store::domain_block::count_follows(&cx.db, viewer.id, &domain).await?)
}

fn parse(cx: &Cx, text: &str) -> Result<String> {
    let domain =
        domain::parse(text).ok_or_else(|| Error::invalid("Validation failed: Domain is not a valid domain name"))?;
    if cx.config.is_local_domain(&domain) {
        return Err(Error::invalid("Validation failed: Domain is a domain of this server"));
    }
    Ok(domain)
}

/// Processes the next batch of a new domain block: ends follows and requests, then deletes notifications and
/// conversations, and finally notifies the account of lost relationships, if any. Returns the remaining work. Stops
/// when the block was removed.
#[model::use_case]
#[job]
async fn sever_domain(cx: &Cx, tx: &mut Tx, mut job: SeverDomain) -> Result<Option<SeverDomain>> {
    if store::domain_block::exists(&mut *tx, job.account, &job.domain).await? {
        let others =
            store::domain_block::list_related(&mut *tx, job.account, &job.domain, job.after, ACCOUNT_BATCH).await?;
        if let Some(last) = others.last() {
            job.after = *last;
            sever(cx, tx, &mut job, &others).await?;
            return Ok(Some(job));
        }
        if forget_batch(tx, &job).await? {
            return Ok(Some(job));
        }
    }
    if job.followers + job.following > 0 {
        record(cx, tx, job).await?;
    }
    Ok(None)
}

/// Ends the follows and requests between the account and `others`, and counts the follows.
async fn sever(cx: &Cx, tx: &mut Tx, job: &mut SeverDomain, others: &[AccountId]) -> Result<()> {
    let all: Vec<AccountId> = others.iter().copied().chain([job.account]).collect();
    store::account::lock(tx, &all).await?;
    for other in others {
        job.following += i64::from(follow::sever(cx, tx, job.account, *other).await?);
        job.followers += i64::from(follow::sever(cx, tx, *other, job.account).await?);
    }
    Ok(())
}

/// Deletes the next notifications from the domain, then conversations with it; true when more may be left.
async fn forget_batch(tx: &mut Tx, job: &SeverDomain) -> Result<bool> {
    let (account, domain) = (job.account, job.domain.as_str());
    if store::notification::delete_some_from_domain(tx, account, domain, ROW_BATCH).await? > 0 {
        return Ok(true);
    }
    store::notification::requests::forget_domain(tx, account, domain).await?;
    Ok(store::conversation::delete_some_with_domain(tx, account, domain, ROW_BATCH).await? > 0)
}

/// Records the relationships that the account lost, and notifies it.
async fn record(cx: &Cx, tx: &mut Tx, job: SeverDomain) -> Result<()> {
    let severance = Severance {
        id: cx.ids.next(),
        account_id: job.account,
        kind: SeveranceKind::UserDomainBlock,
        target_name: job.domain,
        purged: false,
        followers_count: job.followers,
        following_count: job.following,
        created_at: cx.clock.now(),
    };
    store::severance::insert(tx, &severance).await?;
    let notice = Notice {
        receiver: job.account,
        from: job.account,
        kind: NotificationType::SeveredRelationships.into(),
        activity: severance.id.into(),
        status: None,
    };
    notification::notify(cx, tx, &[notice]).await.map(drop)
}
