//! Searching the servers that this one knows.
//!
//! Spec: contract, routes, peers.

use schemars::JsonSchema;
use serde::Deserialize;

use super::instance::or_not_found;
use crate::Cx;
use crate::error::Result;
use crate::extract::Params;
use crate::json::Json;
use service::domain;

/// Query parameters of [`search`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// The beginning of a domain.
    q: Option<String>,
}

/// `GET /api/v1/peers/search`
pub async fn search(cx: Cx, Params(params): Params<SearchParams>) -> Result<Json<Vec<String>>> {
    let found = domain::search(&cx, params.q.as_deref().unwrap_or_default()).await?;
    or_not_found(found.as_ref())
}
