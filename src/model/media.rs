//! Media attachments.

use super::{AccountId, Json, MediaId, ScheduledStatusId, StatusId, Time, text_enum};

text_enum! {
    /// The media type of an attachment, which decides how clients show it.
    MediaKind {
        /// A still or animated image.
        Image = "image",
        /// A short silent video that plays by itself.
        Gifv = "gifv",
        Video = "video",
        Audio = "audio",
        /// A remote file of another kind.
        Unknown = "unknown",
    }
}

text_enum! {
    /// The processing state of an upload.
    MediaState {
        /// Waits to be processed.
        Processing = "processing",
        /// Can be shown and attached.
        Ready = "ready",
        /// Processing failed.
        Failed = "failed",
    }
}

/// A row of the media attachments table. `status_id` is `None` until a status uses it.
#[derive(Clone, Debug, crate::Row)]
#[row(table = "media_attachments", alias = "m")]
pub struct MediaAttachment {
    pub id: MediaId,
    pub account_id: AccountId,
    pub status_id: Option<StatusId>,
    /// The scheduled status that it is kept for.
    pub scheduled_status_id: Option<ScheduledStatusId>,
    pub position: i64,
    pub kind: MediaKind,
    pub state: MediaState,
    pub mime: String,
    /// Storage key of the original.
    pub file: Option<String>,
    pub size_bytes: i64,
    /// Storage key of the preview.
    pub preview: Option<String>,
    pub remote_url: Option<String>,
    pub preview_remote_url: Option<String>,
    pub meta: Json<serde_json::Value>,
    pub description: Option<String>,
    pub blurhash: Option<String>,
    /// Why it could not be processed.
    pub failure: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}

impl MediaAttachment {
    /// It is on a status, or kept for a scheduled one.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.status_id.is_some() || self.scheduled_status_id.is_some()
    }

    /// Whether the storage key `file` is one of its files.
    #[must_use]
    pub fn has_file(&self, file: &str) -> bool {
        self.file.as_deref() == Some(file) || self.preview.as_deref() == Some(file)
    }
}
