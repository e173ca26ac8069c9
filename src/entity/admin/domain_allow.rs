//! A domain that limited federation admits.

use serde::Serialize;

use model::RowId;
use store::domain_policy::Allow;

/// <https://docs.joinmastodon.org/entities/Admin_DomainAllow/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainAllow {
    pub id: RowId,
    pub domain: String,
    pub created_at: String,
}

impl From<Allow> for DomainAllow {
    fn from(allow: Allow) -> Self {
        Self { id: allow.id, domain: allow.domain, created_at: allow.created_at.to_api() }
    }
}
