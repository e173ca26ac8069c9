//! Files of statuses of other servers, as rows. Their files are in [`files`](super::files).

use context::Cx;
use context::error::Result;
use database::Tx;
use model::media::MediaKind;
use model::{AccountId, StatusId};
use store::media::RemoteMediaRow;

/// Most attachments (docs/contract/federation.md#7-accepting-activities).
const MEDIA_MAX: usize = 16;
/// Longest description of an attachment, in characters.
const DESCRIPTION_MAX: usize = 10_000;
/// Largest width or height that is believed of a file, in pixels.
const PIXELS_MAX: i64 = 1_000_000;

/// A file of a status on another server.
#[derive(Clone, Debug)]
pub struct RemoteMedia {
    pub url: String,
    pub mime: String,
    pub description: Option<String>,
    pub blurhash: Option<String>,
    /// From -1 to 1 each.
    pub focus: Option<[f64; 2]>,
    /// In pixels.
    pub size: Option<(i64, i64)>,
    /// A picture to show before the file.
    pub preview_url: Option<String>,
    /// How long it plays.
    pub seconds: Option<f64>,
}

impl RemoteMedia {
    /// The file at `url`, of which nothing else is known.
    #[must_use]
    pub fn at(url: String) -> Self {
        Self {
            url,
            mime: String::new(),
            description: None,
            blurhash: None,
            focus: None,
            size: None,
            preview_url: None,
            seconds: None,
        }
    }
}

/// Stores the attachments; their files are fetched when clients request them.
pub(super) async fn insert(
    cx: &Cx,
    tx: &mut Tx,
    author: AccountId,
    status: StatusId,
    files: &[RemoteMedia],
) -> Result<()> {
    let row = |file: &RemoteMedia| RemoteMediaRow {
        id: cx.ids.next(),
        kind: kind(&file.mime),
        mime: file.mime.clone(),
        url: file.url.clone(),
        preview_url: file.preview_url.clone(),
        meta: meta(file),
        description: file.description.as_ref().map(|text| text.chars().take(DESCRIPTION_MAX).collect()),
        blurhash: file.blurhash.clone(),
    };
    let files = files.iter().take(MEDIA_MAX).map(row).collect();
    Ok(store::media::insert_remote(tx, author, status, files, cx.clock.now()).await?)
}

fn kind(mime: &str) -> MediaKind {
    match mime.split('/').next() {
        // A document that can run scripts.
        Some("image") if mime.contains("svg") => MediaKind::Unknown,
        Some("image") => MediaKind::Image,
        Some("video") => MediaKind::Video,
        Some("audio") => MediaKind::Audio,
        Some(_) | None => MediaKind::Unknown,
    }
}

fn is_size(pixels: i64) -> bool {
    (1..=PIXELS_MAX).contains(&pixels)
}

/// The sizes and focus, as clients read them.
fn meta(file: &RemoteMedia) -> serde_json::Value {
    let mut meta = serde_json::Map::new();
    let mut original = serde_json::Map::new();
    if let Some((width, height)) = file.size.filter(|(width, height)| is_size(*width) && is_size(*height)) {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let aspect = width as f64 / height as f64;
        let size = serde_json::json!({
            "width": width, "height": height, "size": format!("{width}x{height}"), "aspect": aspect,
        });
        meta.insert("small".to_owned(), size.clone());
        original.extend(size.as_object().cloned().unwrap_or_default());
    }
    if let Some(seconds) = file.seconds {
        original.insert("duration".to_owned(), seconds.into());
    }
    if !original.is_empty() {
        meta.insert("original".to_owned(), original.into());
    }
    if let Some([x, y]) = file.focus.filter(|focus| focus.iter().all(|part| (-1.0..=1.0).contains(part))) {
        meta.insert("focus".to_owned(), serde_json::json!({ "x": x, "y": y }));
    }
    meta.into()
}
