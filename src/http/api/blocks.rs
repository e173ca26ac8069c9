//! The list of blocked accounts; blocking itself is in [`relationships`](super::relationships).
//!
//! Spec: <https://docs.joinmastodon.org/methods/blocks/>

use super::accounts::{AccountPaging, listed};
use crate::Cx;
use crate::error::Result;
use crate::extract::Auth;
use crate::extract::auth::ReadBlocks;
use crate::page::Page;

/// `GET /api/v1/blocks`
pub async fn index(cx: Cx, Auth(viewer, ..): Auth<ReadBlocks>, paging: AccountPaging) -> Result<Page<entity::Account>> {
    let rows = service::relationship::blocks(&cx, &viewer, &paging.cursor).await?;
    listed(&cx, &paging, &rows).await
}
