//! Suspending accounts, and deleting them with all their data, a bounded part in each transaction.
//!
//! Reached from `service::removal`, which determines the order of the parts and holds the locks. Plugin data of an
//! account is deleted by `plugins::sql`.

use crate::relation_set;
use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, MediaId, PollId, StatusId, Time, boxed};

/// Suspends an account, which hides it; false when it is already suspended here. A suspension by its own server becomes
/// one that the server cannot lift.
#[boxed]
pub async fn suspend(tx: &mut Tx, id: AccountId, now: Time) -> Result<bool> {
    let hidden = tx
        .query(sql!(
            "UPDATE accounts SET suspended_at = $2, suspended_by_origin = FALSE, version = version + 1
             WHERE id = $1 AND (suspended_at IS NULL OR suspended_by_origin)"
        ))
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(hidden > 0)
}

/// Ends the suspension of an account; false when it is not suspended.
#[boxed]
pub async fn unsuspend(tx: &mut Tx, id: AccountId) -> Result<bool> {
    let shown = tx
        .query(sql!(
            "UPDATE accounts SET suspended_at = NULL, suspended_by_origin = FALSE, version = version + 1
             WHERE id = $1 AND suspended_at IS NOT NULL"
        ))
        .bind(id)
        .execute()
        .await?;
    Ok(shown > 0)
}

/// Deletes the private side of a local account: its e-mail address, password hash and preferences.
#[boxed]
pub async fn delete_user(tx: &mut Tx, id: AccountId) -> Result<()> {
    tx.query(sql!("DELETE FROM users WHERE account_id = $1")).bind(id).execute().await?;
    Ok(())
}

/// Deletes up to `limit` attachments of an account; returns their files, which the caller deletes.
#[boxed]
pub async fn delete_media(tx: &mut Tx, id: AccountId, limit: i64) -> Result<Vec<DeletedMedia>> {
    tx.query(sql!(
        "DELETE FROM media_attachments
         WHERE id IN (SELECT m.id FROM media_attachments m WHERE m.account_id = $1 ORDER BY m.id LIMIT $2)
         RETURNING id, file, preview"
    ))
    .bind(id)
    .bind(limit)
    .all()
    .await
}

/// The files of a deleted attachment.
#[derive(Debug, model::Row)]
pub struct DeletedMedia {
    pub id: MediaId,
    pub file: Option<String>,
    pub preview: Option<String>,
}

/// The accounts that reblogged these statuses, once for each reblog. SQLite does not reorder a `CROSS JOIN`, so each of
/// `ids` is looked up in the index `statuses_reblogs`.
#[boxed]
pub async fn list_rebloggers(db: Conn<'_>, ids: &[StatusId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        sqlite: "SELECT s.account_id FROM json_each($1) w CROSS JOIN statuses s ON s.reblog_of_id = w.value";
        postgres: "SELECT s.account_id FROM statuses s WHERE s.reblog_of_id = ANY($1)"
    ))
    .bind(Ids::of(ids.iter().copied()))
    .scalars()
    .await
}

/// The newest `limit` statuses and reblogs of an account.
#[boxed]
pub async fn list_statuses(db: Conn<'_>, id: AccountId, limit: i64) -> Result<Vec<StatusId>> {
    db.query(sql!("SELECT s.id FROM statuses s WHERE s.account_id = $1 ORDER BY s.id DESC LIMIT $2"))
        .bind(id)
        .bind(limit)
        .scalars()
        .await
}

/// Some of the accounts with a follow, follow request, block or mute from or to `id`, without duplicates. `limit`
/// bounds the number of read rows, which `UNION ALL` allows; duplicates are removed afterwards, so there may be
/// fewer.
#[boxed]
pub async fn list_related(db: Conn<'_>, id: AccountId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT f.target_account_id AS other FROM follows f WHERE f.account_id = $1
         UNION ALL SELECT f.account_id FROM follows f WHERE f.target_account_id = $1
         UNION ALL SELECT r.target_account_id FROM follow_requests r WHERE r.account_id = $1
         UNION ALL SELECT r.account_id FROM follow_requests r WHERE r.target_account_id = $1
         UNION ALL SELECT b.target_account_id FROM blocks b WHERE b.account_id = $1
         UNION ALL SELECT b.account_id FROM blocks b WHERE b.target_account_id = $1
         UNION ALL SELECT m.target_account_id FROM mutes m WHERE m.account_id = $1
         UNION ALL SELECT m.account_id FROM mutes m WHERE m.target_account_id = $1
         LIMIT $2"
    ))
    .bind(id)
    .bind(limit)
    .scalars()
    .await
    .map(|mut others: Vec<AccountId>| {
        others.sort_unstable();
        others.dedup();
        others
    })
}

/// Deletes the oldest `limit` favourites of an account and subtracts them from the counters of their statuses;
/// returns how many. Only favourites that this transaction deleted are subtracted: a concurrent request of their
/// owner may be faster.
#[boxed]
pub async fn delete_favourites(tx: &mut Tx, id: AccountId, limit: i64) -> Result<u64> {
    let statuses: Vec<StatusId> = tx
        .query(sql!(
            "DELETE FROM favourites
             WHERE id IN (SELECT f.id FROM favourites f WHERE f.account_id = $1 ORDER BY f.id LIMIT $2)
             RETURNING status_id"
        ))
        .bind(id)
        .bind(limit)
        .scalars()
        .await?;
    tx.query(sql!(
        "UPDATE statuses
         SET favourites_count = CASE WHEN favourites_count > 0 THEN favourites_count - 1 ELSE 0 END
         WHERE id" in("$1")
    ))
    .bind(Ids::of(statuses.iter().copied()))
    .execute()
    .await?;
    Ok(statuses.len() as u64)
}

/// Deletes the votes of an account in up to `limit` polls and subtracts them from the counters; returns the number of
/// polls. The polls are locked first, as for a vote.
#[boxed]
pub async fn delete_votes(tx: &mut Tx, id: AccountId, limit: i64) -> Result<u64> {
    let polls: Vec<PollId> = tx
        .query(sql!(
            sqlite: "SELECT DISTINCT v.poll_id FROM poll_votes v WHERE v.account_id = $1 ORDER BY v.poll_id LIMIT $2";
            postgres: "SELECT p.id FROM polls p
                       WHERE p.id IN (SELECT DISTINCT v.poll_id FROM poll_votes v WHERE v.account_id = $1
                                      ORDER BY v.poll_id LIMIT $2)
                       ORDER BY p.id FOR NO KEY UPDATE OF p"
        ))
        .bind(id)
        .bind(limit)
        .scalars()
        .await?;
    if polls.is_empty() {
        return Ok(0);
    }
    let votes: Vec<(i64, i64)> = tx
        .query(sql!(
            "DELETE FROM poll_votes WHERE account_id = $1 AND poll_id" in("$2") "RETURNING poll_id, choice"
        ))
        .bind(id)
        .bind(Ids::of(polls.iter().copied()))
        .all()
        .await?;
    tx.query(sql!(
        "UPDATE poll_options SET votes_count = votes_count - 1
         WHERE (poll_id, position) IN (
             SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT) FROM" rows("$1")
        ") AND votes_count > 0"
    ))
    .bind(Json(votes))
    .execute()
    .await?;
    tx.query(sql!("UPDATE polls SET voters_count = voters_count - 1 WHERE voters_count > 0 AND id" in("$1")))
        .bind(Ids::of(polls.iter().copied()))
        .execute()
        .await?;
    Ok(polls.len() as u64)
}

/// Deletes up to `limit` each of the mentions of an account, its bookmarks and conversations, the reports by and
/// about it, its dismissals of and reactions to announcements, suggestions dismissed by or about it, its domain
/// blocks, imports and severances, the notifications to and from it, and the requests about it; returns the total
/// number of rows. Statuses that mentioned it get a new version, since their rendering changes.
#[boxed]
pub async fn delete_traces(tx: &mut Tx, id: AccountId, limit: i64) -> Result<u64> {
    let naming: Vec<StatusId> = tx
        .query(sql!(
            "DELETE FROM mentions
             WHERE id IN (SELECT m.id FROM mentions m WHERE m.account_id = $1 LIMIT $2)
             RETURNING status_id"
        ))
        .bind(id)
        .bind(limit)
        .scalars()
        .await?;
    crate::status::bump_all(tx, &naming).await?;
    let mut count = naming.len() as u64 + crate::conversation::delete_some(tx, id, limit).await?;
    count += crate::announcement::delete_some(tx, id, limit).await? + crate::report::delete_some(tx, id, limit).await?;
    count += crate::suggestion::delete_some(tx, id, limit).await?;
    count += crate::domain_block::delete_some(tx, id, limit).await?;
    count += crate::severance::delete_some(tx, id, limit).await?;
    count += crate::transfer::delete_some(tx, id, limit).await?;
    for part in [
        sql!("DELETE FROM bookmarks WHERE id IN (SELECT b.id FROM bookmarks b WHERE b.account_id = $1 LIMIT $2)"),
        sql!(
            "DELETE FROM notifications WHERE id IN (SELECT n.id FROM notifications n WHERE n.account_id = $1 LIMIT $2)"
        ),
        sql!(
            "DELETE FROM notification_requests
             WHERE id IN (SELECT r.id FROM notification_requests r WHERE r.from_account_id = $1 LIMIT $2)"
        ),
    ] {
        count += tx.query(part).bind(id).bind(limit).execute().await?;
    }
    Ok(count + crate::notification::delete_some_from(tx, id, limit).await?)
}

/// Deletes an account. Foreign keys delete the rows that refer to it; the entries of its home and list feeds have no
/// foreign key to their owner and are deleted here. Accounts that moved to it get a new version, since their rendering
/// changes, and accounts with relations to it a new relations version.
#[boxed]
pub async fn delete(tx: &mut Tx, id: AccountId) -> Result<()> {
    let related = list_related(&mut *tx, id, i64::MAX).await?;
    relation_set::raise(tx, &related).await?;
    tx.query(sql!(
        "DELETE FROM feed_entries
         WHERE (kind = 0 AND owner_id = $1)
            OR (kind = 1 AND owner_id IN (SELECT l.id FROM lists l WHERE l.account_id = $1))"
    ))
    .bind(id)
    .execute()
    .await?;
    tx.query(sql!("UPDATE accounts SET version = version + 1 WHERE moved_to_account_id = $1"))
        .bind(id)
        .execute()
        .await?;
    tx.query(sql!("DELETE FROM accounts WHERE id = $1")).bind(id).execute().await?;
    Ok(())
}
