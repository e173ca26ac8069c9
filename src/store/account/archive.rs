//! Archives of an account's data, and the queries for their content.
//!
//! Reached from `service::archive`, and from the entities of ActivityPub. Pages are read by ids, so that an archive
//! of any size is created in bounded memory. Bookmarks are read by [`transfer`](crate::transfer).

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, RowId, Status, StatusId, Time, boxed, status_columns};

#[derive(Clone, Debug, model::Row)]
#[row(table = "archives", alias = "r")]
pub struct Archive {
    pub id: RowId,
    pub account_id: AccountId,
    pub total: i64,
    pub done: i64,
    pub file: Option<String>,
    pub size_bytes: i64,
    pub failed: bool,
    pub created_at: Time,
    pub finished_at: Option<Time>,
}

#[boxed]
pub async fn insert(tx: &mut Tx, archive: &Archive) -> Result<()> {
    tx.query(sql!(archive_insert!())).bind_row(archive).execute().await?;
    Ok(())
}

#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Archive>> {
    db.query(sql!("SELECT " archive_columns!() " FROM archives r WHERE r.id = $1")).bind(id).optional().await
}

/// The archives of `account`, newest first.
#[boxed]
pub async fn list(db: Conn<'_>, account: AccountId) -> Result<Vec<Archive>> {
    db.query(sql!("SELECT " archive_columns!() " FROM archives r WHERE r.account_id = $1 ORDER BY r.id DESC"))
        .bind(account)
        .all()
        .await
}

/// Updates the progress counter: statuses archived so far.
#[boxed]
pub async fn set_done(tx: &mut Tx, id: RowId, done: i64) -> Result<()> {
    tx.query(sql!("UPDATE archives SET done = $2 WHERE id = $1")).bind(id).bind(done).execute().await?;
    Ok(())
}

/// Marks an archive as finished: with a file and its size in bytes, or as failed; false when it is gone.
#[boxed]
pub async fn finish(tx: &mut Tx, id: RowId, file: Option<(&str, i64)>, now: Time) -> Result<bool> {
    let finished = tx
        .query(sql!("UPDATE archives SET file = $2, size_bytes = $3, failed = $4, finished_at = $5 WHERE id = $1"))
        .bind(id)
        .bind(file.map(|(file, _)| file.to_owned()))
        .bind(file.map_or(0, |(_, size_bytes)| size_bytes))
        .bind(file.is_none())
        .bind(now)
        .execute()
        .await?;
    Ok(finished > 0)
}

/// Deletes an archive with `file`, which the caller deletes.
#[boxed]
pub async fn delete(tx: &mut Tx, id: RowId, file: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM archives WHERE id = $1 AND file = $2")).bind(id).bind(file.to_owned()).execute().await?;
    Ok(())
}

/// Deletes the failed archives of `account`.
#[boxed]
pub async fn delete_failed(tx: &mut Tx, account: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM archives WHERE account_id = $1 AND failed")).bind(account).execute().await?;
    Ok(())
}

/// The number of statuses and reblogs of `account`.
#[boxed]
pub async fn count_statuses(db: Conn<'_>, account: AccountId) -> Result<i64> {
    let (count,): (i64,) =
        db.query(sql!("SELECT COUNT(*) FROM statuses s WHERE s.account_id = $1")).bind(account).one().await?;
    Ok(count)
}

/// Up to `limit` statuses and reblogs of `account` before `before`, newest first.
#[boxed]
pub async fn list_statuses(db: Conn<'_>, account: AccountId, before: StatusId, limit: i64) -> Result<Vec<Status>> {
    db.query(sql!(
        "SELECT " status_columns!() " FROM statuses s
         WHERE s.account_id = $1 AND s.id < $2
         ORDER BY s.id DESC LIMIT $3"
    ))
    .bind(account)
    .bind(before)
    .bind(limit)
    .all()
    .await
}

/// Up to `limit` favourites of `account` after the favourite `after`, as (favourite, URI of the status). `CROSS JOIN`
/// fixes this order on SQLite.
#[boxed]
pub async fn list_favourites(
    db: Conn<'_>,
    account: AccountId,
    after: RowId,
    limit: i64,
) -> Result<Vec<(RowId, String)>> {
    db.query(sql!(
        "SELECT f.id, s.uri FROM favourites f CROSS JOIN statuses s
         WHERE f.account_id = $1 AND f.id > $2 AND s.id = f.status_id
         ORDER BY f.id LIMIT $3"
    ))
    .bind(account)
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// An account mentioned in a status, as other servers identify it.
#[derive(Clone, Debug, model::Row)]
pub struct MentionedActor {
    pub status_id: StatusId,
    pub username: String,
    pub domain: Option<String>,
    pub uri: String,
    /// Whether the status is addressed to it. A silenced author addresses only followers and accounts that asked to follow.
    pub addressed: bool,
}

/// The mentions in `statuses`, oldest first, without silent ones.
#[boxed]
pub async fn list_mentioned(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<MentionedActor>> {
    db.query(sql!(
        "SELECT m.status_id, a.username, a.domain, a.uri,
                w.limited_at IS NULL
                OR EXISTS (SELECT 1 FROM follows f WHERE f.account_id = a.id AND f.target_account_id = w.id)
                OR EXISTS (SELECT 1 FROM follow_requests r WHERE r.account_id = a.id AND r.target_account_id = w.id)
                AS addressed
         FROM mentions m
         JOIN accounts a ON a.id = m.account_id
         JOIN statuses s ON s.id = m.status_id
         JOIN accounts w ON w.id = s.account_id
         WHERE m.status_id" in("$1") "AND NOT m.silent
         ORDER BY m.id"
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .all()
    .await
}

/// The URIs of `statuses`, as (status, URI, URI of its author), in no particular order.
#[boxed]
pub async fn list_uris(db: Conn<'_>, statuses: &[StatusId]) -> Result<Vec<(StatusId, String, String)>> {
    db.query(sql!(
        "SELECT s.id, s.uri, a.uri FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id" in("$1")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .all()
    .await
}

/// Properties of a local account's actor document that are not part of its profile.
#[derive(Clone, Debug, model::Row)]
pub struct ActorRow {
    /// PEM; `None` until the keys are generated.
    pub public_key: Option<String>,
    /// Aliases of the account.
    pub also_known_as: Json<Vec<String>>,
    /// The account that it moved to.
    pub moved_to: Option<String>,
}

/// The properties of `account`'s actor document that are not part of its profile.
#[boxed]
pub async fn find_actor(db: Conn<'_>, account: AccountId) -> Result<Option<ActorRow>> {
    db.query(sql!(
        "SELECT a.public_key, a.also_known_as, m.uri AS moved_to
         FROM accounts a LEFT JOIN accounts m ON m.id = a.moved_to_account_id
         WHERE a.id = $1"
    ))
    .bind(account)
    .optional()
    .await
}
