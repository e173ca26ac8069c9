//! A domain whose e-mail addresses cannot be used to sign up.

use serde::Serialize;

use crate::history::{Day, Histories};
use context::Cx;
use context::error::Result;
use model::RowId;
use store::email_block::EmailDomainBlock as Row;

/// <https://docs.joinmastodon.org/entities/Admin_EmailDomainBlock/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EmailDomainBlock {
    pub id: RowId,
    pub domain: String,
    pub created_at: String,
    /// Attempts to sign up, today first.
    pub history: Vec<Day>,
    pub allow_with_approval: bool,
}

impl EmailDomainBlock {
    /// The blocks in the order given, with their attempts in one query.
    pub async fn render(cx: &Cx, rows: Vec<Row>) -> Result<Vec<Self>> {
        let ids: Vec<RowId> = rows.iter().map(|row| row.id).collect();
        let first_day = service::email_block::first_kept_day(cx.clock.now());
        let attempts = store::email_block::attempts(&cx.db, &ids, first_day).await?;
        let attempts = attempts.into_iter().map(|(id, day, uses, addresses)| (i64::from(id), day, uses, addresses));
        let histories = Histories::new(cx, attempts);
        let entity = |row: Row| Self {
            id: row.id,
            domain: row.domain,
            created_at: row.created_at.to_api(),
            history: histories.of(row.id.into()),
            allow_with_approval: row.allow_with_approval,
        };
        Ok(rows.into_iter().map(entity).collect())
    }

    /// One block.
    ///
    /// # Errors
    /// None of its own.
    pub async fn render_one(cx: &Cx, row: Row) -> Result<Self> {
        let mut all = Self::render(cx, vec![row]).await?;
        all.pop().ok_or(context::error::Error::NotFound)
    }
}
