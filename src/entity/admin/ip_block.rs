//! A blocked network.

use serde::Serialize;

use model::RowId;
use model::ip_block::IpSeverity;
use store::ip_block::IpBlock as Row;

/// <https://docs.joinmastodon.org/entities/Admin_IpBlock/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IpBlock {
    pub id: RowId,
    /// In CIDR notation, with the prefix length also of a single address.
    pub ip: String,
    pub severity: IpSeverity,
    pub comment: String,
    pub created_at: String,
    /// `None`: never.
    pub expires_at: Option<String>,
}

impl From<Row> for IpBlock {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            ip: row.ip,
            severity: row.severity,
            comment: row.comment,
            created_at: row.created_at.to_api(),
            expires_at: row.expires_at.map(model::Time::to_api),
        }
    }
}
