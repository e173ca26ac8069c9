//! Media attachments.

use super::sql::Ids;
use super::{Executor, Result};
use crate::model::{MediaAttachment, StatusId};
use crate::sql;

/// The columns of [`MediaAttachment`], of a table called `m`.
#[macro_export]
macro_rules! media_columns {
    () => {
        "m.id, m.account_id, m.status_id, m.position, m.kind, m.state, m.mime, m.file, m.size_bytes, m.preview, \
         m.remote_url, m.preview_remote_url, m.meta, m.description, m.blurhash, m.created_at, m.updated_at"
    };
}

/// The media of `ids` in their order.
///
/// # Errors
/// When the database does.
pub async fn list_for_statuses(db: impl Executor, ids: &[StatusId]) -> Result<Vec<MediaAttachment>> {
    db.query(sql!(
        "SELECT " media_columns!() " FROM media_attachments m
         WHERE m.status_id" in("$1")
        "ORDER BY m.status_id, m.position, m.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}
