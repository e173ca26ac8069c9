//! The list of muted accounts; muting itself is in [`relationships`](super::relationships).
//!
//! Spec: <https://docs.joinmastodon.org/methods/mutes/>

use super::accounts::AccountPaging;
use crate::Cx;
use crate::error::Result;
use crate::extract::Auth;
use crate::extract::auth::ReadMutes;
use crate::page::{Links, Page};

/// `GET /api/v1/mutes`
pub async fn index(
    cx: Cx,
    Auth(viewer, ..): Auth<ReadMutes>,
    paging: AccountPaging,
) -> Result<Page<entity::MutedAccount>> {
    let rows = service::relationship::mutes(&cx, &viewer, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.listed.row_id.into()).collect();
    let items = entity::muted_account::render(&cx, &rows).await?;
    Ok(Page::new(&paging, Links::SinceId, &ids, items))
}
