//! `/share`: where other sites, and the share menu of the browser, send people who want to post something.
//!
//! Leads to the form for a new status with the text in it; posts nothing.
//!
//! Spec: docs/contract/web.md, Writing; <https://www.w3.org/TR/web-share-target/>.

use axum::response::Response;
use schemars::JsonSchema;
use serde::Deserialize;

use super::redirect;
use super::settings::Frame;
use crate::extract::Params;

/// Query parameters: `text`, or the parts of it that a Web Share Target sends.
#[model::parameters]
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub struct Shared {
    /// The title of the page or text.
    title: Option<String>,
    /// The text.
    text: Option<String>,
    /// Its address.
    url: Option<String>,
}

/// `GET /share`, for people who are signed in.
pub async fn show(_: Frame, Params(shared): Params<Shared>) -> Response {
    let parts = [&shared.title, &shared.text, &shared.url].into_iter().flatten();
    let parts: Vec<&str> = parts.map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("text", &parts.join("\n\n")).finish();
    redirect(&format!("/publish?{query}"))
}
