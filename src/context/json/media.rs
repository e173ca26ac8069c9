//! <https://docs.joinmastodon.org/entities/MediaAttachment/>

use serde::Serialize;

use model::MediaId;
use model::media::{MediaKind, MediaState};
use model::remote_file::{RemoteAddress, RemoteFileKind};
use model::urls::Urls;

#[derive(Clone, Debug, Serialize)]
pub struct MediaAttachment {
    pub id: MediaId,
    #[serde(rename = "type")]
    pub kind: MediaKind,
    pub url: Option<String>,
    pub preview_url: Option<String>,
    pub remote_url: Option<String>,
    pub preview_remote_url: Option<String>,
    pub text_url: Option<String>,
    pub meta: serde_json::Value,
    pub description: Option<String>,
    pub blurhash: Option<String>,
}

impl MediaAttachment {
    /// `url` is null while the file is processed, and for a file of another server that is not known to be media.
    #[must_use]
    pub fn new(media: &model::MediaAttachment, urls: &Urls) -> Self {
        let ready = media.state == MediaState::Ready;
        let elsewhere = |kind, url: &Option<String>| {
            let url = url.as_deref().filter(|_| media.kind != MediaKind::Unknown)?;
            Some(urls.remote_file(kind, media.id, url))
        };
        let remote = elsewhere(RemoteFileKind::Attachment, &media.remote_url);
        let thumbnail = elsewhere(RemoteFileKind::Thumbnail, &media.preview_remote_url);
        let preview = media.preview.as_deref().map(|key| urls.media(key));
        let preview = preview
            .or_else(|| thumbnail.map(RemoteAddress::whole))
            .or_else(|| remote.as_ref().filter(|_| media.kind == MediaKind::Image).map(RemoteAddress::small));
        let url = media.file.as_deref().filter(|_| ready).map(|key| urls.media(key));
        let url = url.or_else(|| remote.map(RemoteAddress::whole));
        Self {
            id: media.id,
            kind: media.kind,
            preview_url: preview
                .or_else(|| url.clone().filter(|_| media.remote_url.is_none() && media.kind != MediaKind::Audio)),
            url,
            remote_url: media.remote_url.clone(),
            preview_remote_url: media.preview_remote_url.clone(),
            text_url: None,
            meta: media.meta.0.clone(),
            description: media.description.clone(),
            blurhash: media.blurhash.clone(),
        }
    }
}
