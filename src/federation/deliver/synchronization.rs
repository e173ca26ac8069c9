//! The header that states the author's followers on the receiving server, of statuses for followers (FEP-8fcf).
//!
//! The digests of an author for all servers are computed together, and kept for a few minutes as long as the number of
//! followers stays the same.
//!
//! Spec: docs/contract/federation.md#9-followers-synchronisation

use std::collections::HashMap;

use context::{Cx, Result};
use model::{AccountId, Visibility};
use store::delivery::DocumentRow;

use crate::followers::{self, origin_of};
use crate::reading::visibility;
use crate::signature::Synchronization;
use crate::state::Network;
use crate::vocabulary::{Activity, parse};

/// The value of the header by the signers of `documents` that are for followers, as far as they need one, for the server at
/// `origin`.
pub(super) async fn headers(cx: &Cx, documents: &[DocumentRow], inbox: &str) -> Result<HashMap<model::RowId, String>> {
    let mut found = HashMap::new();
    let Some(origin) = origin_of(inbox).filter(|_| cx.config.federation.followers_synchronization) else {
        return Ok(found);
    };
    let mut of_authors: HashMap<AccountId, Option<String>> = HashMap::new();
    for document in documents {
        // The server's actor has no followers, and an account that is being deleted needs none.
        if i64::from(document.account_id) <= 0 || document.private_key.is_some() || !is_for_followers(&document.body) {
            continue;
        }
        let author = document.account_id;
        let header = match of_authors.get(&author) {
            Some(known) => known.clone(),
            None => {
                let header = header(cx, author, &origin).await?;
                of_authors.insert(author, header.clone());
                header
            }
        };
        found.extend(header.map(|header| (document.id, header)));
    }
    Ok(found)
}

/// True for an activity whose widest audience are the followers of its actor.
fn is_for_followers(body: &str) -> bool {
    // Most documents need not be parsed.
    if !body.contains("/followers\"") {
        return false;
    }
    parse::<Activity>(body.as_bytes()).is_ok_and(|activity| {
        let followers = format!("{}/followers", activity.actor.0);
        (activity.is("Create") || activity.is("Update"))
            && visibility(&activity.to, &activity.cc, Some(&followers)) == Visibility::Private
    })
}

async fn header(cx: &Cx, author: AccountId, origin: &str) -> Result<Option<String>> {
    let Some(account) = store::account::find(&cx.db, author).await?.filter(model::Account::is_local) else {
        return Ok(None);
    };
    let (network, now) = (Network::of(cx)?, cx.clock.now());
    let digests = match network.digests(author, account.followers_count, now) {
        Some(digests) => digests,
        None => {
            let digests = followers::digests(cx, author).await?.into();
            network.keep_digests(author, account.followers_count, now, std::sync::Arc::clone(&digests));
            digests
        }
    };
    let digest = digests.get(origin).copied().unwrap_or_default().hex();
    let of = |rest: &str| format!("{}/{rest}", account.uri);
    let header = digest.map(|digest| Synchronization {
        collection: of("followers"),
        url: of("followers_synchronization"),
        digest,
    });
    Ok(header.map(|header| header.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statuses_for_followers_are_counted() {
        let of = |kind: &str, to: &str, cc: &str| {
            let id = "https://a.test/users/x";
            format!(
                r#"{{"@context":"https://www.w3.org/ns/activitystreams","id":"{id}#1","type":"{kind}","actor":"{id}","to":["{to}"],"cc":["{cc}"],"object":"{id}/1"}}"#
            )
        };
        let (public, followers) = ("https://www.w3.org/ns/activitystreams#Public", "https://a.test/users/x/followers");
        assert!(is_for_followers(&of("Create", followers, "https://b.test/y")));
        assert!(is_for_followers(&of("Update", followers, "https://b.test/y")));
        assert!(!is_for_followers(&of("Create", public, followers)));
        assert!(!is_for_followers(&of("Create", followers, public)));
        assert!(!is_for_followers(&of("Create", "https://b.test/y", "https://b.test/z")));
        assert!(!is_for_followers(&of("Create", "https://a.test/users/z/followers", "https://b.test/z")));
        assert!(!is_for_followers(&of("Delete", followers, "https://b.test/y")));
    }
}
