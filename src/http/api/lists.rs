//! Lists of accounts; their timelines are in [`timelines`](super::timelines).
//!
//! Spec: <https://docs.joinmastodon.org/methods/lists/>

use schemars::JsonSchema;
use serde::Deserialize;

use super::accounts::{AccountPaging, listed, page_or_all};
use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{ReadLists, WriteLists};
use crate::extract::params::ParamsOfOwn;
use crate::extract::{Auth, Params, Path};
use crate::json::Json;
use crate::page::Page;
use model::params::required;
use model::{AccountId, Actor, RowId};

use service::list::{self, List, ListParams};

/// `GET /api/v1/lists`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadLists>) -> Result<Json<Vec<entity::List>>> {
    let lists = list::list(&cx, &viewer).await?;
    Ok(Json::list(entity::list::render(&cx, &viewer, &lists).await?))
}

/// `POST /api/v1/lists`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Params(params): Params<ListParams>,
) -> Result<Json<entity::List>> {
    let list = list::create(&cx, &actor, params).await?;
    render_list(&cx, &actor, &list).await
}

/// `GET /api/v1/lists/{id}`
pub async fn show(cx: Cx, Auth(viewer, ..): Auth<ReadLists>, Path(id): Path<RowId>) -> Result<Json<entity::List>> {
    let list = list::find(&cx, &viewer, id).await?;
    render_list(&cx, &viewer, &list).await
}

/// `PUT /api/v1/lists/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<ListParams>>,
) -> Result<Json<entity::List>> {
    let Params(params) = params.or_missing(list::find(&cx, &actor, id)).await?;
    let list = list::update(&cx, &actor, id, params).await?;
    render_list(&cx, &actor, &list).await
}

/// `DELETE /api/v1/lists/{id}`
pub async fn delete(cx: Cx, Auth(actor, ..): Auth<WriteLists>, Path(id): Path<RowId>) -> Result<Json<entity::Empty>> {
    list::delete(&cx, &actor, id).await?;
    Ok(Json::empty())
}

async fn render_list(cx: &Cx, actor: &Actor, list: &List) -> Result<Json<entity::List>> {
    Ok(Json::new(entity::list::render_one(cx, actor, list).await?))
}

/// `GET /api/v1/lists/{id}/accounts`: all of them, without links, when the limit is 0.
pub async fn accounts(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadLists>,
    Path(id): Path<RowId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = list::members(&cx, &viewer, id, &page_or_all(&paging)).await?;
    listed(&cx, &paging, &rows).await
}

/// Parameters of [`add_accounts`] and [`remove_accounts`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MemberParams {
    #[schemars(transform = required)]
    account_ids: Option<Vec<AccountId>>,
}

impl MemberParams {
    /// # Errors
    /// [`Error::NotFound`] for the list as in [`list::find`], and the error for parameters that are missing.
    async fn accounts(
        params: ParamsOfOwn<Params<Self>>,
        cx: &Cx,
        actor: &Actor,
        list: RowId,
    ) -> Result<Vec<AccountId>> {
        let Params(params) = params.or_missing(list::find(cx, actor, list)).await?;
        match params.account_ids {
            Some(accounts) => Ok(accounts),
            None => {
                list::find(cx, actor, list).await?;
                Err(Error::missing("account_ids[]").into())
            }
        }
    }
}

/// `POST /api/v1/lists/{id}/accounts`
pub async fn add_accounts(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<MemberParams>>,
) -> Result<Json<entity::Empty>> {
    let accounts = MemberParams::accounts(params, &cx, &actor, id).await?;
    list::add_members(&cx, &actor, id, &accounts).await?;
    Ok(Json::empty())
}

/// `DELETE /api/v1/lists/{id}/accounts`
pub async fn remove_accounts(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<MemberParams>>,
) -> Result<Json<entity::Empty>> {
    let accounts = MemberParams::accounts(params, &cx, &actor, id).await?;
    list::remove_members(&cx, &actor, id, &accounts).await?;
    Ok(Json::empty())
}
