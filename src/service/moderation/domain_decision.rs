//! Decisions about other servers: blocks of domains, and the domains that limited federation admits.
//!
//! Reached from `/api/v1/admin/domain_blocks`, `/api/v1/admin/domain_allows` and `rookery domain`. `Cx::domain_policy`
//! reads the policy from memory; [`domain_policy`](crate::domain_policy) applies a change of it to known accounts.
//! Blocks by single people are in [`domain_block`](crate::domain_block).
//!
//! Spec: docs/contract/admin.csv, docs/contract/federation.md#10-limited-federation-and-domain-policy

use serde_json::json;

use crate::audit::{self, Entry, Target};
use crate::domain;
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, ApplyDomainPolicy, RemoveDisallowed};
use database::Tx;
use model::domain_policy::{self, Flags};
use model::instance::Severity;
use model::{AccountId, Cursor, RowId, Staff, Time};
use store::domain_policy::{Allow, Block};

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

impl BlockParams {
    /// A block of this severity, without flags and comments.
    #[must_use]
    pub fn new(severity: Severity) -> Self {
        Self {
            severity,
            flags: Flags::NONE,
            obfuscate: false,
            hidden: false,
            private_comment: None,
            public_comment: None,
        }
    }
}

impl From<Block> for BlockParams {
    fn from(block: Block) -> Self {
        Self {
            severity: block.severity,
            flags: block.flags,
            obfuscate: block.obfuscate,
            hidden: block.hidden,
            private_comment: block.private_comment,
            public_comment: block.public_comment,
        }
    }
}

/// The result of [`create`].
#[derive(Debug)]
pub enum Created {
    /// The new block.
    Block(Block),
    /// This block covers the domain already, and the new one would not be stricter.
    Conflict(Block),
}

/// A page of the blocks, newest first.
#[model::use_case]
pub async fn list_blocks(cx: &Cx, cursor: &Cursor) -> Result<Vec<Block>> {
    Ok(store::domain_policy::list_blocks_page(&cx.db, cursor).await?)
}

/// One block.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_block(cx: &Cx, id: RowId) -> Result<Block> {
    store::domain_policy::find_block(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// Blocks the domain `text` and its subdomains, unless a block covers it that is at least as strict.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, a domain of this server, and a comment that is too long.
#[model::use_case]
pub async fn create(cx: &Cx, staff: &Staff, text: &str, params: BlockParams) -> Result<Created> {
    let block = new_block(cx, text, params)?;
    let domains: Vec<&str> = domain_policy::covering(&block.domain).collect();
    let mut tx = cx.db.begin().await?;
    let existing = store::domain_policy::list_of_domains(&mut tx, &domains).await?;
    let closest = existing.into_iter().max_by_key(|existing| existing.domain.len());
    if let Some(existing) = closest.filter(|existing| !overrides(&block, existing)) {
        return Ok(Created::Conflict(existing));
    }
    if !store::domain_policy::insert_block(&mut tx, &block).await? {
        // Made by a concurrent request; missing when it was removed meanwhile.
        let existing = store::domain_policy::list_of_domains(&mut tx, &[block.domain.as_str()]).await?.pop();
        return existing.map(Created::Conflict).ok_or_else(|| Error::Conflict("Try again".into()));
    }
    record(cx, &mut tx, staff, "domain_block.create", &block).await?;
    apply(cx, tx, &block.domain, block.created_at, cx.clock.now()).await?;
    Ok(Created::Block(block))
}

/// True when `new` may be made beside `existing`, which covers its domain: for another domain, and stricter
/// (docs/contract/admin.csv).
fn overrides(new: &Block, existing: &Block) -> bool {
    let kept = |flag: fn(&Flags) -> bool| !flag(&existing.flags) || flag(&new.flags);
    let stricter = match (new.severity, existing.severity) {
        (Severity::Suspend, _) => true,
        (_, Severity::Suspend) | (Severity::Noop, Severity::Silence) => false,
        (Severity::Silence | Severity::Noop, _) => {
            kept(|flags| flags.reject_media)
                && kept(|flags| flags.reject_favourite)
                && kept(|flags| flags.reject_reply_exclude_followers)
                && kept(|flags| flags.reject_reports)
        }
    };
    new.domain != existing.domain && stricter
}

/// Changes a block: `change` gets its current values. Its domain stays, and subscribed lists no longer change it.
///
/// # Errors
/// [`Error::NotFound`], and [`Error::Invalid`] for a comment that is too long.
#[model::use_case]
pub async fn update(cx: &Cx, staff: &Staff, id: RowId, change: impl FnOnce(&mut BlockParams) + Send) -> Result<Block> {
    let mut tx = cx.db.begin().await?;
    let stored = store::domain_policy::find_block(&mut tx, id).await?.ok_or(Error::NotFound)?;
    let (domain, created_at) = (stored.domain.clone(), stored.created_at);
    let mut params = BlockParams::from(stored);
    change(&mut params);
    let mut block = with_params(id, domain, created_at, params)?;
    (block.id, block.created_at) = store::domain_policy::upsert_block(&mut tx, &block).await?;
    store::domain_subscription::release(&mut tx, &[&block.domain]).await?;
    record(cx, &mut tx, staff, "domain_block.update", &block).await?;
    apply(cx, tx, &block.domain, block.created_at, cx.clock.now()).await?;
    Ok(block)
}

/// Removes a block, and lifts the suspensions and limits that followed from it. Follows that it ended are not restored.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let block = store::domain_policy::find_block(&mut tx, id).await?.ok_or(Error::NotFound)?;
    remove(cx, tx, staff, &block).await
}

/// Blocks the domain `text` and its subdomains, or replaces the block of the domain. Returns the stored block.
///
/// # Errors
/// As [`create`].
#[model::use_case]
pub async fn block(cx: &Cx, staff: &Staff, text: &str, params: BlockParams) -> Result<Block> {
    let mut block = new_block(cx, text, params)?;
    let new = block.id;
    let mut tx = cx.db.begin().await?;
    (block.id, block.created_at) = store::domain_policy::upsert_block(&mut tx, &block).await?;
    store::domain_subscription::release(&mut tx, &[&block.domain]).await?;
    let action = if block.id == new { "domain_block.create" } else { "domain_block.update" };
    record(cx, &mut tx, staff, action, &block).await?;
    apply(cx, tx, &block.domain, block.created_at, cx.clock.now()).await?;
    Ok(block)
}

/// As [`delete`], for the domain `text`. Returns the domain.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and when the domain is not blocked.
#[model::use_case]
pub async fn unblock(cx: &Cx, staff: &Staff, text: &str) -> Result<String> {
    let domain = read(text)?;
    let mut tx = cx.db.begin().await?;
    let Some(block) = store::domain_policy::list_of_domains(&mut tx, &[domain.as_str()]).await?.pop() else {
        return Err(Error::invalid(format!("{domain} is not blocked")));
    };
    remove(cx, tx, staff, &block).await?;
    Ok(domain)
}

async fn remove(cx: &Cx, mut tx: Tx, staff: &Staff, block: &Block) -> Result<()> {
    let Some(blocked_at) = store::domain_policy::delete_block(&mut tx, &block.domain).await? else {
        return Err(Error::NotFound);
    };
    record(cx, &mut tx, staff, "domain_block.destroy", block).await?;
    apply(cx, tx, &block.domain, blocked_at, cx.clock.now()).await
}

/// A page of the allows, newest first.
#[model::use_case]
pub async fn list_allows(cx: &Cx, cursor: &Cursor) -> Result<Vec<Allow>> {
    Ok(store::domain_policy::list_allows_page(&cx.db, cursor).await?)
}

/// One allow.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_allow(cx: &Cx, id: RowId) -> Result<Allow> {
    store::domain_policy::find_allow(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// Admits the domain `text`, without its subdomains, to limited federation. Returns the stored allow, and true when the
/// domain was not allowed before.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and a domain of this server.
#[model::use_case]
pub async fn allow(cx: &Cx, staff: &Staff, text: &str) -> Result<(Allow, bool)> {
    let domain = parse(cx, text)?;
    let mut tx = cx.db.begin().await?;
    let allow = Allow { id: cx.ids.next(), domain, created_at: cx.clock.now() };
    if store::domain_policy::insert_allow(&mut tx, &allow).await? {
        audit::record(cx, &mut tx, staff, allow_entry("domain_allow.create", &allow)).await?;
        publish(cx, tx).await?;
        return Ok((allow, true));
    }
    let existing = store::domain_policy::find_allow_of(&mut tx, &allow.domain).await?;
    Ok((existing.ok_or_else(|| Error::Conflict("Try again".into()))?, false))
}

/// Removes an allow. In limited federation the accounts of the domain are suspended by a job, and deleted.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete_allow(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    let allow = store::domain_policy::find_allow(&mut tx, id).await?.ok_or(Error::NotFound)?;
    remove_allow(cx, tx, staff, &allow).await
}

/// As [`delete_allow`], for the domain `text`. Returns the domain.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and when the domain is not allowed.
#[model::use_case]
pub async fn disallow(cx: &Cx, staff: &Staff, text: &str) -> Result<String> {
    let domain = read(text)?;
    let mut tx = cx.db.begin().await?;
    let Some(allow) = store::domain_policy::find_allow_of(&mut tx, &domain).await? else {
        return Err(Error::invalid(format!("{domain} is not allowed")));
    };
    remove_allow(cx, tx, staff, &allow).await?;
    Ok(domain)
}

async fn remove_allow(cx: &Cx, mut tx: Tx, staff: &Staff, allow: &Allow) -> Result<()> {
    if !store::domain_policy::delete_allow(&mut tx, &allow.domain).await? {
        return Err(Error::NotFound);
    }
    audit::record(cx, &mut tx, staff, allow_entry("domain_allow.destroy", allow)).await?;
    if cx.config.access.limited_federation {
        let job = RemoveDisallowed { domain: allow.domain.clone(), after: AccountId::from(0) };
        queue::enqueue(cx, &mut tx, &job).await?;
    }
    publish(cx, tx).await
}

/// All blocks and allows, by domain.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<(Vec<Block>, Vec<Allow>)> {
    Ok((store::domain_policy::list_blocks(&cx.db).await?, store::domain_policy::list_allows(&cx.db).await?))
}

fn new_block(cx: &Cx, text: &str, params: BlockParams) -> Result<Block> {
    with_params(cx.ids.next(), parse(cx, text)?, cx.clock.now(), params)
}

fn with_params(id: RowId, domain: String, created_at: Time, params: BlockParams) -> Result<Block> {
    Ok(Block {
        id,
        domain,
        severity: params.severity,
        flags: params.flags,
        obfuscate: params.obfuscate,
        hidden: params.hidden,
        private_comment: comment(params.private_comment)?,
        public_comment: comment(params.public_comment)?,
        created_at,
    })
}

async fn record(cx: &Cx, tx: &mut Tx, staff: &Staff, action: &'static str, block: &Block) -> Result<()> {
    let details = json!({
        "severity": block.severity,
        "flags": block.flags.names(),
        "obfuscate": block.obfuscate,
        "hidden": block.hidden,
    });
    let target = Target::new("domain_block", block.id, block.domain.clone());
    audit::record(cx, tx, staff, Entry::new(action, target).with(details)).await
}

fn allow_entry(action: &'static str, allow: &Allow) -> Entry {
    Entry::new(action, Target::new("domain_allow", allow.id, allow.domain.clone()))
}

/// The domain that `text` is, in lower-case ASCII.
///
/// # Errors
/// [`Error::Invalid`] for anything else.
pub(crate) fn read(text: &str) -> Result<String> {
    let fits = |domain: &String| domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
    domain::parse(text)
        .filter(fits)
        .ok_or_else(|| Error::invalid(format!("{text:?} is not a domain: write it as in example.org")))
}

/// The domain that `text` names.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and a domain of this server.
pub(crate) fn parse(cx: &Cx, text: &str) -> Result<String> {
    let domain = read(text)?;
    if [domain.as_str(), domain_policy::without_port(&domain)].iter().any(|own| cx.config.is_local_domain(own)) {
        return Err(Error::invalid(format!("{domain} is a domain of this server")));
    }
    Ok(domain)
}

/// A comment without surrounding space; `None` when it is empty.
pub(crate) fn comment(text: Option<String>) -> Result<Option<String>> {
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
        alone: false,
    };
    queue::enqueue(cx, &mut tx, &job).await?;
    publish(cx, tx).await
}

/// Commits a change of the policy, and applies it in this process.
pub(crate) async fn publish(cx: &Cx, mut tx: Tx) -> Result<()> {
    store::settings::bump_generation(&mut tx, cx.clock.now()).await?;
    tx.commit().await?;
    cx.reload().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(domain: &str, severity: Severity, flags: Flags) -> Block {
        Block {
            id: RowId::from(1),
            domain: domain.to_owned(),
            severity,
            flags,
            obfuscate: false,
            hidden: false,
            private_comment: None,
            public_comment: None,
            created_at: Time::from_micros(0),
        }
    }

    #[test]
    fn only_a_stricter_block_overrides_one_above() {
        use Severity::{Noop, Silence, Suspend};
        let overrides = |new, existing, new_flags, existing_flags| {
            overrides(&block("a.evil.test", new, new_flags), &block("evil.test", existing, existing_flags))
        };
        let media = Flags { reject_media: true, ..Flags::NONE };
        let hashtag = Flags { reject_hashtag: true, ..Flags::NONE };
        for (new, existing, stricter) in [
            (Suspend, Suspend, true),
            (Suspend, Noop, true),
            (Silence, Suspend, false),
            (Noop, Suspend, false),
            (Noop, Silence, false),
            (Silence, Silence, true),
            (Silence, Noop, true),
            (Noop, Noop, true),
        ] {
            assert_eq!(overrides(new, existing, Flags::NONE, Flags::NONE), stricter, "{new} {existing}");
            assert_eq!(overrides(new, existing, media, media), stricter, "{new} {existing}");
        }
        assert!(!overrides(Silence, Noop, Flags::NONE, media) && overrides(Suspend, Noop, Flags::NONE, media));
        assert!(overrides(Silence, Silence, Flags::NONE, hashtag), "only some flags count");
        let same = block("evil.test", Suspend, Flags::NONE);
        assert!(!super::overrides(&same, &block("evil.test", Noop, Flags::NONE)));
    }
}
