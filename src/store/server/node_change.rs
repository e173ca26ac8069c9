//! Batches of committed changes that nodes of one server share as rows, and the listening nodes.
//!
//! Reached from `streaming`'s bus, beside the signals of [`database::notify`]. On SQLite there is one node, and nothing
//! here is called.

use database::{Conn, Result, Tx, sql};
use model::{Time, boxed};

/// Adds a batch of `node`.
#[boxed]
pub async fn insert(tx: &mut Tx, node: &str, number: i64, changes: String, now: Time) -> Result<()> {
    tx.query(sql!("INSERT INTO node_changes (node, number, changes, created_at) VALUES ($1, $2, $3, $4)"))
        .bind(node.to_owned())
        .bind(number)
        .bind(changes)
        .bind(now)
        .execute()
        .await?;
    Ok(())
}

/// The batches of `node` after `number`, in order, as (number, changes).
#[boxed]
pub async fn list(db: Conn<'_>, node: &str, after: i64) -> Result<Vec<(i64, String)>> {
    db.query(sql!(
        "SELECT c.number, c.changes FROM node_changes c WHERE c.node = $1 AND c.number > $2 ORDER BY c.number"
    ))
    .bind(node.to_owned())
    .bind(after)
    .all()
    .await
}

/// The last batch of each node that has one.
#[boxed]
pub async fn last(db: Conn<'_>) -> Result<Vec<(String, i64)>> {
    db.query(sql!("SELECT c.node, max(c.number) FROM node_changes c GROUP BY c.node")).all().await
}

/// Deletes batches older than `before`.
#[boxed]
pub async fn delete_before(tx: &mut Tx, before: Time) -> Result<()> {
    tx.query(sql!("DELETE FROM node_changes WHERE created_at < $1")).bind(before).execute().await?;
    tx.query(sql!("DELETE FROM listening_nodes WHERE seen_at < $1")).bind(before).execute().await?;
    Ok(())
}

/// Records that `node` listens.
#[boxed]
pub async fn note(tx: &mut Tx, node: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO listening_nodes (node, seen_at) VALUES ($1, $2) ON CONFLICT (node) DO UPDATE SET seen_at = excluded.seen_at"
    ))
    .bind(node.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// True when a node other than `node` listened after `since`.
#[boxed]
pub async fn has_others(db: Conn<'_>, node: &str, since: Time) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM listening_nodes n WHERE n.node <> $1 AND n.seen_at > $2)"))
        .bind(node.to_owned())
        .bind(since)
        .scalar()
        .await
}
