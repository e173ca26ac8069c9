//! Edits of statuses: the new revision and the history of the earlier ones.
//!
//! Reached from `service::status`, in its transaction.

use database::{Conn, Result, Tx, sql};
use model::{Json, RowId, StatusId, Time, boxed};

/// The parts of a status that an edit replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revision {
    pub text: String,
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub language: Option<String>,
    pub has_media: bool,
    pub has_poll: bool,
    pub markdown: bool,
    pub expires_at: Option<Time>,
}

/// Writes an edit to the row of a status, with a new `edited_at` and version.
#[boxed]
pub async fn update(tx: &mut Tx, id: StatusId, revision: Revision, now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE statuses
         SET text = $2, content = $3, spoiler_text = $4, sensitive = $5, language = $6, has_media = $7, has_poll = $8,
             markdown = $9, expires_at = $10, edited_at = $11, version = version + 1
         WHERE id = $1"
    ))
    .bind(id)
    .bind(revision.text)
    .bind(revision.content)
    .bind(revision.spoiler_text)
    .bind(revision.sensitive)
    .bind(revision.language)
    .bind(revision.has_media)
    .bind(revision.has_poll)
    .bind(revision.markdown)
    .bind(revision.expires_at)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// A former revision of a status.
#[derive(Debug, model::Row)]
#[row(table = "status_edits", alias = "e")]
pub struct Edit {
    pub id: RowId,
    pub status_id: StatusId,
    pub text: String,
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub markdown: bool,
    /// The status of its quote, which may be gone.
    pub quote_id: Option<StatusId>,
    /// The media attachments as rendered for clients, as JSON.
    pub media: Json<serde_json::Value>,
    /// The texts of the poll's options; `None` without a poll.
    pub poll_options: Option<Json<Vec<String>>>,
    pub created_at: Time,
}

/// Most former revisions of a status, and most bytes of all of them.
const REVISIONS_MAX: i64 = 100;
const BYTES_MAX: i64 = 512 * 1024;

/// Adds a former revision to the edit history of a status. Beyond a hundred revisions, or 512 KiB, the oldest ones but the
/// first are deleted.
#[boxed]
pub async fn insert(tx: &mut Tx, edit: &Edit) -> Result<()> {
    tx.query(sql!(edit_insert!())).bind_row(edit).execute().await?;
    tx.query(sql!(
        "DELETE FROM status_edits WHERE id IN (
             SELECT r.id FROM (
                 SELECT e.id, ROW_NUMBER() OVER (ORDER BY e.id DESC) AS place, ROW_NUMBER() OVER (ORDER BY e.id) AS age,
                        SUM(octet_length(e.text) + octet_length(e.content) + octet_length(e.spoiler_text)
                            + octet_length(CAST(e.media AS TEXT))) OVER (ORDER BY e.id DESC) AS size
                 FROM status_edits e WHERE e.status_id = $1
             ) r WHERE r.age > 1 AND (r.place >= $2 OR r.size > $3)
         )"
    ))
    .bind(edit.status_id)
    .bind(REVISIONS_MAX)
    .bind(BYTES_MAX)
    .execute()
    .await?;
    Ok(())
}

/// The former revisions of a status, oldest first.
#[boxed]
pub async fn list(db: Conn<'_>, status: StatusId) -> Result<Vec<Edit>> {
    db.query(sql!("SELECT " edit_columns!() " FROM status_edits e WHERE e.status_id = $1 ORDER BY e.id"))
        .bind(status)
        .all()
        .await
}
