//! An appeal against a strike, as the staff sees it. An addition of this server.

use serde::Serialize;
use serde_json::value::RawValue;

use crate::account_warning;
use crate::admin::account;
use context::Cx;
use context::error::{Error, Result};
use context::json::Fragment;
use model::moderation::AppealState;
use model::{AccountId, RowId, Time};
use store::warning::Appeal as Row;

/// An appeal with its strike.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Appeal<'a> {
    id: RowId,
    state: AppealState,
    text: &'a str,
    created_at: String,
    decided_at: Option<String>,
    account: Box<RawValue>,
    /// `None`: undecided, by an operator at the command line, or by an account that no longer exists.
    decided_by_account: Option<Box<RawValue>>,
    /// An `AccountWarning`.
    warning: Box<RawValue>,
}

/// Renders appeals, in the order given; without those whose accounts were deleted meanwhile. As many statements for many
/// as for one.
pub async fn render(cx: &Cx, rows: &[Row]) -> Result<Vec<Fragment>> {
    let mut ids: Vec<AccountId> =
        rows.iter().flat_map(|row| [Some(row.account_id), row.decided_by_account_id]).flatten().collect();
    ids.sort_unstable();
    ids.dedup();
    let accounts = account::render_ids(cx, &ids).await?;
    let ids: Vec<RowId> = rows.iter().map(|row| row.warning_id).collect();
    let warnings = account_warning::render(cx, &ids).await?;
    let mut rendered = Vec::with_capacity(rows.len());
    for row in rows {
        let (Some(account), Some(warning)) = (accounts.get(&row.account_id), warnings.get(&row.warning_id)) else {
            continue;
        };
        rendered.push(Fragment::of(&Appeal {
            id: row.id,
            state: row.state(),
            text: &row.text,
            created_at: row.created_at.to_api(),
            decided_at: row.approved_at.or(row.rejected_at).map(Time::to_api),
            account: raw(account)?,
            decided_by_account: row.decided_by_account_id.and_then(|id| accounts.get(&id)).map(raw).transpose()?,
            warning: raw(warning)?,
        })?);
    }
    Ok(rendered)
}

fn raw(fragment: &Fragment) -> Result<Box<RawValue>> {
    RawValue::from_string(fragment.as_str().to_owned()).map_err(Error::internal)
}
