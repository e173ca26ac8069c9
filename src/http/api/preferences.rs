//! The signed-in user's preferences, read-only.
//!
//! Spec: <https://docs.joinmastodon.org/methods/preferences/>

use crate::error::Result;
use crate::extract::Auth;
use crate::extract::auth::ReadAccounts;
use crate::json::Json;

/// `GET /api/v1/preferences`
pub async fn show(Auth(viewer, ..): Auth<ReadAccounts>) -> Result<Json<entity::Preferences>> {
    Ok(Json::new(entity::preferences::render(&viewer)?))
}
