//! The oEmbed document of a page: its player, picture, author and provider.
//!
//! Reached from [`fetch`](mod@super::fetch). The document is found only by the link in the page. A `rich` document is
//! ignored, since its content relies on its own scripts.
//!
//! Spec: <https://oembed.com/>

use outbound::{FetchError, Target};
use serde_json::Value;
use text::json_shape;

use super::preview::{Preview, address};
use crate::web_page;
use context::Cx;
use model::card::CardKind;

/// Largest document, in bytes.
const LIMIT: usize = 100 * 1024;
/// Its content types.
const JSON: &[&str] = &["application/json", "application/json+oembed", "text/json"];

/// Adds the data of the document at `target` to `preview`, unless it is not an oEmbed document.
///
/// # Errors
/// [`FetchError`] when it cannot be fetched.
pub(super) async fn add(cx: &Cx, preview: &mut Preview, target: Target) -> Result<(), FetchError> {
    let document = web_page::document(cx, target, JSON, LIMIT).await?;
    if json_shape::check(&document.body).is_ok()
        && let Ok(value) = serde_json::from_slice(&document.body)
    {
        apply(preview, &document.target, &value);
    }
    Ok(())
}

fn apply(preview: &mut Preview, base: &Target, document: &Value) {
    let text = |name: &str| document[name].as_str().unwrap_or_default();
    let link = |name: &str| address(base, text(name));
    let (width, height) = (number(&document["width"]), number(&document["height"]));
    match text("type") {
        "link" => {}
        "video" => preview.set_player(text("html"), width, height),
        "photo" => {
            if let Some(url) = link("url") {
                preview.card.kind = CardKind::Photo;
                preview.image = Target::parse(&url).ok();
                preview.card.embed_url = url;
                preview.set_size(width, height);
            }
        }
        _ => return,
    }
    preview.set_names(text("title"), text("author_name"), text("provider_name"));
    if let Some(url) = link("author_url") {
        preview.card.author_url = url;
    }
    if let Some(url) = link("provider_url") {
        preview.card.provider_url = url;
    }
    if let Some(picture) = link("thumbnail_url").filter(|_| preview.card.kind != CardKind::Photo) {
        preview.image = Target::parse(&picture).ok();
    }
}

/// A number, which some servers write as a string.
fn number(value: &Value) -> i64 {
    let written = value.as_str().and_then(|text| text.trim().parse().ok());
    value.as_i64().or(written).unwrap_or(0)
}
