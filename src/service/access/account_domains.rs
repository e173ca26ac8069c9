//! The domains of accounts. An account never moves to another domain, so a domain is read only once.
//!
//! Reached from [`visibility`](crate::visibility), for viewers who block domains. A page takes no further statement
//! once its authors are cached.

use std::sync::Arc;

use context::Cx;
use context::error::Result;
use model::AccountId;

/// The domain of each account that exists among `ids`, in no particular order. One statement, or none when all are
/// cached.
#[model::use_case]
pub async fn find(cx: &Cx, ids: &[AccountId]) -> Result<Vec<(AccountId, Option<Arc<str>>)>> {
    let (mut found, mut missing) = (Vec::with_capacity(ids.len()), Vec::new());
    for id in ids {
        match cx.caches.domains.get(id) {
            Some(domain) => found.push((*id, domain)),
            None => missing.push(*id),
        }
    }
    if !missing.is_empty() {
        for (id, domain) in store::account::domains(&cx.db, &missing).await? {
            let domain: Option<Arc<str>> = domain.map(Arc::from);
            cx.caches.domains.insert(id, domain.clone());
            found.push((id, domain));
        }
    }
    Ok(found)
}
