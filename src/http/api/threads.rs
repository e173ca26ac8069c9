//! The threads of statuses, and the state of the work in the background that fills them.
//!
//! Spec: <https://docs.joinmastodon.org/methods/statuses/#context>,
//! <https://docs.joinmastodon.org/methods/async_refreshes/>

use axum::http::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::error::{Error, Result};
use crate::extract::auth::{Read, ReadStatuses};
use crate::extract::{Auth, MaybeAuth, Params, Path};
use crate::json::Json;
use entity::AsyncRefresh;
use model::StatusId;
use service::feed::refresh::{self, Refresh};
use service::timeline;

/// The header that names a refresh.
const ASYNC_REFRESH: HeaderName = HeaderName::from_static("mastodon-async-refresh");
/// Seconds until the client should look again.
const RETRY_SECONDS: u8 = 5;

/// Query parameters of [`context()`].
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct ContextParams {
    /// Whether referenced statuses are separate from the ancestors.
    with_reference: Option<bool>,
}

/// `GET /api/v1/statuses/{id}/context`
pub async fn context(
    cx: Cx,
    MaybeAuth(viewer, ..): MaybeAuth<ReadStatuses>,
    Path(id): Path<StatusId>,
    Params(params): Params<ContextParams>,
) -> Result<Json<entity::Context>> {
    let with_references = params.with_reference.unwrap_or_default();
    let thread = timeline::context(&cx, viewer.as_deref(), id, with_references).await?;
    let response = Json::new(entity::thread::render(&cx, viewer.as_deref(), &thread).await?);
    Ok(match &thread.refresh {
        Some(refresh) => response.with_header(ASYNC_REFRESH, header_value(refresh)?),
        None => response,
    })
}

/// `GET /api/v1_alpha/async_refreshes/{id}`
pub async fn show(cx: Cx, Auth(viewer, ..): Auth<Read>, Path(id): Path<String>) -> Result<Json<entity::AsyncRefresh>> {
    Json::of(&AsyncRefresh::from(refresh::find(&cx, &viewer, &id).await?))
}

/// The value of [`ASYNC_REFRESH`].
///
/// # Errors
/// When the id has characters that no header may have, which is a bug.
fn header_value(refresh: &Refresh) -> Result<HeaderValue> {
    let text = format!("id=\"{}\", retry={RETRY_SECONDS}, result_count={}", refresh.id, refresh.results);
    HeaderValue::try_from(text).map_err(|error| Error::internal(error).into())
}
