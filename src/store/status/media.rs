//! Media attachments: rows only, the files are in the media storage.
//!
//! Reached from `service::media`, status services and entities. An attachment belongs to no status until it is
//! attached.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::media::MediaKind;
use model::{
    AccountId, Json, MediaAttachment, MediaId, SavedDraftId, ScheduledStatusId, StatusId, Time, boxed,
    media_attachment_columns, media_attachment_insert,
};
use serde::Serialize;

/// The attachments of these statuses, by status and then in their order.
#[boxed]
pub async fn list_for_statuses(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<MediaAttachment>> {
    db.query(sql!(
        "SELECT " media_attachment_columns!() " FROM media_attachments m
         WHERE m.status_id" in("$1")
        "ORDER BY m.status_id, m.position, m.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The attachments reserved for these scheduled statuses, by scheduled status and then in their order.
#[boxed]
pub async fn list_for_scheduled(db: Conn<'_>, ids: &[ScheduledStatusId]) -> Result<Vec<MediaAttachment>> {
    db.query(sql!(
        "SELECT " media_attachment_columns!() " FROM media_attachments m
         WHERE m.scheduled_status_id" in("$1")
        "ORDER BY m.scheduled_status_id, m.position, m.id"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// The uploads that a draft of `account` names, by id.
#[boxed]
pub async fn list_for_draft(db: Conn<'_>, account: AccountId, draft: SavedDraftId) -> Result<Vec<MediaAttachment>> {
    db.query(sql!(
        "SELECT " media_attachment_columns!() " FROM saved_draft_media d
         JOIN media_attachments m ON m.id = d.media_id
         WHERE d.draft_id = $1 AND m.account_id = $2
         ORDER BY m.id"
    ))
    .bind(draft)
    .bind(account)
    .all()
    .await
}

#[boxed]
pub async fn find(db: Conn<'_>, id: MediaId) -> Result<Option<MediaAttachment>> {
    db.query(sql!("SELECT " media_attachment_columns!() " FROM media_attachments m WHERE m.id = $1"))
        .bind(id)
        .optional()
        .await
}

/// As [`find`], locked until the transaction ends.
#[boxed]
pub async fn lock(tx: &mut Tx, id: MediaId) -> Result<Option<MediaAttachment>> {
    tx.query(sql!(
        sqlite: "SELECT " media_attachment_columns!() " FROM media_attachments m WHERE m.id = $1";
        postgres: "SELECT " media_attachment_columns!() " FROM media_attachments m WHERE m.id = $1 FOR UPDATE"
    ))
    .bind(id)
    .optional()
    .await
}

/// The attachments that exist among `ids`, in no particular order.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[MediaId]) -> Result<Vec<MediaAttachment>> {
    db.query(sql!("SELECT " media_attachment_columns!() " FROM media_attachments m WHERE m.id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// Statistics of the attachments of one kind.
#[derive(Debug, model::Row)]
pub struct KindUsage {
    pub kind: model::media::MediaKind,
    /// Number of attachments.
    pub attachments: i64,
    /// The total size of their originals, in bytes.
    pub bytes: i64,
    /// Number of attachments without a status or scheduled status.
    pub unattached: i64,
    /// Number of attachments waiting for conversion.
    pub processing: i64,
    /// Number of attachments whose conversion failed.
    pub failed: i64,
}

/// Statistics by kind. Reads the whole table.
#[boxed]
pub async fn usage(db: Conn<'_>) -> Result<Vec<KindUsage>> {
    db.query(sql!(
        "SELECT kind, COUNT(*) AS attachments, CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes,
                COUNT(*) FILTER (WHERE status_id IS NULL AND scheduled_status_id IS NULL) AS unattached,
                COUNT(*) FILTER (WHERE state = 'processing') AS processing,
                COUNT(*) FILTER (WHERE state = 'failed') AS failed
         FROM media_attachments GROUP BY kind ORDER BY kind"
    ))
    .all()
    .await
}

/// Completes what is known of an attachment of another server from its file: the sizes unless its server gave them, and
/// the blurhash. Returns its status when anything changed.
#[boxed]
pub async fn complete(tx: &mut Tx, id: MediaId, meta: serde_json::Value, blurhash: String) -> Result<Option<StatusId>> {
    let Some(mut media) = lock(tx, id).await? else { return Ok(None) };
    let known = media.meta.0.get("original").is_some();
    if known && media.blurhash.is_some() {
        return Ok(None);
    }
    if let (false, Some(stored), Some(found)) = (known, media.meta.0.as_object_mut(), meta.as_object()) {
        let sizes =
            ["original", "small"].into_iter().filter_map(|name| Some((name.to_owned(), found.get(name)?.clone())));
        stored.extend(sizes);
    }
    tx.query(sql!("UPDATE media_attachments SET meta = $2, blurhash = coalesce(blurhash, $3) WHERE id = $1"))
        .bind(id)
        .bind(media.meta)
        .bind(blurhash)
        .execute()
        .await?;
    Ok(media.status_id)
}

/// The storage keys of an attachment.
#[derive(Debug, model::Row)]
pub struct MediaFiles {
    pub id: MediaId,
    pub file: Option<String>,
    pub preview: Option<String>,
}

/// The storage keys of the next `limit` attachments after `after`, in the order of their ids.
#[boxed]
pub async fn list_files(db: Conn<'_>, after: MediaId, limit: i64) -> Result<Vec<MediaFiles>> {
    db.query(sql!("SELECT id, file, preview FROM media_attachments WHERE id > $1 ORDER BY id LIMIT $2"))
        .bind(after)
        .bind(limit)
        .all()
        .await
}

/// The storage keys of the next `limit` attachments of an account after `after`, in the order of their ids.
#[boxed]
pub async fn list_files_of(db: Conn<'_>, account: AccountId, after: MediaId, limit: i64) -> Result<Vec<MediaFiles>> {
    db.query(sql!(
        "SELECT id, file, preview FROM media_attachments WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Deletes the attachments of a remote status, which have no files here.
#[boxed]
pub async fn delete_remote(tx: &mut Tx, status: StatusId) -> Result<()> {
    tx.query(sql!("DELETE FROM media_attachments WHERE status_id = $1 AND file IS NULL"))
        .bind(status)
        .execute()
        .await?;
    Ok(())
}

/// An attachment of a remote status, whose file stays where it is.
#[derive(Clone, Debug, Serialize)]
pub struct RemoteMediaRow {
    pub id: MediaId,
    pub kind: MediaKind,
    pub mime: String,
    pub url: String,
    pub preview_url: Option<String>,
    pub meta: serde_json::Value,
    pub description: Option<String>,
    pub blurhash: Option<String>,
}

/// Stores the attachments of `status`, which `account` wrote, in this order and in one statement.
#[boxed]
pub async fn insert_remote(
    tx: &mut Tx,
    account: AccountId,
    status: StatusId,
    files: Vec<RemoteMediaRow>,
    now: Time,
) -> Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    let rows: Vec<(usize, RemoteMediaRow)> = files.into_iter().enumerate().collect();
    tx.query(sql!(
        "INSERT INTO media_attachments
         (id, account_id, status_id, position, kind, state, mime, size_bytes, remote_url, preview_remote_url, meta,
          description, blurhash, created_at, updated_at)
         SELECT CAST(value -> 1 ->> 'id' AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST(value ->> 0 AS BIGINT),
                value -> 1 ->> 'kind', 'ready', value -> 1 ->> 'mime', 0, value -> 1 ->> 'url',
                value -> 1 ->> 'preview_url', value -> 1 -> 'meta', value -> 1 ->> 'description',
                value -> 1 ->> 'blurhash', $4, $4
         FROM" rows("$1") "WHERE TRUE"
    ))
    .bind(Json(rows))
    .bind(account)
    .bind(status)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

#[boxed]
pub async fn insert(tx: &mut Tx, new: &MediaAttachment) -> Result<()> {
    tx.query(sql!(media_attachment_insert!())).bind_row(new).execute().await?;
    Ok(())
}

/// Writes the description and the metadata, such as the focal point, of an attachment.
#[boxed]
pub async fn describe(
    tx: &mut Tx,
    id: MediaId,
    description: Option<String>,
    meta: Json<serde_json::Value>,
    now: Time,
) -> Result<()> {
    tx.query(sql!("UPDATE media_attachments SET description = $2, meta = $3, updated_at = $4 WHERE id = $1"))
        .bind(id)
        .bind(description)
        .bind(meta)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Replaces the preview and its blurhash.
#[boxed]
pub async fn set_preview(tx: &mut Tx, id: MediaId, preview: &str, blurhash: Option<String>) -> Result<()> {
    tx.query(sql!("UPDATE media_attachments SET preview = $2, blurhash = $3 WHERE id = $1"))
        .bind(id)
        .bind(preview.to_owned())
        .bind(blurhash)
        .execute()
        .await?;
    Ok(())
}

/// Writes the result of processing an upload: all columns except its account, its status and its description.
#[boxed]
pub async fn finish(tx: &mut Tx, media: &MediaAttachment) -> Result<()> {
    tx.query(sql!(
        "UPDATE media_attachments
         SET kind = $2, state = $3, mime = $4, file = $5, size_bytes = $6, preview = $7, meta = $8, blurhash = $9,
             failure = $10, updated_at = $11
         WHERE id = $1"
    ))
    .bind(media.id)
    .bind(media.kind)
    .bind(media.state)
    .bind(media.mime.clone())
    .bind(media.file.clone())
    .bind(media.size_bytes)
    .bind(media.preview.clone())
    .bind(media.meta.clone())
    .bind(media.blurhash.clone())
    .bind(media.failure.clone())
    .bind(media.updated_at)
    .execute()
    .await?;
    Ok(())
}

/// Attaches media to a status, in the order of `ids`; returns how many were attached. Media of another status, or
/// reserved for a scheduled one, are skipped, so fewer than `ids` means a conflict. The engines number the elements
/// of a list differently: SQLite from 0, PostgreSQL from 1.
#[boxed]
pub async fn attach(tx: &mut Tx, status: StatusId, ids: &[MediaId], now: Time) -> Result<u64> {
    tx.query(sql!(
        sqlite: "UPDATE media_attachments SET status_id = $1, position = e.key, updated_at = $3
                 FROM json_each($2) e
                 WHERE media_attachments.id = e.value AND (status_id IS NULL OR status_id = $1)
                   AND scheduled_status_id IS NULL";
        postgres: "UPDATE media_attachments SET status_id = $1, position = e.key - 1, updated_at = $3
                   FROM unnest($2::bigint[]) WITH ORDINALITY AS e(value, key)
                   WHERE media_attachments.id = e.value AND (status_id IS NULL OR status_id = $1)
                     AND scheduled_status_id IS NULL"
    ))
    .bind(status)
    .bind(Ids::of(ids.iter().copied()))
    .bind(now)
    .execute()
    .await
}

/// Reserves media for a scheduled status, in the order of `ids`, as [`attach`]; returns how many. Media that are
/// already attached or reserved are skipped.
#[boxed]
pub async fn reserve(tx: &mut Tx, scheduled: ScheduledStatusId, ids: &[MediaId], now: Time) -> Result<u64> {
    tx.query(sql!(
        sqlite: "UPDATE media_attachments SET scheduled_status_id = $1, position = e.key, updated_at = $3
                 FROM json_each($2) e
                 WHERE media_attachments.id = e.value AND status_id IS NULL AND scheduled_status_id IS NULL";
        postgres: "UPDATE media_attachments SET scheduled_status_id = $1, position = e.key - 1, updated_at = $3
                   FROM unnest($2::bigint[]) WITH ORDINALITY AS e(value, key)
                   WHERE media_attachments.id = e.value AND status_id IS NULL AND scheduled_status_id IS NULL"
    ))
    .bind(scheduled)
    .bind(Ids::of(ids.iter().copied()))
    .bind(now)
    .execute()
    .await
}

/// Detaches media from their status or scheduled status.
#[boxed]
pub async fn detach(tx: &mut Tx, ids: &[MediaId], now: Time) -> Result<()> {
    tx.query(sql!("UPDATE media_attachments SET status_id = NULL, scheduled_status_id = NULL, updated_at = $2 WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Deletes an attachment without a status or scheduled status; false if it has one, or does not exist.
#[boxed]
pub async fn delete_loose(tx: &mut Tx, id: MediaId) -> Result<bool> {
    let deleted = tx
        .query(sql!(
            "DELETE FROM media_attachments WHERE id = $1 AND status_id IS NULL AND scheduled_status_id IS NULL"
        ))
        .bind(id)
        .execute()
        .await?;
    Ok(deleted > 0)
}
