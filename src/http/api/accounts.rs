//! <https://docs.joinmastodon.org/methods/accounts/>, what is read; what changes something is in
//! [`relationships`](super::relationships).

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::app::App;
use crate::entity;
use crate::error::{Error, Result};
use crate::http::extract::auth::ReadAccounts;
use crate::http::extract::params::list;
use crate::http::extract::{MaybeAuth, Paging, Params, Path};
use crate::http::json::Json;
use crate::http::page::{Links, Page};
use crate::model::AccountId;
use crate::service;
use crate::store::relationship::Listed;

/// Most accounts that one request names (contract: routes).
const IDS_MAX: usize = 40;

/// Pages of accounts: 40, at most 80.
pub type AccountPaging = Paging<40, 80>;

/// Which accounts.
#[derive(Debug, Deserialize)]
pub struct Ids {
    #[serde(default, deserialize_with = "list")]
    id: Option<Vec<AccountId>>,
}

/// `GET /api/v1/accounts`
pub async fn index(
    State(app): State<App>,
    _: MaybeAuth<ReadAccounts>,
    Params(params): Params<Ids>,
) -> Result<Response> {
    let mut ids = params.id.ok_or_else(|| Error::missing("id[]"))?;
    ids.sort_unstable();
    ids.dedup();
    if ids.len() > IDS_MAX {
        return Err(Error::invalid(format!("id[]: at most {IDS_MAX} ids")));
    }
    let ids = service::account::list_visible(&app, &ids).await?;
    Ok(Json::list(&entity::account::render(&app, &ids).await?))
}

/// `GET /api/v1/accounts/{id}`
pub async fn show(State(app): State<App>, _: MaybeAuth<ReadAccounts>, Path(id): Path<AccountId>) -> Result<Json> {
    let account = service::account::find_visible(&app, id).await?;
    Ok(Json(entity::account::render_one(&app, account.id).await?))
}

/// `GET /api/v1/accounts/{id}/followers`
pub async fn followers(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<AccountId>,
    paging: AccountPaging,
) -> Result<Page> {
    let rows = service::account::followers(&app, viewer.as_deref(), id, &paging.cursor).await?;
    listed(&app, &paging, &rows).await
}

/// `GET /api/v1/accounts/{id}/following`
pub async fn following(
    State(app): State<App>,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<AccountId>,
    paging: AccountPaging,
) -> Result<Page> {
    let rows = service::account::following(&app, viewer.as_deref(), id, &paging.cursor).await?;
    listed(&app, &paging, &rows).await
}

/// A page of accounts, linked by the ids of the records that put them there.
pub(super) async fn listed(app: &App, paging: &AccountPaging, rows: &[Listed]) -> Result<Page> {
    let ids: Vec<i64> = rows.iter().map(|row| row.row_id.into()).collect();
    let items = entity::account::render_listed(app, rows).await?;
    Ok(Page::new(paging, Links::SinceId, &ids, items))
}
