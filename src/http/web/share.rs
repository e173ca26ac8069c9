//! `/share?text=…`: where other sites send people who want to post something.
//!
//! The page shows the text, ready to be copied, and the apps that can post it. It posts nothing.

use minijinja::context;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Page;
use super::settings::Frame;
use crate::error::Result;
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
pub async fn show(frame: Frame, Params(shared): Params<Shared>) -> Result<Page> {
    let parts = [&shared.title, &shared.text, &shared.url].into_iter().flatten();
    let parts: Vec<&str> = parts.map(|part| part.trim()).filter(|part| !part.is_empty()).collect();
    let text = parts.join("\n\n");
    let rows = text.lines().count().clamp(3, 12);
    frame.page("share", "share.title", "share.html", context! { text, rows })
}
