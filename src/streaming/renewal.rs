//! Renews subscriptions to channels of extensions when another generation serves them than the one that opened them.
//!
//! A replaced plugin may grant access to other accounts and return other topics; a disabled one serves nothing. Until
//! a subscription is renewed, which takes a second unless there are very many, its previous topics remain in effect.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};

use crate::Hub;
use crate::channel::Refused;
use crate::connection::End;
use crate::hub::Outdated;
use context::Result;
use model::{AccountId, Actor};
use service::auth;

/// How often it checks.
const INTERVAL: Duration = Duration::from_millis(500);
/// How many subscriptions are renewed together: their owners are read in one statement.
const PAGE: usize = 200;
/// How many requests run concurrently, so that a generation that has just started is not overloaded.
const AT_ONCE: usize = 4;
/// How many attempts fail before a subscription ends.
const ATTEMPTS: u32 = 4;

/// Checks until it is aborted.
pub(crate) async fn run(hub: Arc<Hub>) {
    loop {
        tokio::time::sleep(INTERVAL).await;
        if let Err(error) = check(&hub).await {
            context::log_failure!(error, "could not renew subscriptions to plugin streams");
        }
    }
}

/// Renews every subscription whose channel another generation serves now.
async fn check(hub: &Hub) -> Result<()> {
    let cx = hub.cx.begin(None);
    let outdated = hub.outdated(|channel| cx.extensions().channel_generation(channel));
    for page in outdated.chunks(PAGE) {
        let mut accounts: Vec<AccountId> = page.iter().map(|one| one.owner.account).collect();
        accounts.sort_unstable();
        accounts.dedup();
        let people: HashMap<AccountId, Arc<Actor>> =
            auth::cached_actors(&hub.cx, &accounts).await?.into_iter().map(|actor| (actor.id, actor)).collect();
        // Accounts that may no longer use the server are disconnected by another task.
        let asked = page.iter().filter_map(|one| Some((one, people.get(&one.owner.account)?)));
        stream::iter(asked).for_each_concurrent(AT_ONCE, |(one, actor)| renew(hub, one, actor)).await;
    }
    Ok(())
}

async fn renew(hub: &Hub, one: &Outdated, actor: &Actor) {
    if !one.is_served {
        hub.end_subscription(one.id, End::Unserved, 404, "This stream has ended: the plugin that served it is off");
        return;
    }
    match one.wanted.of_extension(&hub.cx, &one.owner, actor).await {
        Ok(opened) => hub.renew(one.id, opened),
        Err(Refused { status, .. }) if status >= 500 && hub.count_failure(one.id) < ATTEMPTS => {}
        Err(Refused { status, text }) => {
            let why = if status >= 500 { End::Unanswered } else { End::Refused };
            hub.end_subscription(one.id, why, status, &text);
        }
    }
}
