//! Whose indexes of plugins are trusted.
//!
//! Reached from the installation of packages.

use database::{Executor, Result, Tx, sql};
use model::Time;

/// What is remembered of an index.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(alias = "i")]
pub struct KnownIndex {
    /// The public key that it is signed with, as minisign writes it.
    pub public_key: String,
    /// When the one that was used last was signed.
    pub signed_at: Option<Time>,
}

/// What is remembered of the index at `url`.
pub async fn find(db: impl Executor, url: &str) -> Result<Option<KnownIndex>> {
    db.query(sql!("SELECT " known_index_columns!() " FROM plugin_indexes i WHERE i.url = $1"))
        .bind(url)
        .optional()
        .await
}

/// Remembers what the index at `url` was signed with, and when.
pub async fn save(tx: &mut Tx, url: &str, index: &KnownIndex, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO plugin_indexes (url, public_key, signed_at, created_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (url) DO UPDATE SET public_key = excluded.public_key, signed_at = excluded.signed_at"
    ))
    .bind(url)
    .bind(&index.public_key)
    .bind(index.signed_at)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}
