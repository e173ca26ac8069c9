//! What is known of a domain and owed to its hosts, for its removal.

use database::{Conn, Result, Tx, sql};
use model::{AccountId, boxed};

/// Number of known accounts of `domain`, counted up to `most`.
#[boxed]
pub async fn count_accounts(db: Conn<'_>, domain: &str, most: i64) -> Result<i64> {
    let (count,): (i64,) = db
        .query(sql!("SELECT COUNT(*) FROM (SELECT a.id FROM accounts a WHERE a.domain = $1 LIMIT $2) counted"))
        .bind(domain.to_owned())
        .bind(most)
        .one()
        .await?;
    Ok(count)
}

/// Number of deliveries that `host` is owed, counted up to `most`.
#[boxed]
pub async fn count_deliveries(db: Conn<'_>, host: &str, most: i64) -> Result<i64> {
    let (count,): (i64,) = db
        .query(sql!("SELECT COUNT(*) FROM (SELECT d.id FROM deliveries d WHERE d.host = $1 LIMIT $2) counted"))
        .bind(host.to_owned())
        .bind(most)
        .one()
        .await?;
    Ok(count)
}

/// The inboxes of up to `limit` accounts of `domain` after the account `after`: own and shared.
#[boxed]
pub async fn list_inboxes(
    db: Conn<'_>,
    domain: &str,
    after: AccountId,
    limit: i64,
) -> Result<Vec<(Option<String>, Option<String>)>> {
    db.query(sql!(
        "SELECT a.inbox_url, a.shared_inbox_url FROM accounts a WHERE a.domain = $1 AND a.id > $2
         ORDER BY a.id LIMIT $3"
    ))
    .bind(domain.to_owned())
    .bind(after)
    .bind(limit)
    .all()
    .await
}

/// Deletes up to `limit` deliveries to `host`, those that were given up included; returns their number.
#[boxed]
pub async fn delete_deliveries(tx: &mut Tx, host: &str, limit: i64) -> Result<u64> {
    let owed = tx
        .query(sql!(
            "DELETE FROM deliveries WHERE id IN (SELECT d.id FROM deliveries d WHERE d.host = $1 ORDER BY d.id LIMIT $2)"
        ))
        .bind(host.to_owned())
        .bind(limit)
        .execute()
        .await?;
    let dead = tx
        .query(sql!(
            "DELETE FROM dead_deliveries WHERE id IN
             (SELECT d.id FROM dead_deliveries d WHERE d.host = $1 ORDER BY d.id LIMIT $2)"
        ))
        .bind(host.to_owned())
        .bind(limit)
        .execute()
        .await?;
    Ok(owed + dead)
}

/// Deletes what is known of `host` as a server and a receiver, unless an operator paused it.
#[boxed]
pub async fn delete_host(tx: &mut Tx, host: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM inbox_pauses WHERE host = $1")).bind(host.to_owned()).execute().await?;
    tx.query(sql!("DELETE FROM remote_hosts WHERE host = $1 AND paused_at IS NULL"))
        .bind(host.to_owned())
        .execute()
        .await?;
    tx.query(sql!("DELETE FROM instances WHERE domain = $1")).bind(host.to_owned()).execute().await?;
    Ok(())
}
