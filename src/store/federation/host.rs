//! Hosts of other servers that do not receive what they are sent: failures, days with failures, pauses, and deliveries
//! that were given up.
//!
//! A host without a row is well.

use database::sql::{Ids, Texts};
use database::{Conn, Result, Tx, sql};
use model::{RowId, Time, boxed};

/// The state of a host that failed or was paused.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "h")]
pub struct RemoteHost {
    pub host: String,
    /// Consecutive attempts to reach it that failed.
    pub failures: i64,
    /// Distinct days with such an attempt.
    pub failed_days: i64,
    pub failed_at: Option<Time>,
    pub error: Option<String>,
    /// Set aside since.
    pub unavailable_at: Option<Time>,
    /// The last delivery that was queued although the host is set aside.
    pub tried_at: Option<Time>,
    /// Paused by an operator since.
    pub paused_at: Option<Time>,
}

/// The rows of those among `hosts` that have one.
#[boxed]
pub async fn list(db: Conn<'_>, hosts: &[String]) -> Result<Vec<RemoteHost>> {
    db.query(sql!("SELECT " remote_host_columns!() " FROM remote_hosts h WHERE h.host" in("$1")))
        .bind(Texts::of(hosts.iter().cloned()))
        .all()
        .await
}

/// The row of `host`.
#[boxed]
pub async fn find(db: Conn<'_>, host: &str) -> Result<Option<RemoteHost>> {
    db.query(sql!("SELECT " remote_host_columns!() " FROM remote_hosts h WHERE h.host = $1"))
        .bind(host.to_owned())
        .optional()
        .await
}

/// Up to `limit` hosts that have a row, after `after`, by name.
#[boxed]
pub async fn list_from(db: Conn<'_>, after: &str, limit: i64) -> Result<Vec<RemoteHost>> {
    db.query(sql!("SELECT " remote_host_columns!() " FROM remote_hosts h WHERE h.host > $1 ORDER BY h.host LIMIT $2"))
        .bind(after.to_owned())
        .bind(limit)
        .all()
        .await
}

/// Makes the ready jobs of `kind` for `hosts`, which are their keys, due at `now`, except for hosts that failed.
#[boxed]
pub async fn make_due(tx: &mut Tx, kind: &'static str, hosts: &[String], now: Time) -> Result<()> {
    tx.query(sql!(
        "UPDATE jobs SET run_at = $3
         WHERE kind = $1 AND key" in("$2") "AND key IS NOT NULL AND state = 'ready' AND run_at > $3
           AND NOT EXISTS (SELECT 1 FROM remote_hosts h WHERE h.host = jobs.key AND h.failures > 0)"
    ))
    .bind(kind)
    .bind(Texts::of(hosts.iter().cloned()))
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Pauses a host since `since`, or ends its pause.
#[boxed]
pub async fn set_paused(tx: &mut Tx, host: &str, since: Option<Time>) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO remote_hosts (host, failures, failed_days, paused_at) VALUES ($1, 0, 0, $2)
         ON CONFLICT (host) DO UPDATE SET paused_at = excluded.paused_at"
    ))
    .bind(host.to_owned())
    .bind(since)
    .execute()
    .await?;
    Ok(())
}

/// Replaces the row of a host, apart from an operator's pause.
#[boxed]
pub async fn save(tx: &mut Tx, row: &RemoteHost) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO remote_hosts (host, failures, failed_days, failed_at, error, unavailable_at, tried_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (host) DO UPDATE
         SET failures = excluded.failures, failed_days = excluded.failed_days, failed_at = excluded.failed_at,
             error = excluded.error, unavailable_at = excluded.unavailable_at, tried_at = excluded.tried_at"
    ))
    .bind(row.host.clone())
    .bind(row.failures)
    .bind(row.failed_days)
    .bind(row.failed_at)
    .bind(row.error.clone())
    .bind(row.unavailable_at)
    .bind(row.tried_at)
    .execute()
    .await?;
    Ok(())
}

/// Forgets the failures of a host that is well, and the pauses of its inboxes; true when there were any. An operator's
/// pause stays.
#[boxed]
pub async fn recover(tx: &mut Tx, host: &str) -> Result<bool> {
    let deleted = tx
        .query(sql!("DELETE FROM remote_hosts WHERE host = $1 AND paused_at IS NULL"))
        .bind(host.to_owned())
        .execute()
        .await?;
    let cleared = tx
        .query(sql!(
            "UPDATE remote_hosts SET failures = 0, failed_days = 0, failed_at = NULL, error = NULL,
                 unavailable_at = NULL, tried_at = NULL
             WHERE host = $1 AND failures > 0"
        ))
        .bind(host.to_owned())
        .execute()
        .await?;
    Ok(deleted + cleared > 0)
}

/// Ends the pauses of the inboxes of a host; true when there were any.
#[boxed]
pub async fn resume_inboxes(tx: &mut Tx, host: &str) -> Result<bool> {
    let ended = tx.query(sql!("DELETE FROM inbox_pauses WHERE host = $1")).bind(host.to_owned()).execute().await?;
    Ok(ended > 0)
}

/// Pauses the deliveries to an inbox.
#[boxed]
pub async fn pause_inbox(tx: &mut Tx, inbox: &str, host: &str, until: Time, error: &str) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO inbox_pauses (inbox, host, until, error) VALUES ($1, $2, $3, $4)
         ON CONFLICT (inbox) DO UPDATE SET until = excluded.until, error = excluded.error"
    ))
    .bind(inbox.to_owned())
    .bind(host.to_owned())
    .bind(until)
    .bind(error.to_owned())
    .execute()
    .await?;
    Ok(())
}

/// When the first pause of an inbox of `host` ends.
#[boxed]
pub async fn next_inbox(db: Conn<'_>, host: &str) -> Result<Option<Time>> {
    let row: Option<(Time,)> = db
        .query(sql!("SELECT p.until FROM inbox_pauses p WHERE p.host = $1 ORDER BY p.until LIMIT 1"))
        .bind(host.to_owned())
        .optional()
        .await?;
    Ok(row.map(|(until,)| until))
}

/// Deletes up to `limit` pauses that ended before `before`.
#[boxed]
pub async fn delete_old_pauses(tx: &mut Tx, before: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM inbox_pauses WHERE inbox IN
         (SELECT p.inbox FROM inbox_pauses p WHERE p.until < $1 ORDER BY p.until LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}

/// Moves deliveries that are given up to the dead ones.
#[boxed]
pub async fn dead_letter(tx: &mut Tx, ids: &[RowId], error: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO dead_deliveries (id, document_id, host, inbox, error, created_at, died_at)
         SELECT d.id, d.document_id, d.host, d.inbox, $2, d.created_at, $3 FROM deliveries d WHERE d.id" in("$1")
    ))
    .bind(Ids::of(ids.iter().copied()))
    .bind(error.to_owned())
    .bind(now)
    .execute()
    .await?;
    tx.query(sql!("DELETE FROM deliveries WHERE id" in("$1"))).bind(Ids::of(ids.iter().copied())).execute().await?;
    Ok(())
}

/// A delivery that was given up.
#[derive(Clone, Debug, model::Row)]
#[row(alias = "d")]
pub struct DeadDelivery {
    pub id: RowId,
    pub document_id: RowId,
    pub host: String,
    pub inbox: String,
    pub error: String,
    pub created_at: Time,
    pub died_at: Time,
}

/// Up to `limit` deliveries that were given up, before the delivery `before`, newest first; `host`: only to this one.
#[boxed]
pub async fn list_dead(db: Conn<'_>, host: Option<&str>, before: RowId, limit: i64) -> Result<Vec<DeadDelivery>> {
    let sql = match host {
        Some(_) => sql!(
            "SELECT " dead_delivery_columns!() " FROM dead_deliveries d
             WHERE d.host = $3 AND d.id < $1 ORDER BY d.id DESC LIMIT $2"
        ),
        None => sql!(
            "SELECT " dead_delivery_columns!() " FROM dead_deliveries d WHERE d.id < $1 ORDER BY d.id DESC LIMIT $2"
        ),
    };
    let query = db.query(sql).bind(before).bind(limit);
    match host {
        Some(host) => query.bind(host.to_owned()).all().await,
        None => query.all().await,
    }
}

/// Makes the deliveries to `host` that were given up deliveries again, without attempts; returns how many.
#[boxed]
pub async fn revive(tx: &mut Tx, host: &str) -> Result<u64> {
    tx.query(sql!(
        "INSERT INTO deliveries (id, document_id, host, inbox, attempts, created_at)
         SELECT d.id, d.document_id, d.host, d.inbox, 0, d.created_at FROM dead_deliveries d WHERE d.host = $1"
    ))
    .bind(host.to_owned())
    .execute()
    .await?;
    tx.query(sql!("DELETE FROM dead_deliveries WHERE host = $1")).bind(host.to_owned()).execute().await
}

/// Deletes up to `limit` deliveries that were given up before `before`.
#[boxed]
pub async fn delete_old_dead(tx: &mut Tx, before: Time, limit: i64) -> Result<u64> {
    tx.query(sql!(
        "DELETE FROM dead_deliveries WHERE id IN
         (SELECT d.id FROM dead_deliveries d WHERE d.died_at < $1 ORDER BY d.died_at LIMIT $2)"
    ))
    .bind(before)
    .bind(limit)
    .execute()
    .await
}

/// Numbers of hosts by their state, and of deliveries.
#[derive(Clone, Copy, Debug, model::Row)]
pub struct Counts {
    pub failing: i64,
    pub set_aside: i64,
    pub paused: i64,
    pub owed: i64,
    pub dead: i64,
}

/// Counts hosts and deliveries. Reads the whole tables.
#[boxed]
pub async fn counts(db: Conn<'_>) -> Result<Counts> {
    db.query(sql!(
        "SELECT (SELECT COUNT(*) FROM remote_hosts WHERE failures > 0) AS failing,
                (SELECT COUNT(*) FROM remote_hosts WHERE unavailable_at IS NOT NULL) AS set_aside,
                (SELECT COUNT(*) FROM remote_hosts WHERE paused_at IS NOT NULL) AS paused,
                (SELECT COUNT(*) FROM deliveries) AS owed, (SELECT COUNT(*) FROM dead_deliveries) AS dead"
    ))
    .one()
    .await
}
