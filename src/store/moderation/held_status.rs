//! Deleted statuses that reports or strikes name, which the staff still sees, and the files of their media.
//!
//! Reached from `service::held_status`.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, MediaId, StatusId, Time, Visibility, boxed};

/// A deleted status.
#[derive(Clone, Debug, model::Row)]
#[row(table = "held_statuses", alias = "h")]
pub struct HeldStatus {
    /// The id of the deleted status.
    pub id: StatusId,
    pub account_id: AccountId,
    pub uri: String,
    pub url: Option<String>,
    /// Source text of a local author; empty for a remote one.
    pub text: String,
    /// HTML.
    pub content: String,
    pub spoiler_text: String,
    pub sensitive: bool,
    pub visibility: Visibility,
    pub language: Option<String>,
    /// The attachments as rendered for clients, as JSON.
    pub media: Json<serde_json::Value>,
    pub created_at: Time,
    pub edited_at: Option<Time>,
    pub deleted_at: Time,
}

/// A stored file of a held status.
#[derive(Clone, Debug, model::Row)]
#[row(table = "held_files", alias = "f")]
pub struct HeldFile {
    /// The storage key.
    pub file: String,
    pub status_id: StatusId,
    pub media_id: MediaId,
}

/// The statuses that reports about `author` and strikes against it name: one list for each.
#[boxed]
pub async fn named(db: Conn<'_>, author: AccountId) -> Result<Vec<Json<Vec<StatusId>>>> {
    db.query(sql!(
        "SELECT r.status_ids FROM reports r WHERE r.target_account_id = $1 AND r.status_ids IS NOT NULL
         UNION ALL
         SELECT w.status_ids FROM account_warnings w WHERE w.target_account_id = $1 AND w.status_ids IS NOT NULL"
    ))
    .bind(author)
    .scalars()
    .await
}

/// Keeps a status with the files of its media.
#[boxed]
pub async fn insert(tx: &mut Tx, status: &HeldStatus, files: &[HeldFile]) -> Result<()> {
    tx.query(sql!(held_status_insert!() " ON CONFLICT DO NOTHING")).bind_row(status).execute().await?;
    for file in files {
        tx.query(sql!(held_file_insert!() " ON CONFLICT DO NOTHING")).bind_row(file).execute().await?;
    }
    Ok(())
}

/// The held ones among `ids`, by id.
#[boxed]
pub async fn list(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<HeldStatus>> {
    db.query(sql!("SELECT " held_status_columns!() " FROM held_statuses h WHERE h.id" in("$1") "ORDER BY h.id"))
        .bind(Ids::of(ids.iter().copied()))
        .all()
        .await
}

/// The held ones among these files.
#[boxed]
pub async fn list_files(db: Conn<'_>, files: &[String]) -> Result<Vec<String>> {
    db.query(sql!("SELECT DISTINCT f.file FROM held_files f WHERE f.file" in("$1")))
        .bind(Texts::of(files.iter().cloned()))
        .scalars()
        .await
}

/// The next `limit` held files after `after`, in order.
#[boxed]
pub async fn page_of_files(db: Conn<'_>, after: &str, limit: i64) -> Result<Vec<String>> {
    db.query(sql!("SELECT DISTINCT f.file FROM held_files f WHERE f.file > $1 ORDER BY f.file LIMIT $2"))
        .bind(after.to_owned())
        .bind(limit)
        .scalars()
        .await
}

/// The files of the held statuses of an account.
#[boxed]
pub async fn files_of(db: Conn<'_>, account: AccountId) -> Result<Vec<HeldFile>> {
    db.query(sql!(
        "SELECT " held_file_columns!() " FROM held_files f JOIN held_statuses h ON h.id = f.status_id
         WHERE h.account_id = $1"
    ))
    .bind(account)
    .all()
    .await
}

/// Deletes the held statuses of an account; returns how many.
#[boxed]
pub async fn delete_of(tx: &mut Tx, account: AccountId) -> Result<u64> {
    tx.query(sql!("DELETE FROM held_statuses WHERE account_id = $1")).bind(account).execute().await
}
