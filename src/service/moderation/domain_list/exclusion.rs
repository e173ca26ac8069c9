//! Domains that no list may block: friends of this server, whatever others write about them.
//!
//! An exclusion covers its domain, its subdomains and the domains above it, whose blocks would cover it. Decisions of
//! people are not bound by it.
//!
//! Spec: docs/contract/federation.md#10-limited-federation-and-domain-policy

use super::subscription::reconcile::{self, Changes};
use crate::audit::{self, Entry, Target};
use crate::domain_decision;
use context::Cx;
use context::error::{Error, Result};
use database::Tx;
use model::{RowId, Staff};

/// Most exclusions.
const MOST: usize = 10_000;

/// The excluded domains, in order.
#[model::use_case]
pub async fn list(cx: &Cx) -> Result<Vec<String>> {
    Ok(store::domain_subscription::list_exclusions(&cx.db).await?)
}

/// Excludes the domain `text`, and removes the blocks of it that lists made. Returns the domain, and true when it was not
/// excluded before.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain, and when there are too many.
#[model::use_case]
pub async fn exclude(cx: &Cx, staff: &Staff, text: &str) -> Result<(String, bool)> {
    let domain = domain_decision::read(text)?;
    let mut tx = cx.db.begin().await?;
    store::domain_subscription::lock(&mut tx).await?;
    if store::domain_subscription::list_exclusions(&mut tx).await?.len() >= MOST {
        return Err(Error::invalid(format!("At most {MOST} domains can be excluded")));
    }
    if !store::domain_subscription::insert_exclusion(&mut tx, &domain, cx.clock.now()).await? {
        return Ok((domain, false));
    }
    finish(cx, tx, staff, "domain_exclusion.create", &domain).await?;
    Ok((domain, true))
}

/// Ends the exclusion of the domain `text`, which lists may block again. Returns the domain.
///
/// # Errors
/// [`Error::Invalid`] for an invalid domain; [`Error::NotFound`] when it is not excluded.
#[model::use_case]
pub async fn unexclude(cx: &Cx, staff: &Staff, text: &str) -> Result<String> {
    let domain = domain_decision::read(text)?;
    let mut tx = cx.db.begin().await?;
    let lists = store::domain_subscription::lock(&mut tx).await?;
    if !store::domain_subscription::delete_exclusion(&mut tx, &domain).await? {
        return Err(Error::NotFound);
    }
    for mut list in lists {
        // Drafts leave excluded domains out, so the whole list is compared again.
        list.etag = None;
        store::domain_subscription::update(&mut tx, &list).await?;
    }
    finish(cx, tx, staff, "domain_exclusion.destroy", &domain).await?;
    Ok(domain)
}

async fn finish(cx: &Cx, mut tx: Tx, staff: &Staff, action: &'static str, domain: &str) -> Result<()> {
    let changes: Changes = reconcile::reconcile(cx, &mut tx).await?;
    let target = Target::new("domain_exclusion", RowId::from(0), domain);
    audit::record(cx, &mut tx, staff, Entry::new(action, target).with(changes.details())).await?;
    changes.commit(cx, tx).await
}
