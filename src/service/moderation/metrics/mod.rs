//! Metrics for staff: numbers over time ([`measure`]), split by a property ([`dimension`]), and cohorts ([`retention`]).
//!
//! Reached from the metrics routes of the admin API. Users, reports and hashtags are counted when they are asked for,
//! in a range of ids; numbers of whole servers come from counts of past days ([`count`]), to which the current day is
//! added. All days are in UTC. `entity` caches responses for five minutes.
//!
//! Spec: docs/contract/extensions.md#13-admin-api

pub mod count;
pub mod dimension;
pub mod measure;
pub mod period;
pub mod retention;

use context::Cx;
use context::error::{Error, Result};
use model::TagId;
pub use store::day_count::ServerNumber;

/// A number of the public uses of a hashtag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagNumber {
    Accounts,
    Uses,
    Servers,
}

/// A server, with its subdomains if these are included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerQuery {
    /// The domain as the caller wrote it; the domain of this server is allowed.
    pub domain: String,
    pub include_subdomains: bool,
}

/// The domains of a query as they are counted: empty for this server.
async fn domains(cx: &Cx, query: &ServerQuery) -> Result<Vec<String>> {
    let domain = query.domain.trim().to_lowercase();
    let own = domain == cx.config.server.local_domain.as_str();
    let mut domains = vec![if own { String::new() } else { domain.clone() }];
    if query.include_subdomains {
        domains.extend(store::metrics::list_subdomains(&cx.db, &format!(".{domain}")).await?);
    }
    Ok(domains)
}

/// # Errors
/// [`Error::NotFound`] when there is no such hashtag.
async fn check_tag(cx: &Cx, id: TagId) -> Result<()> {
    let found = store::tag_review::list_by_ids(&cx.db, None, &[id]).await?;
    if found.is_empty() { Err(Error::NotFound) } else { Ok(()) }
}
