//! <https://docs.joinmastodon.org/methods/preferences/>

use crate::entity;
use crate::error::Result;
use crate::http::extract::Auth;
use crate::http::extract::auth::ReadAccounts;
use crate::http::json::Json;

/// `GET /api/v1/preferences`
pub async fn show(Auth(viewer, ..): Auth<ReadAccounts>) -> Result<Json> {
    Ok(Json(entity::preferences::render(&viewer)?))
}
