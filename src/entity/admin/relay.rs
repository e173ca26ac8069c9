//! A relay. An addition of this server.

use serde::Serialize;

use model::RowId;
use model::relay::{RelayKind, RelayState};
use store::relay::Relay as Row;

/// A server that passes on public statuses.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Relay {
    pub id: RowId,
    pub inbox_url: String,
    /// `None` until the relay responded.
    pub actor_uri: Option<String>,
    pub kind: RelayKind,
    pub state: RelayState,
    pub created_at: String,
}

impl From<Row> for Relay {
    fn from(row: Row) -> Self {
        let Row { id, inbox_url, actor_uri, kind, state, created_at, .. } = row;
        Self { id, inbox_url, actor_uri, kind, state, created_at: created_at.to_api() }
    }
}
