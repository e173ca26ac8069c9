//! Ends connections that may not stay open: their token was revoked, or their account cannot be used any more.
//!
//! A revocation in this process is told by the change log at once ([`dispatch`](super::dispatch)). This looks for all
//! others: accounts that were suspended or disabled, and whatever another process did.

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

/// How often it looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Looks until it is aborted.
pub(crate) async fn run(hub: Arc<Hub>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = check(&hub).await {
            context::log_failure!(error, "could not check the tokens of streams");
        }
    }
}

/// Ends what may not stay open: one statement for all connections whose rows may have changed.
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

/// Whether the token of a connection that was just admitted is valid still. It was looked up before, and may have been revoked
/// before there was a connection to end; from now on a revocation ends it.
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
