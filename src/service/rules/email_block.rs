//! Blocked e-mail addresses: domains with their subdomains, and single addresses in all their spellings.
//!
//! Reached from `/api/v1/admin/email_domain_blocks`, `/api/v1/admin/canonical_email_blocks` and `rookery email-block`.
//! [`judge`] is their effect, at sign-up and when an address is changed. Does not look up MX records.
//!
//! Spec: docs/contract/admin.csv, docs/contract/rules.md#8-oauth-and-sign-up

use serde_json::json;

use super::audit::{self, Entry, Target};
use crate::domain;
use context::Cx;
use context::error::{Error, OnUnique, Result, Validation};
use database::Tx;
use model::{Cursor, RowId, Staff, Time};
use store::email_block::{CanonicalEmailBlock, EmailDomainBlock};

/// How many days of attempts are kept, today included.
const HISTORY_DAYS: i64 = 7;

/// Seconds of a day.
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// Validates an e-mail address.
pub fn check_email(email: &str, faults: &mut Validation) {
    if email.is_empty() {
        faults.add("email", "ERR_BLANK", "can't be blank");
    } else if email.len() > 254 || email.parse::<lettre::Address>().is_err() {
        faults.add("email", "ERR_INVALID", "is not an e-mail address");
    }
}

/// Whether an e-mail address may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Accepted,
    /// A moderator decides about the sign-up.
    NeedsApproval,
    /// Its domain is blocked.
    Blocked,
    /// The address is blocked. Looks like an address in use, so that nobody learns of the block.
    Taken,
}

/// What the blocks say of the address `email`. A block covers its domain and all subdomains; one that requires approval
/// gives way to one that does not.
pub(crate) async fn judge(cx: &Cx, email: &str) -> Result<Judgement> {
    Ok(covering_blocks(cx, email).await?.0)
}

/// As [`judge`], and counts the attempt to sign up against the blocks of domains.
pub(crate) async fn judge_sign_up(cx: &Cx, email: &str) -> Result<Judgement> {
    let (judgement, blocks) = covering_blocks(cx, email).await?;
    if !blocks.is_empty() {
        let mut tx = cx.db.begin().await?;
        store::email_block::count_attempt(&mut tx, &blocks, today(cx), &canonical_hash(email)).await?;
        tx.commit().await?;
    }
    Ok(judgement)
}

async fn covering_blocks(cx: &Cx, email: &str) -> Result<(Judgement, Vec<RowId>)> {
    let name = email.rsplit_once('@').and_then(|(_, name)| domain::normalise(name.trim().trim_end_matches('.')));
    let blocks = match &name {
        Some(name) => store::email_block::list_of_domains(&cx.db, &covering(name)).await?,
        None => Vec::new(),
    };
    let judgement = if blocks.iter().any(|block| !block.allow_with_approval) {
        Judgement::Blocked
    } else if store::email_block::find_by_hash(&cx.db, &canonical_hash(email)).await?.is_some() {
        Judgement::Taken
    } else if blocks.is_empty() {
        Judgement::Accepted
    } else {
        Judgement::NeedsApproval
    };
    Ok((judgement, blocks.iter().map(|block| block.id).collect()))
}

impl Judgement {
    /// Adds a fault when the address may not be used; true when its sign-up needs approval.
    pub(crate) fn check(self, faults: &mut Validation) -> bool {
        match self {
            Self::Accepted => false,
            Self::NeedsApproval => true,
            Self::Blocked => {
                faults.add("email", "ERR_BLOCKED", "is of a provider that this server does not accept");
                false
            }
            Self::Taken => {
                faults.add("email", "ERR_TAKEN", "has already been taken");
                false
            }
        }
    }
}

/// `domain` and the domains above it.
fn covering(domain: &str) -> Vec<&str> {
    std::iter::successors(Some(domain), |domain| Some(domain.split_once('.')?.1)).collect()
}

/// The hash by which a blocked address is stored: SHA-256, in hexadecimal, of the address in lower case, whose local
/// part has neither dots nor anything from `+` on.
#[must_use]
pub fn canonical_hash(email: &str) -> String {
    let email = email.trim().to_lowercase();
    let (local, domain) = email.rsplit_once('@').unwrap_or((&email, ""));
    let local = local.split('+').next().unwrap_or_default().replace('.', "");
    crypto::sha256_hex(format!("{local}@{domain}").as_bytes())
}

/// A page of the blocked domains, newest first.
#[model::use_case]
pub async fn list_domains(cx: &Cx, cursor: &Cursor) -> Result<Vec<EmailDomainBlock>> {
    Ok(store::email_block::list_domains(&cx.db, cursor).await?)
}

/// The block of a domain.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_domain(cx: &Cx, id: RowId) -> Result<EmailDomainBlock> {
    store::email_block::find_domain(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The block of exactly the domain `text`.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and for one that is not blocked.
#[model::use_case]
pub async fn find_domain_by_name(cx: &Cx, text: &str) -> Result<EmailDomainBlock> {
    let domain = read_domain(text)?;
    let found = store::email_block::list_of_domains(&cx.db, &[domain.as_str()]).await?.pop();
    found.ok_or_else(|| Error::invalid(format!("{domain} is not blocked")))
}

/// Blocks the addresses of the domain `text` and its subdomains.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and for one that is blocked already.
#[model::use_case]
pub async fn create_domain(cx: &Cx, staff: &Staff, text: &str, allow_with_approval: bool) -> Result<EmailDomainBlock> {
    let domain = read_domain(text)?;
    let block = EmailDomainBlock { id: cx.ids.next(), domain, allow_with_approval, created_at: cx.clock.now() };
    let already = || Error::invalid(format!("domain: {} is blocked already", block.domain));
    let mut tx = cx.db.begin().await?;
    store::email_block::insert_domain(&mut tx, &block).await.on_unique(already)?;
    let target = Target::new("email_domain_block", block.id, block.domain.clone());
    let details = json!({ "allow_with_approval": allow_with_approval });
    audit::record(cx, &mut tx, staff, Entry::new("email_domain_block.create", target).with(details)).await?;
    tx.commit().await?;
    Ok(block)
}

/// Deletes the block of a domain.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete_domain(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let block = find_domain(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    if !store::email_block::delete_domain(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    let target = Target::new("email_domain_block", block.id, block.domain);
    audit::record(cx, &mut tx, staff, Entry::new("email_domain_block.destroy", target)).await?;
    tx.commit().await?;
    Ok(())
}

/// The first day of attempts that are kept at `now`, counted from the epoch.
#[must_use]
pub fn first_kept_day(now: Time) -> i64 {
    day(now) - HISTORY_DAYS + 1
}

/// A page of the blocked addresses, newest first.
#[model::use_case]
pub async fn list_addresses(cx: &Cx, cursor: &Cursor) -> Result<Vec<CanonicalEmailBlock>> {
    Ok(store::email_block::list_addresses(&cx.db, cursor).await?)
}

/// The block of an address.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn find_address(cx: &Cx, id: RowId) -> Result<CanonicalEmailBlock> {
    store::email_block::find_address(&cx.db, id).await?.ok_or(Error::NotFound)
}

/// The block of the address `email`, if it is blocked.
#[model::use_case]
pub async fn test_address(cx: &Cx, email: &str) -> Result<Option<CanonicalEmailBlock>> {
    Ok(store::email_block::find_by_hash(&cx.db, &canonical_hash(email)).await?)
}

/// The block of the address with this hash, if it is blocked.
#[model::use_case]
pub async fn find_by_hash(cx: &Cx, hash: &str) -> Result<Option<CanonicalEmailBlock>> {
    Ok(store::email_block::find_by_hash(&cx.db, &hash.trim().to_ascii_lowercase()).await?)
}

/// Blocks the address `email`, otherwise the address with the hash `hash`.
///
/// # Errors
/// [`Error::Invalid`] when both are missing, for a text that is neither, and for an address that is blocked already.
#[model::use_case]
pub async fn create_address(
    cx: &Cx,
    staff: &Staff,
    email: Option<&str>,
    hash: Option<&str>,
) -> Result<CanonicalEmailBlock> {
    let given = |text: Option<&str>| text.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
    let hash = match (given(email), given(hash)) {
        (Some(email), _) => hash_of(&email)?,
        (None, Some(hash)) => read_hash(&hash)?,
        (None, None) => return Err(Error::invalid("email or canonical_email_hash is missing")),
    };
    let block = CanonicalEmailBlock { id: cx.ids.next(), canonical_email_hash: hash, created_at: cx.clock.now() };
    let mut tx = cx.db.begin().await?;
    let already = || Error::invalid("email: is blocked already");
    store::email_block::insert_address(&mut tx, &block).await.on_unique(already)?;
    audit::record(cx, &mut tx, staff, entry("canonical_email_block.create", &block)).await?;
    tx.commit().await?;
    Ok(block)
}

/// Blocks the address of an account that is deleted while it is suspended, so that the person does not sign up again
/// with it.
pub(crate) async fn keep_out(cx: &Cx, tx: &mut Tx, email: &str) -> Result<()> {
    let hash = canonical_hash(email);
    let block = CanonicalEmailBlock { id: cx.ids.next(), canonical_email_hash: hash, created_at: cx.clock.now() };
    Ok(store::email_block::insert_new_address(tx, &block).await?)
}

/// Deletes the block of an address.
///
/// # Errors
/// [`Error::NotFound`].
#[model::use_case]
pub async fn delete_address(cx: &Cx, staff: &Staff, id: RowId) -> Result<()> {
    let block = find_address(cx, id).await?;
    let mut tx = cx.db.begin().await?;
    if !store::email_block::delete_address(&mut tx, id).await? {
        return Err(Error::NotFound);
    }
    audit::record(cx, &mut tx, staff, entry("canonical_email_block.destroy", &block)).await?;
    tx.commit().await?;
    Ok(())
}

fn entry(action: &'static str, block: &CanonicalEmailBlock) -> Entry {
    Entry::new(action, Target::new("canonical_email_block", block.id, block.canonical_email_hash.clone()))
}

fn today(cx: &Cx) -> i64 {
    day(cx.clock.now())
}

fn day(time: Time) -> i64 {
    time.timestamp().div_euclid(DAY_SECONDS)
}

fn hash_of(email: &str) -> Result<String> {
    let mut faults = Validation::default();
    check_email(email, &mut faults);
    faults.check().map_err(|_| Error::invalid("email: is not an e-mail address"))?;
    Ok(canonical_hash(email))
}

fn read_hash(text: &str) -> Result<String> {
    let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hash {
        return Err(Error::invalid("canonical_email_hash: must be a SHA-256 hash in 64 hexadecimal digits"));
    }
    Ok(text.to_ascii_lowercase())
}

fn read_domain(text: &str) -> Result<String> {
    let fits = |domain: &String| domain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte));
    domain::parse(text)
        .filter(fits)
        .ok_or_else(|| Error::invalid(format!("domain: {text:?} is not a domain: write it as in example.org")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_an_address_have_one_hash() {
        let hash = "973dfe463ec85785f5f95af5ba3906eedb2d931c24e69824a89ea65dba4e813b";
        for email in ["test@example.com", " TEST@Example.COM ", "t.e.s.t@example.com", "te.st+a.b+c@example.com"] {
            assert_eq!(canonical_hash(email), hash, "{email}");
        }
        for email in ["test@exam.ple.com", "test@sub.example.com", "tes@example.com", "test", ""] {
            assert_ne!(canonical_hash(email), hash, "{email}");
        }
    }

    #[test]
    fn block_covers_the_domains_below() {
        assert_eq!(covering("a.b.test"), ["a.b.test", "b.test", "test"]);
        assert_eq!(covering("test"), ["test"]);
    }

    #[test]
    fn only_plain_domains_are_blocked() {
        assert_eq!(read_domain(" Mail.Example.ORG ").expect("a domain"), "mail.example.org");
        assert_eq!(read_domain("bücher.example").expect("a domain"), "xn--bcher-kva.example");
        for text in ["", "a@b.test", "https://b.test/", "@b.test", "b.test:25", "*.b.test", "a b", "b..test"] {
            assert!(read_domain(text).is_err(), "{text}");
        }
    }
}
