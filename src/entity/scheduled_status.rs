//! <https://docs.joinmastodon.org/entities/ScheduledStatus/>

use serde::Serialize;

use context::Cx;
use context::error::Result;
use context::json::Fragment;
use context::json::media::MediaAttachment;
use model::{ScheduledStatusId, Time};
use service::scheduled_status::WithMedia;

/// A status that is to be published later. `error` is an extension of the API: why it was not published at its time.
#[derive(Debug, Serialize)]
struct ScheduledStatus<'a> {
    id: ScheduledStatusId,
    scheduled_at: String,
    params: &'a serde_json::Value,
    media_attachments: Vec<MediaAttachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

/// Renders a scheduled status. Makes no query.
pub fn render(cx: &Cx, shown: &WithMedia) -> Result<Fragment> {
    let row = &shown.scheduled;
    Fragment::of(&ScheduledStatus {
        id: row.id,
        scheduled_at: Time::to_api(row.scheduled_at),
        params: &row.params.0,
        media_attachments: shown.media.iter().map(|media| MediaAttachment::new(media, &cx.urls)).collect(),
        error: row.failure.as_deref(),
    })
}
