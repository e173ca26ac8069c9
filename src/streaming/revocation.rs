//! Ends connections whose token was revoked or whose account can no longer be used.
//!
//! The change log ends connections immediately after a revocation in this process ([`dispatch`](super::dispatch)).
//! This task covers the other cases: accounts that were suspended or disabled, and changes by another process.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Hub;
use crate::connection::{Connection, End};
use context::Result;
use database::versions::{Dependency, Versions};
use model::TokenId;
use service::auth;

/// How often it checks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Checks until it is aborted.
pub(crate) async fn run(hub: Arc<Hub>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = check(&hub).await {
            context::log_failure!(error, "could not check the tokens of streams");
        }
    }
}

/// Ends the connections that may not stay open, with one statement for all connections whose rows may have changed.
pub(crate) async fn check(hub: &Hub) -> Result<()> {
    let versions = hub.cx.db.versions();
    let mut doubtful = hub.all();
    doubtful.retain(|connection| versions.is_none_or(|versions| !is_current(versions, connection)));
    if doubtful.is_empty() {
        return Ok(());
    }
    let now = versions.map_or(0, Versions::now);
    let mut tokens: Vec<TokenId> = doubtful.iter().map(|connection| connection.owner.token).collect();
    tokens.sort_unstable();
    tokens.dedup();
    let valid: HashSet<TokenId> = auth::usable(&hub.cx, &tokens).await?.into_iter().collect();
    for connection in doubtful {
        if valid.contains(&connection.owner.token) {
            connection.set_checked(now);
        } else {
            connection.end(End::Revoked);
        }
    }
    Ok(())
}

/// Whether the token of a connection that was just admitted is still valid. It may have been revoked between its
/// lookup and the admission, when there was no connection to end; a later revocation ends the connection.
pub(crate) async fn is_valid(hub: &Hub, connection: &Connection) -> Result<bool> {
    let now = hub.cx.db.versions().map_or(0, Versions::now);
    let token = connection.owner.token;
    let valid = auth::usable(&hub.cx, &[token]).await?.contains(&token);
    if valid {
        connection.set_checked(now);
    }
    Ok(valid)
}

fn is_current(versions: &Versions, connection: &Connection) -> bool {
    let checked = connection.checked.load(Ordering::Acquire);
    versions.is_current(
        checked,
        &[Dependency::Token(connection.owner.token), Dependency::Account(connection.owner.account)],
    )
}
