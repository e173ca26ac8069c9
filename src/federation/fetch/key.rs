//! Keys of other servers: the account that a key belongs to.

use context::Cx;
use store::remote::ActorRow;

use super::document::document;
use super::{account, find};
use crate::Failure;
use crate::address::same_host;
use crate::vocabulary::{Actor, KeyDocument, parse};

/// Fetches the owner of the key `key_id` and returns it. The owner must claim the key; an address, `acct:user@host`, names
/// the key of its account.
///
/// # Errors
/// [`Failure`].
pub async fn key(cx: &Cx, key_id: &str) -> Result<ActorRow, Failure> {
    if let Some(handle) = key_id.strip_prefix("acct:") {
        let handle = handle.to_lowercase();
        let account = match store::account::list_by_handles(&cx.db, std::slice::from_ref(&handle)).await?.pop() {
            // It may have another key since.
            Some(known) => account::fetch(cx, &known.uri, None).await?,
            None => find::by_handle(cx, &handle).await?,
        };
        return store::remote::get_actor(&cx.db, account.id).await?.ok_or(Failure::Gone);
    }
    let url = key_id.split('#').next().unwrap_or_default();
    let fetched = document(cx, url).await?;
    let found: KeyDocument = parse(&fetched.body)?;
    // A separate document of a key names its owner; an actor contains its key.
    let owner = found.owner.as_ref().or(found.controller.as_ref()).map_or(found.id.as_str(), |owner| owner.0.as_str());
    if !same_host(owner, key_id) {
        return Err(Failure::Disbelieved("the owner of the key is on another host"));
    }
    let actor: Actor = match parse::<Actor>(&fetched.body) {
        Ok(actor) if actor.id == fetched.url && actor.inbox.is_some() => actor,
        _ => account::actor(cx, owner).await?,
    };
    if !actor.has_key(key_id) {
        return Err(Failure::Disbelieved("the owner does not claim the key"));
    }
    let account = account::save(cx, &actor, None).await?;
    cx.caches.key_owners.insert(key_id.to_owned(), account.uri.as_str().into());
    store::remote::get_actor(&cx.db, account.id).await?.ok_or(Failure::Gone)
}
