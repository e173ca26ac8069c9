//! Clean-up of expired rows, run every hour by the job `jobs::cron::Clean`.
//!
//! Sessions ([`session`](super::session)), one-time links ([`link`](super::link)) and key-value items
//! ([`plugin_kv`](super::plugin_kv)) have their clean-up beside their other statements.

use super::{Result, Tx};
use crate::sql;
use model::Time;

/// Deletes the authorization codes that expired by `now`, redeemed or not; returns how many.
pub async fn delete_expired_grants(tx: &mut Tx, now: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM oauth_grants WHERE expires_at <= $1")).bind(now).execute().await
}

/// Deletes the idempotency keys that were stored before `time`; returns how many.
pub async fn delete_idempotency_keys(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM idempotency_keys WHERE created_at < $1")).bind(time).execute().await
}
