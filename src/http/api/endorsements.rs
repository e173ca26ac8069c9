//! Accounts featured on profiles; featuring them is in [`relationships`](super::relationships).
//!
//! Spec: <https://docs.joinmastodon.org/methods/endorsements/>

use super::accounts::{AccountPaging, listed, page_or_all};
use crate::Cx;
use crate::error::Result;
use crate::extract::auth::ReadAccounts;
use crate::extract::{Auth, MaybeAuth, Path};
use crate::page::Page;
use model::AccountId;

/// `GET /api/v1/endorsements`: all of them, without links, when the limit is 0.
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadAccounts>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = service::relationship::endorsements(&cx, &viewer, &page_or_all(&paging)).await?;
    listed(&cx, &paging, &rows).await
}

/// `GET /api/v1/accounts/{id}/endorsements`
pub async fn of_account(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadAccounts>,
    Path(id): Path<AccountId>,
    paging: AccountPaging,
) -> Result<Page<entity::Account>> {
    let rows = service::account::endorsements(&cx, viewer.as_deref(), id, &paging.cursor).await?;
    listed(&cx, &paging, &rows).await
}
