//! The style sheet of the admins, at `/custom.css`: the setting `custom_css`, which every page loads after its own.
//!
//! It loads nothing of other hosts: the content policy of pages allows styles and pictures of this server only.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Cx;
use crate::extract::Params;

/// Query parameters.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Version {
    /// The generation of the settings, as in the address on pages: the response to the current one may be kept for a year.
    #[serde(default)]
    v: Option<i64>,
}

/// The address of the sheet, another one after each change of a setting; `None` while there is none.
pub(super) fn url(cx: &Cx) -> Option<String> {
    let written = !cx.settings().custom_css.is_empty();
    written.then(|| format!("/custom.css?v={}", cx.generation()))
}

/// `GET /custom.css`: empty while the admins wrote none.
pub async fn show(cx: Cx, Params(version): Params<Version>) -> Response {
    let (sheet, generation) = (cx.settings().custom_css.clone(), cx.generation());
    let kept =
        if version.v == Some(generation) { "public, max-age=31536000, immutable" } else { "public, max-age=300" };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/css; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static(kept)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'")),
    ];
    (headers, sheet).into_response()
}
