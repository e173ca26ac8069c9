//! <https://docs.joinmastodon.org/methods/mutes/>

use axum::extract::State;

use super::accounts::AccountPaging;
use crate::app::App;
use crate::entity;
use crate::error::Result;
use crate::http::extract::Auth;
use crate::http::extract::auth::ReadMutes;
use crate::http::page::{Links, Page};
use crate::service;

/// `GET /api/v1/mutes`
pub async fn index(State(app): State<App>, Auth(actor, ..): Auth<ReadMutes>, paging: AccountPaging) -> Result<Page> {
    let rows = service::relationship::mutes(&app, &actor, &paging.cursor).await?;
    let ids: Vec<i64> = rows.iter().map(|row| row.listed.row_id.into()).collect();
    let items = entity::muted_account::render(&app, &rows).await?;
    Ok(Page::new(&paging, Links::SinceId, &ids, items))
}
