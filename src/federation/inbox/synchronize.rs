//! Followers synchronisation: the server of an account states which accounts of this server follow it (FEP-8fcf).
//!
//! A header that differs from what is known here causes a job, for one sender once in a few minutes. The list is used only
//! as a whole, since accounts that are missing in it no longer follow; of it only accounts of this server count.
//!
//! Spec: docs/contract/federation.md#9-followers-synchronisation

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use context::budget::Allowance;
use context::queue::{self, Failure as JobFailure, SynchronizeFollowers};
use context::{Cx, Result, job};
use model::AccountId;
use service::remote::follow;
use store::remote::ActorRow;

use crate::address::same_host;
use crate::floods::domain_of;
use crate::followers::{self, Digest, FOLLOWERS_MAX, origin_of};
use crate::signature::Synchronization;
use crate::state::Network;
use crate::{Failure, deliver, fetch};

/// Most pages of a list.
const PAGES_MAX: usize = 20;
/// How long reading the list may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Listed accounts that are looked up at a time.
const BATCH: usize = 100;
/// Most follows that are taken back at once: the others with a later comparison.
const UNDONE_MAX: usize = 500;

/// Queues a comparison of the followers of `sender` with what `header` states, unless there was one a moment ago.
pub(super) async fn consider(cx: &Cx, sender: &ActorRow, header: Synchronization) -> Result<()> {
    let stated = sender.followers_url.as_deref() == Some(&*header.collection) && same_host(&header.url, &sender.uri);
    if !stated || !cx.config.federation.followers_synchronization || sender.suspended_at.is_some() {
        return Ok(());
    }
    if !Network::of(cx)?.may_synchronize(sender.id, cx.clock.now()) {
        return Ok(());
    }
    let Synchronization { url, digest, .. } = header;
    let job = SynchronizeFollowers { account: sender.id, domain: domain_of(&sender.uri), url, digest };
    let mut tx = cx.db.begin().await?;
    queue::enqueue(cx, &mut tx, &job).await?;
    Ok(tx.commit().await?)
}

/// A list that cannot be read is left to the next comparison.
#[model::use_case]
#[job]
async fn synchronize_followers(cx: &Cx, job: SynchronizeFollowers) -> Result<(), JobFailure> {
    let sender = store::remote::get_actor(&cx.db, job.account).await?;
    let Some(sender) = sender.filter(|sender| sender.domain.is_some() && sender.suspended_at.is_none()) else {
        return Ok(());
    };
    // Before the list is fetched: a follow that is accepted meanwhile may be missing in it.
    let known = followers::local(cx, sender.id).await?;
    let result = match compare(cx, &job, &sender, &known).await {
        Err(Failure::Local(error)) => return Err(error.into()),
        Err(failure) => failure.as_str(),
        Ok(result) => result,
    };
    metrics::counter!("rookery_follower_synchronizations_total", "result" => result).increment(1);
    Ok(())
}

async fn compare(
    cx: &Cx,
    job: &SynchronizeFollowers,
    sender: &ActorRow,
    known: &HashMap<String, AccountId>,
) -> Result<&'static str, Failure> {
    let mut digest = Digest::default();
    known.keys().for_each(|uri| digest.add(uri));
    if digest.hex().is_none_or(|digest| digest == job.digest) {
        return Ok("same");
    }
    let spending = cx.spending(Allowance::of(&job.domain, cx.clock.now()).into());
    let list = fetch::whole(&spending, &job.url, FOLLOWERS_MAX, PAGES_MAX);
    let list = tokio::time::timeout(PATIENCE, Box::pin(list)).await;
    let list = list.unwrap_or(Err(Failure::Request(outbound::Error::Timeout)))?;
    let Some(list) = list else { return Ok("incomplete") };
    for (_, follower) in known.iter().filter(|(uri, _)| !list.contains(*uri)) {
        follow::ended(cx, *follower, sender.id).await?;
    }
    add(cx, sender, known, &list).await?;
    Ok("changed")
}

/// Makes follows of the pending requests of listed accounts, and takes back the follows of listed ones that do not follow.
async fn add(
    cx: &Cx,
    sender: &ActorRow,
    known: &HashMap<String, AccountId>,
    list: &HashSet<String>,
) -> Result<(), Failure> {
    let own = origin_of(&cx.urls.path("/"));
    let is_ours = |uri: &&String| !known.contains_key(*uri) && own.is_some() && origin_of(uri) == own;
    let others: Vec<String> = list.iter().filter(is_ours).cloned().collect();
    let mut undone = 0;
    for batch in others.chunks(BATCH) {
        let found = store::remote::list_accounts(&cx.db, batch).await.map_err(context::Error::from)?;
        for (account, ..) in found.into_iter().filter(|(_, _, domain)| domain.is_none()) {
            match store::remote::find_follow(&cx.db, account, sender.id).await.map_err(context::Error::from)? {
                Some(row) if !row.accepted => drop(follow::accepted(cx, account, sender.id).await?),
                Some(_) => continue,
                None if undone >= UNDONE_MAX => continue,
                None => {}
            }
            let mut tx = cx.db.begin().await.map_err(context::Error::from)?;
            undone += usize::from(deliver::not_following(cx, &mut tx, account, sender.id).await?);
            tx.commit().await.map_err(context::Error::from)?;
        }
    }
    Ok(())
}
