//! Suggestions of accounts to follow.
//!
//! Reached from the routes of suggestions. Several sources are mixed into one list for each person, which is cached
//! for a quarter of an hour, or until they follow, block or mute an account. Each page is filtered on every request,
//! so that it never contains accounts that were dismissed, requested or suspended since. Accounts similar to recently
//! followed ones are not a source, since the server does not compare statuses.
//!
//! Spec: docs/contract/rules.md#23-discovery; <https://docs.joinmastodon.org/methods/suggestions/>

use std::collections::HashMap;
use std::sync::Arc;

use chrono::TimeDelta;

use crate::access::accounts;
use context::Cx;
use context::error::Result;
use model::clock::Ids;
use model::suggestion::{Source, Suggestion, Suggestions};
use model::{AccountId, Actor, Time};

/// Most suggestions from one source.
const OF_A_SOURCE: usize = 40;
/// Most popular accounts of the whole server, from which the ones are taken that the viewer does not follow yet.
const POPULAR: i64 = 400;
/// How long the suggestions of a person are cached.
const LIFETIME: TimeDelta = TimeDelta::minutes(15);
/// How long the list of popular accounts is cached.
const POPULAR_AGE: TimeDelta = TimeDelta::hours(1);
/// The age of statuses whose reblogs and favourites make their authors popular.
const INTERACTIONS_AGE: TimeDelta = TimeDelta::days(30);

/// A page of suggestions for `viewer`.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, limit: i64, offset: i64) -> Result<Vec<Suggestion>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let found = suggestions(cx, viewer).await?;
    let ids: Vec<AccountId> = found.list.iter().map(|suggestion| suggestion.account).collect();
    let versions = store::suggestion::filter(&cx.db, viewer.id, &ids, cx.clock.now()).await?;
    let versions: HashMap<AccountId, i64> = versions.into_iter().collect();
    let shown = found.list.iter().filter_map(|suggestion| {
        Some(Suggestion { version: *versions.get(&suggestion.account)?, ..suggestion.clone() })
    });
    let (skip, take) = (usize::try_from(offset).unwrap_or(usize::MAX), usize::try_from(limit).unwrap_or_default());
    Ok(shown.skip(skip).take(take).collect())
}

/// Never suggests `target` to `actor` again; not an error when the account does not exist.
#[model::use_case]
pub async fn dismiss(cx: &Cx, actor: &Actor, target: AccountId) -> Result<()> {
    let mut tx = cx.db.begin().await?;
    store::suggestion::dismiss(&mut tx, actor.id, target).await?;
    tx.commit().await?;
    // The next page contains new candidates in place of the dismissed ones.
    cx.caches.suggestions.remove(&actor.id);
    Ok(())
}

async fn suggestions(cx: &Cx, viewer: &Actor) -> Result<Arc<Suggestions>> {
    let now = cx.clock.now();
    let cached = cx.caches.suggestions.at_least(&viewer.id, viewer.relations_version);
    if let Some(cached) = cached.filter(|cached| (now - cached.at).abs() < LIFETIME) {
        return Ok(cached);
    }
    let found = Arc::new(Suggestions { at: now, list: mix(&candidates(cx, viewer, now).await?) });
    cx.caches.suggestions.insert_at(viewer.id, viewer.relations_version, Arc::clone(&found));
    Ok(found)
}

/// The candidates of each source, the best first.
async fn candidates(cx: &Cx, viewer: &Actor, now: Time) -> Result<Vec<(Source, Vec<AccountId>)>> {
    let names =
        cx.settings().bootstrap_timeline_accounts.iter().map(|acct| accounts::name(cx, acct)).collect::<Vec<_>>();
    let featured = if names.is_empty() { Vec::new() } else { store::suggestion::list_named(&cx.db, &names).await? };
    let limit = i64::try_from(OF_A_SOURCE).unwrap_or(i64::MAX);
    let friends = store::suggestion::list_friends_of_friends(&cx.db, viewer.id, now, limit).await?;
    let followed = async { Ok(store::suggestion::list_most_followed(&cx.db, POPULAR).await?) };
    let followed = cx.caches.most_followed.get(now, POPULAR_AGE, followed).await?;
    let since = Ids::first_at(now - INTERACTIONS_AGE).into();
    let interactions = async { Ok(store::suggestion::list_most_interactions(&cx.db, since, POPULAR).await?) };
    let interactions = cx.caches.most_interactions.get(now, POPULAR_AGE, interactions).await?;
    let popular: Vec<AccountId> = featured.iter().chain(followed.iter()).chain(interactions.iter()).copied().collect();
    let wanted = store::suggestion::filter(&cx.db, viewer.id, &popular, now).await?;
    let wanted: HashMap<AccountId, i64> = wanted.into_iter().collect();
    let of = |ids: &[AccountId]| ids.iter().filter(|id| wanted.contains_key(id)).take(OF_A_SOURCE).copied().collect();
    Ok(vec![
        (Source::Featured, of(&featured)),
        (Source::FriendsOfFriends, friends),
        (Source::MostFollowed, of(&followed)),
        (Source::MostInteractions, of(&interactions)),
    ])
}

/// Merges all sources into one list: the best of each, then the second best and so on, each account once with all its
/// sources.
fn mix(sources: &[(Source, Vec<AccountId>)]) -> Vec<Suggestion> {
    let mut all: HashMap<AccountId, Vec<Source>> = HashMap::new();
    for (source, accounts) in sources {
        for account in accounts {
            all.entry(*account).or_default().push(*source);
        }
    }
    let mut mixed = Vec::with_capacity(all.len());
    for place in 0..OF_A_SOURCE {
        for account in sources.iter().filter_map(|(_, accounts)| accounts.get(place)) {
            if let Some(sources) = all.remove(account) {
                mixed.push(Suggestion { account: *account, version: 0, sources });
            }
        }
    }
    mixed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_alternate_and_suggest_each_account_once() {
        let ids = |ids: &[i64]| ids.iter().copied().map(AccountId::from).collect::<Vec<_>>();
        let sources = vec![
            (Source::Featured, ids(&[1])),
            (Source::FriendsOfFriends, ids(&[2, 3])),
            (Source::MostFollowed, ids(&[3, 1, 4])),
        ];
        let mixed = mix(&sources);
        let accounts: Vec<i64> = mixed.iter().map(|suggestion| suggestion.account.into()).collect();
        assert_eq!(accounts, [1, 2, 3, 4]);
        assert_eq!(mixed[0].sources, [Source::Featured, Source::MostFollowed]);
        assert_eq!(mixed[2].sources, [Source::FriendsOfFriends, Source::MostFollowed]);
    }
}
