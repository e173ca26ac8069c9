//! Key pairs of the server itself, sealed by the caller.

use database::{Conn, Result, Tx, sql};
use model::{Time, boxed};

/// The sealed private key called `name`.
#[boxed]
pub async fn find(db: Conn<'_>, name: &str) -> Result<Option<String>> {
    let row: Option<(String,)> =
        db.query(sql!("SELECT private_key FROM server_keys WHERE name = $1")).bind(name.to_owned()).optional().await?;
    Ok(row.map(|(private_key,)| private_key))
}

/// Stores a key, unless one with this name exists: when several processes start at the same time, one of them creates
/// it.
#[boxed]
pub async fn insert(tx: &mut Tx, name: &str, private_key: &str, now: Time) -> Result<()> {
    tx.query(sql!(
        "INSERT INTO server_keys (name, private_key, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING"
    ))
    .bind(name.to_owned())
    .bind(private_key.to_owned())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Deletes the key called `name`.
#[boxed]
pub async fn delete(tx: &mut Tx, name: &str) -> Result<()> {
    tx.query(sql!("DELETE FROM server_keys WHERE name = $1")).bind(name.to_owned()).execute().await?;
    Ok(())
}
