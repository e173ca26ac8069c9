//! Reading accounts: lookup, search, followers, following.
//!
//! Changes are in [`relationships`](super::relationships) and [`credentials`](super::credentials).
//!
//! Spec: <https://docs.joinmastodon.org/methods/accounts/>

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{AnyScope, ReadAccounts, ReadLists};
use crate::extract::{Auth, Limit, MaybeAuth, Paging, Params, Path};
use crate::json::Json;
use crate::page::{Links, Page};
use model::account::AccountSearch;
use model::params::required;
use model::relationship::Listed;
use model::{AccountId, Cursor};

/// Maximum number of ids in one request (contract: routes).
const IDS_MAX: usize = 40;

/// Paging of account lists: 40 by default, at most 80.
pub type AccountPaging = Paging<40, 80>;

/// Query parameters of [`index`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct IdsParams {
    /// At most 40.
    #[schemars(transform = required)]
    id: Option<Vec<AccountId>>,
}

/// `GET /api/v1/accounts`
pub async fn index(
    cx: Cx,
    _: MaybeAuth<ReadAccounts>,
    Params(params): Params<IdsParams>,
) -> Result<Json<Vec<entity::Account>>> {
    let mut ids = params.id.ok_or_else(|| Error::missing("id[]"))?;
    ids.sort_unstable();
    if ids.len() > IDS_MAX {
        return Err(Error::invalid(format!("id[]: at most {IDS_MAX} ids")).into());
    }
    let ids = service::account::list_visible(&cx, &ids).await?;
    Ok(Json::list(entity::account::render(&cx, &ids).await?))
}

/// `GET /api/v1/accounts/{id}`
pub async fn show(cx: Cx, _: MaybeAuth<ReadAccounts>, Path(id): Path<AccountId>) -> Result<Json<entity::Account>> {
    let account = service::account::find_visible(&cx, id).await?;
    Ok(Json::new(entity::account::render_found(&cx, &account).await?))
}

/// Query parameters of [`lookup`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct LookupParams {
    /// `user`, or `user@domain` for an account of another server that this one knows.
    #[schemars(transform = required)]
    acct: Option<String>,
}

/// `GET /api/v1/accounts/lookup`
pub async fn lookup(
    cx: Cx,
    _: MaybeAuth<ReadAccounts>,
    Params(params): Params<LookupParams>,
) -> Result<Json<entity::Account>> {
    let acct = params.acct.ok_or_else(|| Error::missing("acct"))?;
    let account = service::account::lookup(&cx, &acct).await?;
    Ok(Json::new(entity::account::render_found(&cx, &account).await?))
}

/// Query parameters of [`search`].
#[model::parameters]
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// The beginning of a user name or display name.
    #[schemars(transform = required)]
    q: Option<String>,
    /// How many results to skip.
    offset: Option<i64>,
    /// Whether an address of another server is looked up there.
    resolve: Option<bool>,
    /// Only accounts that the user follows.
    following: Option<bool>,
    /// Only accounts that follow the user.
    follower: Option<bool>,
}

/// `GET /api/v1/accounts/search`
pub async fn search(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadAccounts>,
    Limit(limit): Limit<40, 80>,
    Params(params): Params<SearchParams>,
) -> Result<Json<Vec<entity::Account>>> {
    let q = params.q.ok_or_else(|| Error::missing("q"))?;
    let wanted = AccountSearch {
        following: params.following.unwrap_or(false),
        follower: params.follower.unwrap_or(false),
        limit,
        offset: params.offset.unwrap_or(0).max(0),
    };
    let ids = service::account::search(&cx, Some(viewer.id), &q, wanted, params.resolve.unwrap_or_default()).await?;
    Ok(Json::list(entity::account::render(&cx, &ids).await?))
}

/// `GET /api/v1/accounts/{id}/featured_tags`
pub async fn featured_tags(cx: Cx, Path(id): Path<AccountId>) -> Result<Json<Vec<entity::FeaturedTag>>> {
    let (account, tags) = service::account::featured_tags(&cx, id).await?;
    Ok(Json::list(entity::featured_tag::render(&cx, &account, &tags)?))
}

/// `GET /api/v1/accounts/{id}/identity_proofs`: always empty, as documented for this deprecated route.
pub async fn identity_proofs(
    cx: Cx,
    _: Auth<AnyScope>,
    Path(id): Path<AccountId>,
) -> Result<Json<Vec<entity::IdentityProof>>> {
    service::account::find_visible(&cx, id).await?;
    Ok(Json::list(Vec::new()))
}

/// `GET /api/v1/accounts/{id}/lists`
pub async fn lists(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadLists>,
    Path(id): Path<AccountId>,
) -> Result<Json<Vec<entity::List>>> {
    let lists = service::account::lists(&cx, &viewer, id).await?;
    Ok(Json::list(entity::list::render(&cx, &viewer, &lists).await?))
}

/// `GET /api/v1/accounts/{id}/followers`
pub async fn followers(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<AccountId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = service::account::followers(&cx, viewer.as_deref(), id, &paging.cursor).await?;
    listed(&cx, &paging, &rows).await
}

/// `GET /api/v1/accounts/{id}/following`
pub async fn following(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<AccountId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = service::account::following(&cx, viewer.as_deref(), id, &paging.cursor).await?;
    listed(&cx, &paging, &rows).await
}

/// A page of accounts; its cursors are the ids of the rows that list them (a follow, a block), not account ids.
pub(super) async fn listed(cx: &Cx, paging: &AccountPaging, rows: &[Listed]) -> Result<Page<entity::Account>> {
    let ids: Vec<i64> = rows.iter().filter(|_| paging.cursor.limit != 0).map(|row| row.row_id.into()).collect();
    let items = entity::account::render_listed(cx, rows).await?;
    Ok(Page::new(paging, Links::SinceId, &ids, items))
}

/// What to read of a list of which a limit of 0 asks for everything, which then has no links.
pub(super) fn page_or_all(paging: &AccountPaging) -> Cursor {
    if paging.cursor.limit == 0 { Cursor::first(i64::MAX) } else { paging.cursor }
}
