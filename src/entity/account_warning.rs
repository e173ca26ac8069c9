//! <https://docs.joinmastodon.org/entities/AccountWarning/>

use serde::Serialize;
use serde_json::value::RawValue;

use super::account;
use context::Cx;
use context::by_id::ById;
use context::error::{Error, Result};
use context::json::Fragment;
use model::moderation::{AppealState, WarningAction};
use model::{AccountId, RowId, StatusId};
use store::warning::{Appeal as AppealRow, Warning};

/// A strike, as the account sees it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct AccountWarning<'a> {
    id: RowId,
    action: WarningAction,
    text: &'a str,
    status_ids: Option<&'a [StatusId]>,
    created_at: String,
    target_account: Box<RawValue>,
    appeal: Option<Appeal<'a>>,
}

/// <https://docs.joinmastodon.org/entities/Appeal/>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Appeal<'a> {
    text: &'a str,
    state: AppealState,
}

impl<'a> From<&'a AppealRow> for Appeal<'a> {
    fn from(row: &'a AppealRow) -> Self {
        Self { text: &row.text, state: row.state() }
    }
}

/// Renders the strikes that exist among `ids`, by id. Four statements, and none if `ids` is empty.
pub(super) async fn render(cx: &Cx, ids: &[RowId]) -> Result<ById<RowId, Fragment>> {
    if ids.is_empty() {
        return Ok(Vec::new().into());
    }
    let warnings = store::warning::list(&cx.db, ids).await?;
    let appeals = store::warning::list_appeals(&cx.db, ids).await?;
    let targets: Vec<AccountId> = warnings.iter().map(|warning| warning.target_account_id).collect();
    let versions = store::account::versions(&cx.db, &targets).await?;
    let accounts = account::render_versions(cx, &versions).await?;
    let shown = warnings.iter().filter_map(|row| Some((row, accounts.get(&row.target_account_id)?)));
    let entries = shown.map(|(row, target)| {
        let appeal = appeals.iter().find(|appeal| appeal.warning_id == row.id);
        Ok((row.id, Fragment::of(&AccountWarning::new(row, target, appeal)?)?))
    });
    Ok(entries.collect::<Result<Vec<_>>>()?.into())
}

impl<'a> AccountWarning<'a> {
    fn new(row: &'a Warning, target: &str, appeal: Option<&'a AppealRow>) -> Result<Self> {
        Ok(Self {
            id: row.id,
            action: row.action,
            text: &row.text,
            status_ids: row.status_ids.as_ref().map(|ids| ids.0.as_slice()),
            created_at: row.created_at.to_api(),
            target_account: RawValue::from_string(target.to_owned()).map_err(Error::internal)?,
            appeal: appeal.map(Appeal::from),
        })
    }
}
