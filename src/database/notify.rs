//! Signals between the nodes of one server: PostgreSQL's `LISTEN` and `NOTIFY`.
//!
//! Reached from `streaming`'s bus and from queued jobs. A signal carries no change: it may be lost, and its text is short.
//! On SQLite there is one node, and nothing here is called.

use std::sync::Arc;

use sqlx::postgres::{PgListener, PgPoolOptions};

use super::db::Pools;
use super::{Db, Result, Tx};
use crate::sql;

/// The channel of the notifications.
const CHANNEL: &str = "rookery";

/// The prefix of notifications about queued jobs; their lane follows. The name of a node has no colon.
pub const JOBS: &str = "jobs:";

/// Receives notifications of other nodes on a separate connection.
#[derive(Debug)]
pub struct Listener(PgListener);

impl Listener {
    /// Starts listening; `None` on SQLite.
    pub async fn open(db: &Db) -> Result<Option<Self>> {
        let Pools::Postgres(pool) = &db.pools else { return Ok(None) };
        let options = Arc::unwrap_or_clone(pool.connect_options());
        let own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
        let mut listener = PgListener::connect_with(&own).await?;
        listener.listen(CHANNEL).await?;
        Ok(Some(Self(listener)))
    }

    /// The next notification: the text given to [`send`]. `None` when the connection, and possibly some
    /// notifications, were lost.
    pub async fn next(&mut self) -> Result<Option<String>> {
        Ok(self.0.try_recv().await?.map(|notification| notification.payload().to_owned()))
    }
}

/// Notifies every listening node, including this one, once `tx` is committed.
pub async fn send(tx: &mut Tx, text: &str) -> Result<()> {
    tx.query(sql!(sqlite: "SELECT $1"; postgres: "SELECT pg_notify('rookery', $1)"))
        .bind(text.to_owned())
        .execute()
        .await?;
    Ok(())
}
