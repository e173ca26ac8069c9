//! Statuses on web pages and in feeds, a page at a time.

use std::collections::HashMap;

use serde::Serialize;

use super::reactions;
use super::source::{MediaSource, Source};
use super::view::{Media, View, WebStatus};
use context::Cx;
use context::error::{Error, Result};
use context::json::media::MediaAttachment as Entity;
use model::filter::FilterContext;
use model::media::MediaKind;
use model::{Actor, MediaAttachment, StatusId, Time};
use service::visibility::Seen;

/// Builds a page of statuses, in the order given, as [`render`](crate::status::render) renders them for `viewer`. The
/// viewer's filters for `place` apply; statuses that they hide are left out.
///
/// # Errors
/// As [`render`](crate::status::render).
pub async fn statuses(
    cx: &Cx,
    viewer: Option<&Actor>,
    place: Option<FilterContext>,
    page: &[Seen],
) -> Result<Vec<WebStatus>> {
    if page.is_empty() {
        return Ok(Vec::new());
    }
    let json = crate::status::render(cx, viewer, page).await?;
    read(cx, viewer, place, json.as_str())
}

/// Builds a page of statuses from the JSON of an extension's route, as [`statuses`] builds them.
///
/// # Errors
/// [`Error::Unavailable`] for anything but a list of statuses.
pub fn statuses_of(
    cx: &Cx,
    viewer: &Actor,
    place: Option<FilterContext>,
    json: &serde_json::Value,
) -> Result<Vec<WebStatus>> {
    read(cx, Some(viewer), place, &json.to_string()).map_err(|error| match error {
        Error::Internal(_) => Error::Unavailable("The extension did not respond with statuses".into()),
        error => error,
    })
}

fn read(cx: &Cx, viewer: Option<&Actor>, place: Option<FilterContext>, json: &str) -> Result<Vec<WebStatus>> {
    let sources: Vec<Source> = serde_json::from_str(json).map_err(Error::internal)?;
    let view = View::new(cx, viewer, place);
    let parts = reactions::parts(cx);
    if parts.is_empty() {
        return Ok(sources.into_iter().filter_map(|source| view.entry(source)).collect());
    }
    let mut found = reactions::of(&parts, json)?.into_iter();
    let entry = |source| {
        let reactions = found.next().unwrap_or_default();
        Some(WebStatus { reactions, ..view.entry(source)? })
    };
    Ok(sources.into_iter().filter_map(entry).collect())
}

/// Builds an attachment that is not part of a status yet.
///
/// # Errors
/// [`Error::Internal`], which is a bug.
pub fn media(cx: &Cx, row: &MediaAttachment) -> Result<Media> {
    let json = serde_json::to_value(Entity::new(row, &cx.urls)).map_err(Error::internal)?;
    serde_json::from_value(json).map(MediaSource::into).map_err(Error::internal)
}

/// A file of a status in a feed.
#[derive(Clone, Debug, Serialize)]
pub struct Enclosure {
    pub kind: MediaKind,
    pub url: Option<String>,
    pub description: Option<String>,
    pub mime_type: String,
    pub size_bytes: i64,
}

/// A status in a feed.
#[derive(Clone, Debug, Serialize)]
pub struct FeedStatus {
    #[serde(flatten)]
    pub status: WebStatus,
    /// The first words of the text.
    pub title: String,
    pub created_at_rfc2822: String,
    pub updated_at_iso: Option<String>,
    pub enclosures: Vec<Enclosure>,
}

/// Builds the statuses of a feed, in the order given, as anyone may see them.
///
/// # Errors
/// As [`statuses`].
pub async fn feed(cx: &Cx, page: &[Seen]) -> Result<Vec<FeedStatus>> {
    let shown = statuses(cx, None, None, page).await?;
    let ids: Vec<StatusId> = shown.iter().map(|status| status.id).collect();
    let mut files: HashMap<StatusId, Vec<Enclosure>> = HashMap::new();
    for row in store::media::list_for_statuses(&cx.db, &ids).await? {
        let Some(status) = row.status_id else { continue };
        let media = Entity::new(&row, &cx.urls);
        files.entry(status).or_default().push(Enclosure {
            kind: media.kind,
            url: media.url,
            description: media.description,
            mime_type: row.mime,
            size_bytes: row.size_bytes,
        });
    }
    let entry = |status: WebStatus| FeedStatus {
        title: status.title(cx.language()),
        created_at_rfc2822: status.created_at.to_rfc2822(),
        updated_at_iso: status.edited_at.map(Time::to_api_seconds),
        enclosures: files.get(&status.id).cloned().unwrap_or_default(),
        status,
    };
    Ok(shown.into_iter().map(entry).collect())
}
