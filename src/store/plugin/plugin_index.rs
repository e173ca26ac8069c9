//! Keys of trusted plugin indexes.
//!
//! Reached from the installation of packages.

use database::{Conn, Result, Tx, sql};
use model::{Time, boxed};

/// The stored state of an index.
#[derive(Clone, Debug, PartialEq, Eq, model::Row)]
#[row(alias = "i")]
pub struct KnownIndex {
    /// The public key of its signatures, in the format of minisign.
    pub public_key: String,
    /// When the last used version was signed.
    pub signed_at: Option<Time>,
}

/// The stored state of the index at `url`.
#[boxed]
pub async fn find(db: Conn<'_>, url: &str) -> Result<Option<KnownIndex>> {
    db.query(sql!("SELECT " known_index_columns!() " FROM plugin_indexes i WHERE i.url = $1"))
        .bind(url)
        .optional()
        .await
}

/// Stores the key and the signing time of the index at `url`.
#[boxed]
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
