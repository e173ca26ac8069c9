//! <https://docs.joinmastodon.org/entities/NotificationRequest/>

use serde::Serialize;

use super::status;
use context::Cx;
use context::error::{Error, Result};
use context::json::{Array, Fragment, Object};
use model::{Actor, RowId};
use service::notification::requests::VisibleRequest;
use service::visibility::Seen;

/// The members other than account and status.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shared {
    id: RowId,
    created_at: String,
    updated_at: String,
    notifications_count: String,
}

/// <https://docs.joinmastodon.org/methods/notifications/#requests-merged>
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotificationRequestsMerged {
    /// No notification of an accepted request is still filtered.
    pub merged: bool,
}

/// Renders requests, in the order given. No statement for accounts and statuses that are cached.
pub async fn render(cx: &Cx, actor: &Actor, page: &[VisibleRequest]) -> Result<Array> {
    let statuses: Vec<Seen> = page.iter().filter_map(|request| request.last_status).collect();
    let senders: Vec<_> = page.iter().map(|request| (request.row.from_account_id, request.row.from_version)).collect();
    let parts = status::render_beside(cx, Some(actor), &statuses, &senders).await?;
    let find = |seen: &Seen| parts.statuses.iter().find(|(id, _)| *id == seen.head().id).map(|(_, text)| text.as_str());
    let mut items = Vec::with_capacity(page.len());
    for request in page {
        let row = &request.row;
        // The account may have been deleted meanwhile.
        let Some(account) = parts.accounts.get(&row.from_account_id) else { continue };
        let mut item = Fragment::of(&Shared {
            id: row.id,
            created_at: row.created_at.to_api(),
            updated_at: row.updated_at.to_api(),
            notifications_count: row.notifications_count.to_string(),
        })?
        .open();
        item.member("account", account);
        item.member("last_status", request.last_status.as_ref().and_then(find).unwrap_or("null"));
        items.push(Object::close(item));
    }
    Ok(Array::from(items))
}

/// Renders one request.
///
/// # Errors
/// [`Error::NotFound`] when its account was deleted meanwhile.
pub async fn render_one(cx: &Cx, actor: &Actor, request: &VisibleRequest) -> Result<Fragment> {
    let page = String::from(render(cx, actor, std::slice::from_ref(request)).await?);
    let one = page.strip_prefix('[').and_then(|page| page.strip_suffix(']')).filter(|one| !one.is_empty());
    one.map(Fragment::from_json).ok_or(Error::NotFound)
}
