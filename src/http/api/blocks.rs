//! <https://docs.joinmastodon.org/methods/blocks/>

use axum::extract::State;

use super::accounts::{AccountPaging, listed};
use crate::app::App;
use crate::error::Result;
use crate::http::extract::Auth;
use crate::http::extract::auth::ReadBlocks;
use crate::http::page::Page;
use crate::service;

/// `GET /api/v1/blocks`
pub async fn index(State(app): State<App>, Auth(actor, ..): Auth<ReadBlocks>, paging: AccountPaging) -> Result<Page> {
    let rows = service::relationship::blocks(&app, &actor, &paging.cursor).await?;
    listed(&app, &paging, &rows).await
}
