//! The removal of everything that is known of a domain.

use serde::Serialize;
use service::domain_purge::Extent;

/// What a purge of a domain removes, or would remove.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainPurge {
    pub domain: String,
    /// At most 100,000.
    pub accounts_count: i64,
    /// At most 100,000.
    pub deliveries_count: i64,
    /// False for a preview.
    pub purged: bool,
}

impl DomainPurge {
    /// `purged`: it began.
    #[must_use]
    pub fn new(extent: Extent, purged: bool) -> Self {
        let Extent { domain, accounts, deliveries } = extent;
        Self { domain, accounts_count: accounts, deliveries_count: deliveries, purged }
    }
}
