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
use crate::operation::required;
use crate::page::Page;
use model::list::RepliesPolicy;
use model::{AccountId, Actor, RowId};

use service::list::{self, List, Wish};

/// `GET /api/v1/lists`
pub async fn index(cx: Cx, Auth(actor, ..): Auth<ReadLists>) -> Result<Json<Vec<entity::List>>> {
    let lists = list::list(&cx, &actor).await?;
    Ok(Json::list(entity::list::render(&cx, &actor, &lists).await?))
}

/// Body parameters of [`create`].
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct NewListParams {
    /// At most 256 characters.
    #[schemars(transform = required)]
    title: Option<String>,
    /// Which replies to others are shown: to whomever the user follows, to members of the list, or none. To members when it
    /// is left out.
    replies_policy: Option<RepliesPolicy>,
    /// Whether members are left out of the home timeline.
    exclusive: Option<bool>,
    /// Whether each new status makes a notification.
    notify: Option<bool>,
}

/// Body parameters of [`update`]; what is left out stays as it is.
#[crate::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ListParams {
    /// At most 256 characters.
    title: Option<String>,
    /// As when a list is made; what the list shows is chosen again.
    replies_policy: Option<RepliesPolicy>,
    /// As when a list is made; its members leave the home timeline, or come back.
    exclusive: Option<bool>,
    notify: Option<bool>,
}

impl From<NewListParams> for Wish {
    fn from(params: NewListParams) -> Self {
        let NewListParams { title, replies_policy, exclusive, notify } = params;
        Self { title, replies_policy, exclusive, notify }
    }
}

impl From<ListParams> for Wish {
    fn from(params: ListParams) -> Self {
        let ListParams { title, replies_policy, exclusive, notify } = params;
        Self { title, replies_policy, exclusive, notify }
    }
}

/// `POST /api/v1/lists`
pub async fn create(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Params(params): Params<NewListParams>,
) -> Result<Json<entity::List>> {
    let list = list::create(&cx, &actor, params.into()).await?;
    render_list(&cx, &actor, &list).await
}

/// `GET /api/v1/lists/{id}`
pub async fn show(cx: Cx, Auth(actor, ..): Auth<ReadLists>, Path(id): Path<RowId>) -> Result<Json<entity::List>> {
    let list = list::find(&cx, &actor, id).await?;
    render_list(&cx, &actor, &list).await
}

/// `PUT /api/v1/lists/{id}`
pub async fn update(
    cx: Cx,
    Auth(actor, ..): Auth<WriteLists>,
    Path(id): Path<RowId>,
    params: ParamsOfOwn<Params<ListParams>>,
) -> Result<Json<entity::List>> {
    let Params(params) = params.or_missing(list::find(&cx, &actor, id)).await?;
    let list = list::update(&cx, &actor, id, params.into()).await?;
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
    Auth(actor, ..): Auth<ReadLists>,
    Path(id): Path<RowId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = list::members(&cx, &actor, id, &page_or_all(&paging)).await?;
    listed(&cx, &paging, &rows).await
}

/// Parameters of [`add_accounts`] and [`remove_accounts`].
#[crate::parameters]
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
