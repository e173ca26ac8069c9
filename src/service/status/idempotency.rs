//! Idempotency keys: a repeated request returns the result of the first.
//!
//! Reached from publishing and scheduling. Spec: docs/contract/rules.md#10-statuses.

use chrono::Duration;

use context::Cx;
use context::error::{Error, Result};
use database::{Conn, Tx};
use model::Actor;
use store::idempotency_key::CreatedStatus;

/// How long an idempotency key is valid.
const IDEMPOTENCY_WINDOW: Duration = Duration::hours(1);
/// Longest idempotency key, in bytes; the contract allows any string.
const IDEMPOTENCY_KEY_MAX: usize = 4096;

/// Stores the idempotency key of a new status before anything else is written, so that all but one of several
/// concurrent requests wait here and then end.
///
/// # Errors
/// [`Error::Conflict`] for the waiting requests.
pub async fn claim(cx: &Cx, tx: &mut Tx, actor: &Actor, key: Option<&str>, made: CreatedStatus) -> Result<()> {
    let Some(key) = key else { return Ok(()) };
    let (now, since) = (cx.clock.now(), cx.clock.now() - IDEMPOTENCY_WINDOW);
    if store::idempotency_key::insert(tx, actor.id, key, made, now, since).await? {
        return Ok(());
    }
    Err(Error::Conflict("Another request with this Idempotency-Key was served meanwhile".into()))
}

/// The status that `actor` already published or scheduled with the idempotency key `key`.
///
/// # Errors
/// [`Error::Invalid`] for a key that is too long.
#[model::use_case]
pub async fn first_made(cx: &Cx, db: Conn<'_>, actor: &Actor, key: Option<&str>) -> Result<Option<CreatedStatus>> {
    let Some(key) = key else { return Ok(None) };
    if key.len() > IDEMPOTENCY_KEY_MAX {
        return Err(Error::invalid(format!("Idempotency-Key is longer than {IDEMPOTENCY_KEY_MAX} bytes")));
    }
    let since = cx.clock.now() - IDEMPOTENCY_WINDOW;
    let made = store::idempotency_key::find(db, actor.id, key, since).await?;
    if made.is_some() {
        // Readers see a commit before it is durable: the first request may not have its response yet.
        cx.db.synced().await?;
    }
    Ok(made)
}
