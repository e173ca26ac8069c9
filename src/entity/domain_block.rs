//! Domains that a person blocks. `DomainBlock`, a block by the server, is in [`instance`](super::instance).
//!
//! <https://docs.joinmastodon.org/methods/domain_blocks/>

use serde::Serialize;

use context::error::Result;
use context::json::{Array, Fragment};
use store::domain_block::FollowCounts;

/// The relationships that a block would end.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainBlockPreview {
    pub following_count: i64,
    pub followers_count: i64,
}

impl From<FollowCounts> for DomainBlockPreview {
    fn from(counts: FollowCounts) -> Self {
        Self { following_count: counts.following, followers_count: counts.followers }
    }
}

/// Renders the names of domains.
pub fn render(domains: &[String]) -> Result<Array> {
    Ok(domains.iter().map(Fragment::of).collect::<Result<Vec<_>>>()?.into())
}
