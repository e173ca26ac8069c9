//! Activities that other servers sent, in the order of their arrival.
//!
//! A row is inserted before its request is answered, and loses its body when it was processed. What remains recognises a
//! replay until [`delete_old`].

use database::{Conn, Result, Tx, sql};
use model::{AccountId, RowId, Time, boxed};

/// An activity that was accepted.
#[derive(Debug)]
pub struct NewActivity {
    pub id: RowId,
    /// The sender.
    pub account: AccountId,
    /// The owner of the inbox; `None` for an inbox of the server.
    pub mailbox: Option<AccountId>,
    /// The sender's registrable domain.
    pub domain: String,
    /// SHA-256 of the body.
    pub digest: String,
    pub body: String,
    pub now: Time,
}

/// Stores an activity; false when the same sender sent the same bytes before.
#[boxed]
pub async fn insert(tx: &mut Tx, new: NewActivity) -> Result<bool> {
    let bytes = i64::try_from(new.body.len()).unwrap_or(i64::MAX);
    let inserted = tx
        .query(sql!(
            "INSERT INTO inbound_activities
                 (id, account_id, mailbox_account_id, digest, body, set_aside, created_at, domain, bytes)
             VALUES ($1, $2, $3, $4, $5, FALSE, $6, $7, $8)
             ON CONFLICT (account_id, digest) DO NOTHING"
        ))
        .bind(new.id)
        .bind(new.account)
        .bind(new.mailbox)
        .bind(new.digest)
        .bind(new.body)
        .bind(new.now)
        .bind(new.domain)
        .bind(bytes)
        .execute()
        .await?;
    Ok(inserted > 0)
}

/// How many activities of `domain` wait, and how many bytes they have; at most `most` are counted.
#[boxed]
pub async fn waiting(db: Conn<'_>, domain: &str, most: i64) -> Result<(i64, i64)> {
    db.query(sql!(
        "SELECT COUNT(*) AS activities, CAST(coalesce(SUM(w.bytes), 0) AS BIGINT) AS bytes
         FROM (SELECT i.bytes FROM inbound_activities i WHERE i.domain = $1 AND i.body IS NOT NULL LIMIT $2) w"
    ))
    .bind(domain.to_owned())
    .bind(most)
    .one()
    .await
}

/// An activity to process.
#[derive(Debug, model::Row)]
#[row(alias = "i")]
pub struct Waiting {
    pub id: RowId,
    pub account_id: AccountId,
    pub mailbox_account_id: Option<AccountId>,
    pub body: String,
}

/// The oldest activity of `account` that waits and was not set aside.
#[boxed]
pub async fn find_next(db: Conn<'_>, account: AccountId) -> Result<Option<Waiting>> {
    db.query(sql!(
        "SELECT " waiting_columns!() " FROM inbound_activities i
         WHERE i.account_id = $1 AND i.body IS NOT NULL AND NOT i.set_aside
         ORDER BY i.id LIMIT 1"
    ))
    .bind(account)
    .optional()
    .await
}

/// An activity that waits.
#[boxed]
pub async fn find(db: Conn<'_>, id: RowId) -> Result<Option<Waiting>> {
    db.query(sql!("SELECT " waiting_columns!() " FROM inbound_activities i WHERE i.id = $1 AND i.body IS NOT NULL"))
        .bind(id)
        .optional()
        .await
}

/// Marks an activity as processed; false when it was already.
#[boxed]
pub async fn finish(tx: &mut Tx, id: RowId) -> Result<bool> {
    let finished = tx.query(sql!("UPDATE inbound_activities SET body = NULL WHERE id = $1 AND body IS NOT NULL"));
    Ok(finished.bind(id).execute().await? > 0)
}

/// Lets the later activities of its sender pass an activity that failed.
#[boxed]
pub async fn set_aside(tx: &mut Tx, id: RowId) -> Result<()> {
    tx.query(sql!("UPDATE inbound_activities SET set_aside = TRUE WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Deletes up to `limit` activities: processed ones from before `processed`, and any from before `any`.
#[boxed]
pub async fn delete_old(tx: &mut Tx, processed: Time, any: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM inbound_activities WHERE id IN
         (SELECT i.id FROM inbound_activities i
          WHERE i.created_at < $1 AND (i.body IS NULL OR i.created_at < $2) ORDER BY i.created_at LIMIT $3)"
    ))
    .bind(processed)
    .bind(any)
    .bind(limit)
    .execute()
    .await
}
