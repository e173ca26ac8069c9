//! A blocked domain, as the staff sees it.

use serde::Serialize;

use model::RowId;
use model::instance::Severity;
use store::domain_policy::Block;

/// <https://docs.joinmastodon.org/entities/Admin_DomainBlock/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainBlock {
    pub id: RowId,
    pub domain: String,
    /// SHA-256 of the domain, in hexadecimal.
    pub digest: String,
    pub created_at: String,
    pub severity: Severity,
    pub reject_media: bool,
    pub reject_favourite: bool,
    pub reject_reports: bool,
    pub reject_reply_exclude_followers: bool,
    pub reject_send_sensitive: bool,
    pub block_trends: bool,
    pub reject_hashtag: bool,
    pub reject_straight_follow: bool,
    pub reject_new_follow: bool,
    pub reject_friend: bool,
    pub detect_invalid_subscription: bool,
    pub private_comment: Option<String>,
    pub public_comment: Option<String>,
    pub obfuscate: bool,
}

/// Why a domain is not blocked: another block covers it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DomainBlockConflict {
    pub error: &'static str,
    pub existing_domain_block: DomainBlock,
}

impl From<Block> for DomainBlock {
    fn from(block: Block) -> Self {
        let flags = block.flags;
        Self {
            id: block.id,
            digest: crypto::sha256_hex(block.domain.as_bytes()),
            domain: block.domain,
            created_at: block.created_at.to_api(),
            severity: block.severity,
            reject_media: flags.reject_media,
            reject_favourite: flags.reject_favourite,
            reject_reports: flags.reject_reports,
            reject_reply_exclude_followers: flags.reject_reply_exclude_followers,
            reject_send_sensitive: flags.reject_send_sensitive,
            block_trends: flags.block_trends,
            reject_hashtag: flags.reject_hashtag,
            reject_straight_follow: flags.reject_straight_follow,
            reject_new_follow: flags.reject_new_follow,
            reject_friend: flags.reject_friend,
            detect_invalid_subscription: flags.detect_invalid_subscription,
            private_comment: block.private_comment,
            public_comment: block.public_comment,
            obfuscate: block.obfuscate,
        }
    }
}

impl From<Block> for DomainBlockConflict {
    fn from(existing: Block) -> Self {
        let error = "A block covers this domain already, and the new one would not be stricter";
        Self { error, existing_domain_block: existing.into() }
    }
}
