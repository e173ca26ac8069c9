//! Images of documents.

use serde::Serialize;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "Image", rename_all = "camelCase")]
pub(super) struct Image {
    media_type: &'static str,
    url: String,
    /// The description.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

impl Image {
    /// The image at `url`, whose name says its format.
    pub(super) fn new(url: String) -> Self {
        Self { media_type: mime(&url), url, name: None }
    }

    /// With a description, unless that is empty.
    pub(super) fn named(self, description: &str) -> Self {
        Self { name: Some(description.to_owned()).filter(|name| !name.is_empty()), ..self }
    }
}

/// The content type of an image by its name.
fn mime(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("gif") => "image/gif",
        Some("webp") => "image/webp",
        Some(_) | None => "image/png",
    }
}
