//! Copies of files of other servers. How the files of a host are served is in
//! [`remote_media_mode`](crate::remote_media_mode).
//!
//! Reached from `service::remote::files`. A copy belongs to a row of an account, an attachment or an emoji, and is
//! removed with the next pass after that row is gone.
//!
//! Spec: docs/contract/federation.md#14-media-of-other-servers

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::media::MediaKind;
use model::remote_file::RemoteFileKind;
use model::{Time, boxed};

/// The file that a row names.
#[derive(Clone, Debug, PartialEq, model::Row)]
pub struct Named {
    pub url: String,
    /// What an attachment is; `image` for other kinds.
    pub media: MediaKind,
    /// The content type that its server gave for an attachment.
    pub mime: Option<String>,
}

/// The file of a row that may be shown: not one of a suspended account, nor a disabled emoji.
#[boxed]
pub async fn find_named(db: Conn<'_>, kind: RemoteFileKind, id: i64) -> Result<Option<Named>> {
    let query = match kind {
        RemoteFileKind::Avatar => db.query(sql!(
            "SELECT a.avatar_remote_url AS url, 'image' AS media, CAST(NULL AS TEXT) AS mime FROM accounts a
             WHERE a.id = $1 AND a.domain IS NOT NULL AND a.suspended_at IS NULL AND a.avatar_remote_url IS NOT NULL"
        )),
        RemoteFileKind::Header => db.query(sql!(
            "SELECT a.header_remote_url AS url, 'image' AS media, CAST(NULL AS TEXT) AS mime FROM accounts a
             WHERE a.id = $1 AND a.domain IS NOT NULL AND a.suspended_at IS NULL AND a.header_remote_url IS NOT NULL"
        )),
        RemoteFileKind::Attachment => db.query(sql!(
            "SELECT m.remote_url AS url, m.kind AS media, m.mime FROM media_attachments m
             JOIN accounts a ON a.id = m.account_id
             WHERE m.id = $1 AND m.file IS NULL AND m.remote_url IS NOT NULL AND a.suspended_at IS NULL"
        )),
        RemoteFileKind::Thumbnail => db.query(sql!(
            "SELECT m.preview_remote_url AS url, 'image' AS media, CAST(NULL AS TEXT) AS mime FROM media_attachments m
             JOIN accounts a ON a.id = m.account_id
             WHERE m.id = $1 AND m.preview IS NULL AND m.preview_remote_url IS NOT NULL AND a.suspended_at IS NULL"
        )),
        RemoteFileKind::Emoji => db.query(sql!(
            "SELECT e.remote_url AS url, 'image' AS media, CAST(NULL AS TEXT) AS mime FROM custom_emojis e
             WHERE e.id = $1 AND e.domain IS NOT NULL AND e.remote_url IS NOT NULL AND NOT e.disabled"
        )),
    };
    query.bind(id).optional().await
}

/// The rows among `ids` that still exist, suspended and disabled ones included.
#[boxed]
pub async fn list_existing(db: Conn<'_>, kind: RemoteFileKind, ids: &[i64]) -> Result<Vec<i64>> {
    let query = match kind {
        RemoteFileKind::Avatar => {
            db.query(sql!("SELECT a.id FROM accounts a WHERE a.avatar_remote_url IS NOT NULL AND a.id" in("$1")))
        }
        RemoteFileKind::Header => {
            db.query(sql!("SELECT a.id FROM accounts a WHERE a.header_remote_url IS NOT NULL AND a.id" in("$1")))
        }
        RemoteFileKind::Attachment => {
            db.query(sql!("SELECT m.id FROM media_attachments m WHERE m.remote_url IS NOT NULL AND m.id" in("$1")))
        }
        RemoteFileKind::Thumbnail => db.query(sql!(
            "SELECT m.id FROM media_attachments m WHERE m.preview_remote_url IS NOT NULL AND m.id" in("$1")
        )),
        RemoteFileKind::Emoji => {
            db.query(sql!("SELECT e.id FROM custom_emojis e WHERE e.remote_url IS NOT NULL AND e.id" in("$1")))
        }
    };
    query.bind(Ids::of(ids.iter().copied())).scalars().await
}

/// A copy, or the failure to make one.
#[derive(Clone, Debug, PartialEq, model::Row)]
#[row(table = "remote_files", alias = "f")]
pub struct RemoteFile {
    pub kind: RemoteFileKind,
    /// The row that names it.
    pub subject_id: i64,
    pub url: String,
    /// The host of the URL, with its port unless it is the usual one.
    pub host: String,
    /// Storage key; `None`: the last attempt failed.
    pub file: Option<String>,
    /// Storage key of a still or smaller version.
    pub small_file: Option<String>,
    /// Of both files.
    pub bytes: i64,
    /// Attempts that failed since the last success.
    pub failures: i64,
    /// Without a file: no attempt before.
    pub due_at: Time,
    /// The last attempt.
    pub fetched_at: Time,
    /// The last use, to an hour.
    pub used_at: Time,
}

impl RemoteFile {
    /// Its storage keys.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        [&self.file, &self.small_file].into_iter().flatten().cloned().collect()
    }
}

#[boxed]
pub async fn find(db: Conn<'_>, kind: RemoteFileKind, id: i64) -> Result<Option<RemoteFile>> {
    db.query(sql!("SELECT " remote_file_columns!() " FROM remote_files f WHERE f.kind = $1 AND f.subject_id = $2"))
        .bind(kind)
        .bind(id)
        .optional()
        .await
}

/// Stores a copy, or a failure, in place of what is there for the same row.
#[boxed]
pub async fn put(tx: &mut Tx, file: &RemoteFile) -> Result<()> {
    tx.query(sql!(
        remote_file_insert!()
        " ON CONFLICT (kind, subject_id) DO UPDATE
         SET url = excluded.url, host = excluded.host, file = excluded.file, small_file = excluded.small_file,
             bytes = excluded.bytes, failures = excluded.failures, due_at = excluded.due_at,
             fetched_at = excluded.fetched_at, used_at = excluded.used_at"
    ))
    .bind_row(file)
    .execute()
    .await?;
    Ok(())
}

/// Stores that a copy is used.
#[boxed]
pub async fn touch(tx: &mut Tx, kind: RemoteFileKind, id: i64, now: Time) -> Result<()> {
    tx.query(sql!("UPDATE remote_files SET used_at = $3 WHERE kind = $1 AND subject_id = $2"))
        .bind(kind)
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// Deletes the entry of a row, if it still has this file.
#[boxed]
pub async fn delete(tx: &mut Tx, gone: &RemoteFile) -> Result<bool> {
    let deleted = tx
        .query(sql!(
            "DELETE FROM remote_files
             WHERE kind = $1 AND subject_id = $2 AND coalesce(file, '') = $3 AND used_at = $4"
        ))
        .bind(gone.kind)
        .bind(gone.subject_id)
        .bind(gone.file.clone().unwrap_or_default())
        .bind(gone.used_at)
        .execute()
        .await?;
    Ok(deleted > 0)
}

/// The place of an entry in the order of use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub used_at: Time,
    pub kind: RemoteFileKind,
    pub subject_id: i64,
}

/// The least recently used entries after `after`, of `host` or of all hosts.
#[boxed]
pub async fn list_oldest(db: Conn<'_>, host: Option<&str>, after: Place, limit: i64) -> Result<Vec<RemoteFile>> {
    match host {
        Some(host) => db
            .query(sql!(
                "SELECT " remote_file_columns!() " FROM remote_files f
                 WHERE f.host = $4 AND (f.used_at, f.kind, f.subject_id) > ($1, $2, $3)
                 ORDER BY f.used_at, f.kind, f.subject_id LIMIT $5"
            ))
            .bind(after.used_at)
            .bind(after.kind)
            .bind(after.subject_id)
            .bind(host.to_owned()),
        None => db
            .query(sql!(
                "SELECT " remote_file_columns!() " FROM remote_files f
                 WHERE (f.used_at, f.kind, f.subject_id) > ($1, $2, $3)
                 ORDER BY f.used_at, f.kind, f.subject_id LIMIT $4"
            ))
            .bind(after.used_at)
            .bind(after.kind)
            .bind(after.subject_id),
    }
    .bind(limit)
    .all()
    .await
}

/// The entries of a kind after the row `after`, by row.
#[boxed]
pub async fn list_of_kind(db: Conn<'_>, kind: RemoteFileKind, after: i64, limit: i64) -> Result<Vec<RemoteFile>> {
    db.query(sql!(
        "SELECT " remote_file_columns!() " FROM remote_files f
         WHERE f.kind = $1 AND f.subject_id > $2 ORDER BY f.subject_id LIMIT $3"
    ))
    .bind(kind)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// What is stored of one kind and host.
#[derive(Clone, Debug, PartialEq, model::Row)]
pub struct Usage {
    pub kind: RemoteFileKind,
    pub host: String,
    /// Number of copies.
    pub files: i64,
    pub bytes: i64,
    /// Files that could not be fetched.
    pub failed: i64,
}

/// Statistics by kind and host. Reads the whole table.
#[boxed]
pub async fn usage(db: Conn<'_>) -> Result<Vec<Usage>> {
    db.query(sql!(
        "SELECT f.kind, f.host, COUNT(f.file) AS files, CAST(coalesce(SUM(f.bytes), 0) AS BIGINT) AS bytes,
                COUNT(*) - COUNT(f.file) AS failed
         FROM remote_files f GROUP BY f.kind, f.host ORDER BY f.kind, f.host"
    ))
    .all()
    .await
}
