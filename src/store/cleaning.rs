//! Removing what has expired and nobody asks for any more. Sessions and links have theirs beside their other statements.

use super::{Result, Tx};
use crate::model::Time;
use crate::sql;

/// Removes the authorization codes that expired by `now`.
///
/// # Errors
/// When the database does.
pub async fn delete_expired_grants(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE expires_at <= $1")).bind(now).execute().await
}

/// Removes the idempotency keys that were made before `time`.
///
/// # Errors
/// When the database does.
pub async fn delete_idempotency_keys(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM idempotency_keys WHERE created_at < $1")).bind(time).execute().await
}
