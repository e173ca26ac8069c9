//! Documents owed to inboxes of other servers, and the inboxes that a document is for.
//!
//! A document is stored once, with a row for each inbox. Rows of one host are sent in the order of their ids.

use database::sql::Ids;
use database::{Conn, Result, Tx, sql};
use model::{AccountId, Json, RowId, StatusId, Time, boxed};

/// A document to send.
#[derive(Debug)]
pub struct NewDocument {
    pub id: RowId,
    /// The account that signs it.
    pub account: AccountId,
    /// Its sealed key, if the account is being deleted.
    pub private_key: Option<String>,
    pub body: String,
}

/// Stores a document and its deliveries, each an id, a host and an inbox.
#[boxed]
pub async fn insert(tx: &mut Tx, document: NewDocument, to: Vec<(RowId, String, String)>, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO outbound_documents (id, account_id, private_key, body, created_at) VALUES ($1, $2, $3, $4, $5)"
    ))
    .bind(document.id)
    .bind(document.account)
    .bind(document.private_key)
    .bind(document.body)
    .bind(now)
    .execute()
    .await?;
    tx.query(sql!(
        "INSERT INTO deliveries (id, document_id, host, inbox, attempts, created_at)
         SELECT CAST(value ->> 0 AS BIGINT), CAST($2 AS BIGINT), value ->> 1, value ->> 2, 0, $3
         FROM" rows("$1") "WHERE TRUE"
    ))
    .bind(Json(to))
    .bind(document.id)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// A delivery that a worker claimed.
#[derive(Clone, Debug, model::Row)]
pub struct Claimed {
    pub id: RowId,
    pub document_id: RowId,
    pub inbox: String,
    pub attempts: i64,
}

/// Claims the oldest `limit` deliveries to `host` until `until`, oldest first, without those to inboxes that are paused;
/// none while others of the host are claimed, so that they keep their order.
#[boxed]
pub async fn claim(tx: &mut Tx, host: &str, now: Time, until: Time, limit: i64) -> Result<Vec<Claimed>> {
    let mut claimed: Vec<Claimed> = tx
        .query(sql!(
            "UPDATE deliveries SET claimed_until = $3
             WHERE id IN (SELECT d.id FROM deliveries d
                          WHERE d.host = $1
                            AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.host = $1 AND e.claimed_until > $2)
                            AND NOT EXISTS (SELECT 1 FROM inbox_pauses p WHERE p.inbox = d.inbox AND p.until > $2)
                          ORDER BY d.id LIMIT $4)
               AND (claimed_until IS NULL OR claimed_until <= $2)
             RETURNING id, document_id, inbox, attempts"
        ))
        .bind(host.to_owned())
        .bind(now)
        .bind(until)
        .bind(limit)
        .all()
        .await?;
    claimed.sort_unstable_by_key(|delivery| delivery.id);
    Ok(claimed)
}

/// Releases all claims.
#[boxed]
pub async fn release_all(tx: &mut Tx) -> Result<()> {
    tx.query(sql!("UPDATE deliveries SET claimed_until = NULL WHERE claimed_until IS NOT NULL")).execute().await?;
    Ok(())
}

/// True when a delivery to `host` is claimed.
#[boxed]
pub async fn is_claimed(db: Conn<'_>, host: &str, now: Time) -> Result<bool> {
    let row: Option<(RowId,)> = db
        .query(sql!("SELECT id FROM deliveries WHERE host = $1 AND claimed_until > $2 LIMIT 1"))
        .bind(host.to_owned())
        .bind(now)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// True when a delivery to `host` waits.
#[boxed]
pub async fn waits(db: Conn<'_>, host: &str) -> Result<bool> {
    let row: Option<(RowId,)> =
        db.query(sql!("SELECT id FROM deliveries WHERE host = $1 LIMIT 1")).bind(host.to_owned()).optional().await?;
    Ok(row.is_some())
}

/// What is owed to a host.
#[derive(Clone, Debug, model::Row)]
pub struct OwedRow {
    pub host: String,
    /// Number of deliveries, counted up to the limit of [`list_owed`].
    pub owed: i64,
    /// When the oldest one was queued.
    pub oldest_at: Time,
    /// How often the oldest one was tried.
    pub attempts: i64,
    /// Until when a worker has the oldest one.
    pub claimed_until: Option<Time>,
    /// When the job for the host is due; `None` without a ready one.
    pub run_at: Option<Time>,
}

/// The hosts after `after` that deliveries are owed to, by name, up to `limit`. `kind`: of the jobs that deliver, whose keys
/// are the hosts. `most`: the number up to which deliveries of a host are counted. Reads the index of hosts in leaps.
#[boxed]
pub async fn list_owed(db: Conn<'_>, after: &str, kind: &'static str, most: i64, limit: i64) -> Result<Vec<OwedRow>> {
    db.query(sql!(
        "WITH RECURSIVE hosts (host) AS (
             SELECT (SELECT MIN(d.host) FROM deliveries d WHERE d.host > $1)
             UNION ALL
             SELECT (SELECT MIN(d.host) FROM deliveries d WHERE d.host > h.host)
             FROM hosts h WHERE h.host IS NOT NULL),
         found (host) AS (SELECT h.host FROM hosts h WHERE h.host IS NOT NULL LIMIT $4)
         SELECT f.host,
                (SELECT COUNT(*) FROM (SELECT 1 FROM deliveries c WHERE c.host = f.host LIMIT $3) counted) AS owed,
                o.created_at AS oldest_at, o.attempts, o.claimed_until, j.run_at
         FROM found f
         JOIN deliveries o ON o.id = (SELECT MIN(d.id) FROM deliveries d WHERE d.host = f.host)
         LEFT JOIN jobs j ON j.kind = $2 AND j.key = f.host AND j.state = 'ready'"
    ))
    .bind(after.to_owned())
    .bind(kind)
    .bind(most)
    .bind(limit)
    .all()
    .await
}

/// A document and the account that signs it.
#[derive(Clone, Debug, model::Row)]
pub struct DocumentRow {
    pub id: RowId,
    pub account_id: AccountId,
    pub private_key: Option<String>,
    pub body: String,
}

/// The documents among `ids`, in no particular order.
#[boxed]
pub async fn documents(db: Conn<'_>, ids: &[RowId]) -> Result<Vec<DocumentRow>> {
    db.query(sql!(
        "SELECT d.id, d.account_id, d.private_key, d.body FROM outbound_documents d WHERE d.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .all()
    .await
}

/// Removes deliveries that ended.
#[boxed]
pub async fn delete(tx: &mut Tx, ids: &[RowId]) -> Result<()> {
    tx.query(sql!("DELETE FROM deliveries WHERE id" in("$1"))).bind(Ids::of(ids.iter().copied())).execute().await?;
    Ok(())
}

/// Releases claimed deliveries; a failed attempt counts for those in `failed`.
#[boxed]
pub async fn release(tx: &mut Tx, ids: &[RowId], failed: &[RowId]) -> Result<()> {
    tx.query(sql!("UPDATE deliveries SET claimed_until = NULL WHERE id" in("$1")))
        .bind(Ids::of(ids.iter().copied()))
        .execute()
        .await?;
    tx.query(sql!("UPDATE deliveries SET attempts = attempts + 1 WHERE id" in("$1")))
        .bind(Ids::of(failed.iter().copied()))
        .execute()
        .await?;
    Ok(())
}

/// Deletes up to `limit` documents from before `before` that are owed to nobody.
#[boxed]
pub async fn delete_sent(tx: &mut Tx, before: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM outbound_documents WHERE id IN
         (SELECT d.id FROM outbound_documents d
          WHERE d.created_at < $1 AND NOT EXISTS (SELECT 1 FROM deliveries v WHERE v.document_id = d.id)
            AND NOT EXISTS (SELECT 1 FROM dead_deliveries v WHERE v.document_id = d.id)
          ORDER BY d.created_at LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}

/// The shared inbox of account `a`, or its own.
macro_rules! inbox {
    () => {
        "coalesce(a.shared_inbox_url, a.inbox_url)"
    };
}

/// The inboxes of the remote followers of `account`, each once.
#[boxed]
pub async fn follower_inboxes(db: Conn<'_>, account: AccountId) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT DISTINCT " inbox!() " FROM follows f JOIN accounts a ON a.id = f.account_id
         WHERE f.target_account_id = $1 AND a.domain IS NOT NULL AND a.suspended_at IS NULL
           AND " inbox!() " IS NOT NULL"
    ))
    .bind(account)
    .scalars()
    .await
}

/// The inboxes of the remote accounts that block `account`, each once.
#[boxed]
pub async fn blocking_inboxes(db: Conn<'_>, account: AccountId) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT DISTINCT " inbox!() " FROM blocks b JOIN accounts a ON a.id = b.account_id
         WHERE b.target_account_id = $1 AND a.domain IS NOT NULL AND a.suspended_at IS NULL
           AND " inbox!() " IS NOT NULL"
    ))
    .bind(account)
    .scalars()
    .await
}

/// The inboxes of the remote accounts among `accounts`, each once; `personal`: their own, not the shared ones.
#[boxed]
pub async fn inboxes(db: Conn<'_>, accounts: &[AccountId], personal: bool) -> Result<Vec<String>> {
    macro_rules! inboxes_sql {
        ($inbox:expr) => {
            sql!(
                "SELECT DISTINCT " $inbox " FROM accounts a
                 WHERE a.id" in("$1") "AND a.domain IS NOT NULL AND a.suspended_at IS NULL
                   AND " $inbox " IS NOT NULL"
            )
        };
    }
    let sql =
        if personal { inboxes_sql!("a.inbox_url") } else { inboxes_sql!("coalesce(a.shared_inbox_url, a.inbox_url)") };
    db.query(sql).bind(Ids::of(accounts.iter().copied())).scalars().await
}

/// One inbox of each known server: its shared one, or the oldest account's own.
#[boxed]
pub async fn known_inboxes(db: Conn<'_>) -> Result<Vec<String>> {
    db.query(sql!(
        "SELECT DISTINCT " inbox!() " FROM accounts a
         WHERE a.id IN (SELECT MIN(b.id) FROM accounts b
                        WHERE b.domain IS NOT NULL AND b.suspended_at IS NULL AND b.inbox_url IS NOT NULL
                        GROUP BY b.domain)"
    ))
    .scalars()
    .await
}

/// The accounts among `accounts` that `author` may address: all, or for a silenced author its followers and the accounts
/// that asked to follow it.
#[boxed]
pub async fn addressable(db: Conn<'_>, author: AccountId, accounts: &[AccountId]) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT a.id FROM accounts a JOIN accounts w ON w.id = $1
         WHERE a.id" in("$2") "AND (
             w.limited_at IS NULL
             OR EXISTS (SELECT 1 FROM follows f WHERE f.account_id = a.id AND f.target_account_id = $1)
             OR EXISTS (SELECT 1 FROM follow_requests r WHERE r.account_id = a.id AND r.target_account_id = $1)
         )"
    ))
    .bind(author)
    .bind(Ids::of(accounts.iter().copied()))
    .scalars()
    .await
}

/// The accounts that take part in `status` beyond its followers: mentioned, replied to, quoted, with a reblog, a favourite, a
/// reply or a vote, at most `limit` of each kind but the first three.
#[boxed]
pub async fn participants(db: Conn<'_>, status: StatusId, limit: i64) -> Result<Vec<AccountId>> {
    db.query(sql!(
        "SELECT m.account_id FROM mentions m WHERE m.status_id = $1
         UNION SELECT s.in_reply_to_account_id FROM statuses s
               WHERE s.id = $1 AND s.in_reply_to_account_id IS NOT NULL
         UNION SELECT o.account_id FROM statuses s JOIN statuses o ON o.id = s.reblog_of_id WHERE s.id = $1
         UNION SELECT o.account_id FROM statuses s JOIN statuses o ON o.id = s.quote_id WHERE s.id = $1
         UNION SELECT r.account_id FROM (SELECT b.account_id FROM statuses b WHERE b.reblog_of_id = $1
                                         ORDER BY b.id DESC LIMIT $2) r
         UNION SELECT f.account_id FROM (SELECT v.account_id FROM favourites v WHERE v.status_id = $1
                                         ORDER BY v.id DESC LIMIT $2) f
         UNION SELECT a.account_id FROM (SELECT p.account_id FROM statuses p WHERE p.in_reply_to_id = $1
                                         ORDER BY p.id DESC LIMIT $2) a
         UNION SELECT w.account_id FROM (SELECT v.account_id FROM polls q JOIN poll_votes v ON v.poll_id = q.id
                                         WHERE q.status_id = $1 LIMIT $2) w"
    ))
    .bind(status)
    .bind(limit)
    .scalars()
    .await
}

/// True when this server knows an account of another one: without it nobody is owed anything.
#[boxed]
pub async fn has_remote_accounts(db: Conn<'_>) -> Result<bool> {
    let row: Option<(AccountId,)> =
        db.query(sql!("SELECT a.id FROM accounts a WHERE a.domain IS NOT NULL LIMIT 1")).optional().await?;
    Ok(row.is_some())
}
