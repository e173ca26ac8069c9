//! The files of a note.

use serde::Serialize;

use super::files::Files;
use super::image::Image;
use model::MediaAttachment;
use model::media::MediaKind;

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) struct Document<'a> {
    media_type: &'a str,
    url: String,
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blurhash: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    focal_point: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<i64>,
    /// How long it plays, as `PT12.5S`.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<String>,
    /// A picture of a video or a sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<Image>,
}

/// An attachment that is ready.
pub(super) fn document<'a>(media: &'a MediaAttachment, files: Files<'_>) -> Option<Document<'a>> {
    let meta = &media.meta.0;
    let side = |name: &str| meta["original"][name].as_i64();
    let focus = |name: &str| meta["focus"][name].as_f64();
    Some(Document {
        media_type: &media.mime,
        url: files.address(media.file.as_deref()?),
        name: media.description.as_deref(),
        blurhash: media.blurhash.as_deref(),
        focal_point: focus("x").zip(focus("y")).map(|(x, y)| [x, y]),
        width: side("width"),
        height: side("height"),
        duration: meta["original"]["duration"].as_f64().map(|seconds| format!("PT{seconds}S")),
        icon: picture(media, files),
    })
}

/// The preview of a file that is not a picture itself. Archives have none.
fn picture(media: &MediaAttachment, files: Files<'_>) -> Option<Image> {
    let is_served = matches!(files, Files::Served(_));
    let preview = media.preview.as_deref().filter(|_| is_served && media.kind != MediaKind::Image)?;
    Some(Image::new(files.address(preview)))
}
