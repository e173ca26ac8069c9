//! <https://docs.joinmastodon.org/entities/RelationshipSeveranceEvent/>

use serde::Serialize;

use context::Cx;
use context::by_id::ById;
use context::error::Result;
use context::json::Fragment;
use model::RowId;
use model::severance::SeveranceKind;
use store::severance::Severance as Row;

/// Relationships that an account lost in one event, as its owner sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Severance<'a> {
    pub id: RowId,
    #[serde(rename = "type")]
    pub kind: SeveranceKind,
    pub purged: bool,
    pub target_name: &'a str,
    pub followers_count: i64,
    pub following_count: i64,
    pub created_at: String,
}

impl<'a> From<&'a Row> for Severance<'a> {
    fn from(row: &'a Row) -> Self {
        Self {
            id: row.id,
            kind: row.kind,
            purged: row.purged,
            target_name: &row.target_name,
            followers_count: row.followers_count,
            following_count: row.following_count,
            created_at: row.created_at.to_api(),
        }
    }
}

/// Renders the severances that exist among `ids`, by id. One statement, and none if `ids` is empty.
pub async fn render(cx: &Cx, ids: &[i64]) -> Result<ById<RowId, Fragment>> {
    let rows = if ids.is_empty() { Vec::new() } else { store::severance::list(&cx.db, ids).await? };
    let entries = rows.iter().map(|row| Ok((row.id, Fragment::of(&Severance::from(row))?)));
    Ok(entries.collect::<Result<Vec<_>>>()?.into())
}
