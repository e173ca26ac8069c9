//! Requests to interact with statuses, in the form of GoToSocial with quotes added.
//!
//! Spec: docs/contract/rules.md#10-statuses, Interaction policies;
//! <https://docs.gotosocial.org/en/latest/api/swagger/>

use serde::Serialize;

use super::status;
use context::Cx;
use context::error::{Error, Result};
use context::json::{Array, Fragment, Object};
use model::interaction::{InteractionKind, RequestState};
use model::{Actor, RowId, StatusId};
use service::status::decision::ShownRequest;
use service::visibility::{self, Place};

/// The members other than the account and statuses.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Shared<'a> {
    id: RowId,
    #[serde(rename = "type")]
    kind: InteractionKind,
    state: RequestState,
    created_at: String,
    accepted_at: Option<String>,
    rejected_at: Option<String>,
    uri: &'a str,
}

/// Renders requests, in the order given: a few statements for all of them.
///
/// # Errors
/// When the database fails.
pub async fn render(cx: &Cx, actor: &Actor, page: &[ShownRequest]) -> Result<Array> {
    let targets: Vec<StatusId> = page.iter().map(|one| one.request.target_id).collect();
    let interacting: Vec<StatusId> = page.iter().filter_map(|one| one.status).collect();
    let mut seen = visibility::statuses(cx, Some(actor), Place::Single, &targets).await?;
    // Who decides sees what it is about.
    seen.extend(visibility::everything(cx, &interacting).await?);
    seen.sort_unstable_by_key(|seen| seen.head().id);
    seen.dedup_by_key(|seen| seen.head().id);
    let versions: Vec<_> = page.iter().map(|one| (one.request.account_id, one.account_version)).collect();
    let parts = status::render_beside(cx, Some(actor), &seen, &versions).await?;
    let find =
        |id: StatusId| parts.statuses.iter().find(|(one, _)| *one == id).map_or("null", |(_, text)| text.as_str());
    let mut items = Vec::with_capacity(page.len());
    for ShownRequest { request, status, .. } in page {
        // The account may have been deleted meanwhile.
        let Some(account) = parts.accounts.get(&request.account_id) else { continue };
        let decided_at = request.decided_at.map(model::Time::to_api);
        let accepted = request.state == RequestState::Accepted;
        let mut item = Fragment::of(&Shared {
            id: request.id,
            kind: request.kind,
            state: request.state,
            created_at: request.created_at.to_api(),
            accepted_at: decided_at.clone().filter(|_| accepted),
            rejected_at: decided_at.filter(|_| !accepted),
            uri: &request.uri,
        })?
        .open();
        let interacting = status.map_or("null", find);
        let of = |kind| if request.kind == kind { interacting } else { "null" };
        item.member("account", account);
        item.member("status", find(request.target_id));
        item.member("reply", of(InteractionKind::Reply));
        item.member("quote", of(InteractionKind::Quote));
        items.push(Object::close(item));
    }
    Ok(Array::from(items))
}

/// Renders one request.
///
/// # Errors
/// [`Error::NotFound`] when its account was deleted meanwhile.
pub async fn render_one(cx: &Cx, actor: &Actor, request: &ShownRequest) -> Result<Fragment> {
    let page = String::from(render(cx, actor, std::slice::from_ref(request)).await?);
    let one = page.strip_prefix('[').and_then(|page| page.strip_suffix(']')).filter(|one| !one.is_empty());
    one.map(Fragment::from_json).ok_or(Error::NotFound)
}
