//! <https://docs.joinmastodon.org/methods/accounts/>, what is read; what changes something is in
//! [`relationships`](super::relationships) and [`credentials`](super::credentials).

use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;

use crate::app::App;
use crate::entity;
use crate::error::{Error, Result};
use crate::http::extract::auth::{ReadAccounts, ReadLists};
use crate::http::extract::params::{flag, int, list, text};
use crate::http::extract::{Auth, MaybeAuth, Paging, Params, Path};
use crate::http::json::Json;
use crate::http::page::{Links, Page};
use crate::service;
use model::AccountId;
use model::account::Wanted;
use model::relationship::Listed;

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
    Ok(Json(entity::account::render_found(&app, &account).await?))
}

/// Whom to look up.
#[derive(Debug, Deserialize)]
pub struct Lookup {
    #[serde(default, deserialize_with = "text")]
    acct: Option<String>,
}

/// `GET /api/v1/accounts/lookup`
pub async fn lookup(
    State(app): State<App>,
    _: MaybeAuth<ReadAccounts>,
    Params(params): Params<Lookup>,
) -> Result<Json> {
    let acct = params.acct.ok_or_else(|| Error::missing("acct"))?;
    let account = service::account::lookup(&app, &acct).await?;
    Ok(Json(entity::account::render_found(&app, &account).await?))
}

/// Whom to search.
#[derive(Debug, Deserialize)]
pub struct Search {
    #[serde(default, deserialize_with = "text")]
    q: Option<String>,
    #[serde(default, deserialize_with = "int")]
    offset: Option<i64>,
    #[serde(default, deserialize_with = "flag")]
    following: Option<bool>,
    #[serde(default, deserialize_with = "flag")]
    follower: Option<bool>,
}

/// `GET /api/v1/accounts/search`
pub async fn search(
    State(app): State<App>,
    Auth(viewer, ..): Auth<ReadAccounts>,
    paging: AccountPaging,
    Params(params): Params<Search>,
) -> Result<Response> {
    let q = params.q.ok_or_else(|| Error::missing("q"))?;
    let wanted = Wanted {
        following: params.following.unwrap_or(false),
        follower: params.follower.unwrap_or(false),
        limit: paging.cursor.limit,
        offset: params.offset.unwrap_or(0).max(0),
    };
    let ids = service::account::search(&app, Some(viewer.id), &q, wanted).await?;
    Ok(Json::list(&entity::account::render(&app, &ids).await?))
}

/// `GET /api/v1/accounts/{id}/featured_tags`
pub async fn featured_tags(State(app): State<App>, Path(id): Path<AccountId>) -> Result<Response> {
    let (account, tags) = service::account::featured_tags(&app, id).await?;
    Ok(Json::list(&entity::featured_tag::render(&app, &account, &tags)?))
}

/// `GET /api/v1/accounts/{id}/lists`
pub async fn lists(
    State(app): State<App>,
    Auth(viewer, ..): Auth<ReadLists>,
    Path(id): Path<AccountId>,
) -> Result<Response> {
    let lists = service::account::lists(&app, &viewer, id).await?;
    Ok(Json::list(&entity::list::render(&lists)?))
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
