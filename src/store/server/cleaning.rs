//! Clean-up of expired rows, run every hour by the job `context::queue::Clean`.
//!
//! Sessions ([`session`](crate::session)), one-time links ([`link`](crate::one_time_link)), authorization codes
//! ([`code`](crate::oauth_code)) and key-value items ([`plugin_kv`](crate::plugin_kv)) have their clean-up beside their other
//! statements.

use database::{Result, Tx, sql};
use model::{Time, boxed};

/// Deletes the idempotency keys that were stored before `time`; returns how many.
#[boxed]
pub async fn delete_idempotency_keys(tx: &mut Tx, time: Time) -> Result<u64> {
    tx.query(sql!("DELETE FROM idempotency_keys WHERE created_at < $1")).bind(time).execute().await
}
