//! The domains of accounts, in memory: an account never moves to another domain, so that they are read once.
//!
//! Reached from [`visibility`](super::visibility), for viewers who block domains: a page costs them no statement more than
//! others, once the authors are known.

use std::sync::Arc;

use quick_cache::sync::Cache;

use crate::Cx;
use crate::error::Result;
use model::AccountId;

/// Most accounts that are kept, about 100 bytes each.
const ACCOUNTS: usize = 50_000;

/// Domains by account; `None` of a local one.
#[derive(Debug)]
pub struct DomainsCache(Cache<AccountId, Option<Arc<str>>>);

impl Default for DomainsCache {
    fn default() -> Self {
        Self(Cache::new(ACCOUNTS))
    }
}

/// The domain of each account that exists among `ids`, in no particular order: one statement, or none when all are kept.
pub async fn find(cx: &Cx, ids: &[AccountId]) -> Result<Vec<(AccountId, Option<Arc<str>>)>> {
    let (mut found, mut missing) = (Vec::with_capacity(ids.len()), Vec::new());
    for id in ids {
        match cx.domains.0.get(id) {
            Some(domain) => found.push((*id, domain)),
            None => missing.push(*id),
        }
    }
    if !missing.is_empty() {
        for (id, domain) in store::account::domains(&cx.db, &missing).await? {
            let domain: Option<Arc<str>> = domain.map(Arc::from);
            cx.domains.0.insert(id, domain.clone());
            found.push((id, domain));
        }
    }
    Ok(found)
}
