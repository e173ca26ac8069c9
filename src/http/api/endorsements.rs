//! The accounts that one features on one's profile; featuring them is in [`relationships`](super::relationships).
//!
//! Spec: <https://docs.joinmastodon.org/methods/endorsements/>

use super::accounts::AccountPaging;
use crate::Cx;
use crate::error::Result;
use crate::extract::Auth;
use crate::extract::auth::ReadAccounts;
use crate::page::{Links, Page};
use model::Cursor;
use rookery_core::{entity, service};

/// `GET /api/v1/endorsements`: all of them, without links, when the limit is 0.
pub async fn index(cx: Cx, Auth(actor, ..): Auth<ReadAccounts>, paging: AccountPaging) -> Result<Page> {
    let all = paging.cursor.limit == 0;
    let cursor = if all { Cursor::first(i64::MAX) } else { paging.cursor };
    let rows = service::relationship::endorsements(&cx, &actor, &cursor).await?;
    let ids: Vec<i64> = rows.iter().filter(|_| !all).map(|row| row.row_id.into()).collect();
    let items = entity::account::render_listed(&cx, &rows).await?;
    Ok(Page::new(&paging, Links::SinceId, &ids, items))
}
