//! What nodes of one server tell each other: batches of changes as rows, and a notification of PostgreSQL that there are some.
//!
//! Reached from `streaming`'s bus. A notification carries no change, only whose batch it is: it may be lost, and what it
//! says may be longer than it may be. On SQLite there is one node, and nothing here is called.

use std::sync::Arc;

use sqlx::postgres::{PgListener, PgPoolOptions};

use super::db::Pools;
use super::{Db, Executor, Result, Tx};
use crate::sql;
use model::Time;

/// The channel of the notifications.
const CHANNEL: &str = "rookery";

/// What the notification of queued jobs begins with; their lane follows. The name of a node has no colon.
pub const JOBS: &str = "jobs:";

/// Hears of other nodes, by a connection of its own.
#[derive(Debug)]
pub struct Listener(PgListener);

impl Listener {
    /// Listens from now on; `None` on SQLite.
    pub async fn open(db: &Db) -> Result<Option<Self>> {
        let Pools::Postgres(pool) = &db.pools else { return Ok(None) };
        let options = Arc::unwrap_or_clone(pool.connect_options());
        let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Self(listener)))
    }

    /// The next notification: what [`notify`] was given. `None` when the connection was lost, and with it perhaps some.
    pub async fn next(&mut self) -> Result<Option<String>> {
        Ok(self.0.try_recv().await?.map(|notification| notification.payload().to_owned()))
    }
}

/// Tells every listening node, this one too, once `tx` is committed.
pub async fn notify(tx: &mut Tx, text: &str) -> Result<()> {
    tx.query(sql!(sqlite: "SELECT $1"; postgres: "SELECT pg_notify('rookery', $1)"))
        .bind(text.to_owned())
        .execute()
        .await?;
    Ok(())
}

/// Adds a batch of `node`.
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
pub async fn list(db: impl Executor, node: &str, after: i64) -> Result<Vec<(i64, String)>> {
    db.query(sql!(
        "SELECT c.number, c.changes FROM node_changes c WHERE c.node = $1 AND c.number > $2 ORDER BY c.number"
    ))
    .bind(node.to_owned())
    .bind(after)
    .all()
    .await
}

/// The last batch of each node that has any.
pub async fn last(db: impl Executor) -> Result<Vec<(String, i64)>> {
    db.query(sql!("SELECT c.node, max(c.number) FROM node_changes c GROUP BY c.node")).all().await
}

/// Deletes batches of before `before`.
pub async fn delete_before(tx: &mut Tx, before: Time) -> Result<()> {
    tx.query(sql!("DELETE FROM node_changes WHERE created_at < $1")).bind(before).execute().await?;
    tx.query(sql!("DELETE FROM listening_nodes WHERE seen_at < $1")).bind(before).execute().await?;
    Ok(())
}

/// Notes that `node` listens.
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

/// True when another node than `node` listened after `since`.
pub async fn has_others(db: impl Executor, node: &str, since: Time) -> Result<bool> {
    db.query(sql!("SELECT EXISTS (SELECT 1 FROM listening_nodes n WHERE n.node <> $1 AND n.seen_at > $2)"))
        .bind(node.to_owned())
        .bind(since)
        .scalar()
        .await
}
