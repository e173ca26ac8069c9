//! Drafts of statuses that their authors have not published yet, and the uploads that they name.
//!
//! Reached from `service::saved_draft`, which interprets their parameters. A row for each upload that a draft names keeps
//! it from being purged; foreign keys delete these rows with the draft and with the upload.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{
    AccountId, Cursor, Json, MediaId, SavedDraft, SavedDraftId, Time, boxed, saved_draft_columns, saved_draft_insert,
};

/// Inserts a draft.
#[boxed]
pub async fn insert(tx: &mut Tx, new: &SavedDraft) -> Result<()> {
    tx.query(sql!(saved_draft_insert!())).bind_row(new).execute().await?;
    Ok(())
}

/// Replaces the parameters of a draft of `account`; false when there is none.
#[boxed]
pub async fn update(
    tx: &mut Tx,
    account: AccountId,
    id: SavedDraftId,
    parameters: Json<serde_json::Value>,
    now: Time,
) -> Result<bool> {
    let updated = tx
        .query(sql!("UPDATE saved_drafts SET parameters = $3, updated_at = $4 WHERE id = $1 AND account_id = $2"))
        .bind(id)
        .bind(account)
        .bind(parameters)
        .bind(now)
        .execute()
        .await?;
    Ok(updated > 0)
}

/// The draft of any account.
#[boxed]
pub async fn find(db: Conn<'_>, id: SavedDraftId) -> Result<Option<SavedDraft>> {
    db.query(sql!("SELECT " saved_draft_columns!() " FROM saved_drafts d WHERE d.id = $1")).bind(id).optional().await
}

/// A page of the drafts of `account`, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId, cursor: &Cursor) -> Result<Vec<SavedDraft>> {
    let sql = database::paged!(
        cursor,
        "SELECT " saved_draft_columns!() " FROM saved_drafts d
         WHERE d.account_id = $1 AND d.id < $2 AND d.id > $3",
        by "d.id", limit "$4"
    );
    let query = db.query(sql).bind(account).bind(cursor.before()).bind(cursor.after()).bind(cursor.limit);
    Ok(cursor.newest_first(query.all().await?))
}

/// The number of drafts of `account`.
#[boxed]
pub async fn count(db: Conn<'_>, account: AccountId) -> Result<i64> {
    db.query(sql!("SELECT COUNT(*) FROM saved_drafts d WHERE d.account_id = $1")).bind(account).scalar().await
}

/// Deletes a draft of `account`; false when there is none.
#[boxed]
pub async fn delete(tx: &mut Tx, account: AccountId, id: SavedDraftId) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM saved_drafts WHERE id = $1 AND account_id = $2"))
        .bind(id)
        .bind(account)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// Replaces the uploads that a draft names.
#[boxed]
pub async fn set_media(tx: &mut Tx, id: SavedDraftId, media: &[MediaId]) -> Result<()> {
    tx.query(sql!("DELETE FROM saved_draft_media WHERE draft_id = $1")).bind(id).execute().await?;
    if media.is_empty() {
        return Ok(());
    }
    tx.query(sql!(
        "INSERT INTO saved_draft_media (draft_id, media_id)
         SELECT CAST($1 AS BIGINT), m.id FROM media_attachments m WHERE m.id" in("$2")
    ))
    .bind(id)
    .bind(Ids::of(media.iter().copied()))
    .execute()
    .await?;
    Ok(())
}

/// True when a draft names the upload `media`.
#[boxed]
pub async fn has_media(db: Conn<'_>, media: MediaId) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM saved_draft_media d WHERE d.media_id = $1)")).bind(media).scalar().await
}
