//! Accounts of other servers: fetching an actor, proving its address, and keeping it fresh.

use chrono::TimeDelta;
use context::{Cx, Error};
use model::account::Searchability;
use model::{Account, Time};
use service::remote::account::RemoteProfile;

use super::document::document;
use super::webfinger;
use crate::Failure;
use crate::floods::{Flood, registrable};
use crate::reading::{is_misskey, profile, username};
use crate::state::Network;
use crate::vocabulary::{Actor, parse};

/// How long a deleted actor stays deleted, whatever is served: its server may serve it from a cache.
const BURIED: TimeDelta = TimeDelta::minutes(10);
/// How long an actor is trusted before it is fetched again.
const STALE: TimeDelta = TimeDelta::days(1);

/// The account with the actor URI `uri`, fetched if it is not known.
///
/// # Errors
/// [`Failure`].
pub async fn account(cx: &Cx, uri: &str) -> Result<Account, Failure> {
    match store::remote::find_account(&cx.db, uri).await? {
        Some(known) => Ok(known),
        None => fetch(cx, uri, None).await,
    }
}

/// `known`, fetched again if it was last fetched more than a day ago. A failure to do so leaves it as it is, unless it is
/// gone.
///
/// # Errors
/// [`Failure::Gone`], and when this server fails.
pub async fn refreshed(cx: &Cx, known: Account, fetched_at: Option<Time>) -> Result<Account, Failure> {
    if known.is_local() || fetched_at.is_some_and(|fetched| cx.clock.now() - fetched < STALE) {
        return Ok(known);
    }
    match fetch(cx, &known.uri, None).await {
        Ok(account) if account.id == known.id => Ok(account),
        // Its document names another actor now.
        Ok(_) => Ok(known),
        Err(failure @ (Failure::Gone | Failure::Local(_))) => Err(failure),
        Err(failure) => {
            tracing::debug!(%failure, account.id = %known.id, "a stale account could not be refreshed");
            Ok(known)
        }
    }
}

/// Fetches the actor at `url` and stores it. `found`: its address, if WebFinger named this actor already.
///
/// # Errors
/// [`Failure`]; an actor that is gone ends the account.
pub(crate) async fn fetch(cx: &Cx, url: &str, found: Option<webfinger::Found>) -> Result<Account, Failure> {
    let actor = match actor(cx, url).await {
        Err(Failure::Gone) => {
            end(cx, url).await?;
            return Err(Failure::Gone);
        }
        actor => actor?,
    };
    save(cx, &actor, found).await
}

/// Stores `actor`, a document that came from its own address. A new address is proven by WebFinger.
///
/// # Errors
/// [`Failure::Disbelieved`].
pub(crate) async fn save(cx: &Cx, actor: &Actor, found: Option<webfinger::Found>) -> Result<Account, Failure> {
    match service::remote::account::save(cx, proven(cx, actor, found).await?).await {
        // Another request may have stored the same actor meanwhile.
        Err(Error::Conflict(_)) => store::remote::find_account(&cx.db, &actor.id)
            .await?
            .ok_or(Failure::Disbelieved("the address belongs to another actor")),
        saved => Ok(saved?),
    }
}

/// The profile of `actor`, a document that came from its own address, with its address: the known one, or the one that
/// WebFinger proves.
///
/// # Errors
/// [`Failure::Disbelieved`], and [`Failure::Gone`] for an actor that was deleted a moment ago.
pub(super) async fn proven(cx: &Cx, actor: &Actor, found: Option<webfinger::Found>) -> Result<RemoteProfile, Failure> {
    let deleted_at = store::tombstone::find_actor(&cx.db, &actor.id).await?;
    if deleted_at.is_some_and(|at| cx.clock.now() - at < BURIED) {
        cx.step("known", false, || "the account was deleted a moment ago".to_owned());
        return Err(Failure::Gone);
    }
    let found = match (store::remote::find_account(&cx.db, &actor.id).await?, found) {
        (Some(known), _) => renamed(cx, actor, known).await?,
        (None, found) => {
            admit(cx, &actor.id)?;
            let found = match found {
                Some(found) if found.actor == actor.id => found,
                _ => prove(cx, actor).await?,
            };
            admit_domain(cx, &found.domain).await?;
            found
        }
    };
    if deleted_at.is_some() {
        // It is served again, and WebFinger names it: it came back, or the 410 was passing.
        let mut tx = cx.db.begin().await?;
        store::tombstone::delete(&mut tx, &actor.id).await?;
        tx.commit().await?;
    }
    let unstated = match store::instance::software(&cx.db, &found.domain).await? {
        Some(software) if is_misskey(&software) => Searchability::Public,
        _ => Searchability::Direct,
    };
    cx.step("address", true, || format!("{}@{}", found.username, found.domain));
    profile(cx, actor, &found.username, &found.domain, unstated)
}

/// The address of `known`: with the name that `actor` states, if WebFinger confirms a new one and no other account has it,
/// else the known one.
async fn renamed(cx: &Cx, actor: &Actor, known: Account) -> Result<webfinger::Found, Failure> {
    let domain = known.domain.ok_or(Failure::Disbelieved("the actor is of this server"))?;
    let unchanged = webfinger::Found { username: known.username, domain, actor: actor.id.clone() };
    let Some(stated) = username(actor).ok().filter(|stated| *stated != unchanged.username) else {
        return Ok(unchanged);
    };
    let found = match webfinger::find(cx, stated, &unchanged.domain).await {
        Err(failure @ (Failure::Local(_) | Failure::Deferred)) => return Err(failure),
        found => found.ok().filter(|found| {
            found.actor == actor.id && found.domain == unchanged.domain && found.username.eq_ignore_ascii_case(stated)
        }),
    };
    let Some(found) = found else { return Ok(unchanged) };
    let handle = format!("{}@{}", found.username, found.domain);
    match service::account::lookup(cx, &handle).await {
        Err(Error::NotFound) => Ok(found),
        holder => Ok(if holder?.id == known.id { found } else { unchanged }),
    }
}

/// Counts a new actor against a flood of its domain.
fn admit(cx: &Cx, uri: &str) -> Result<(), Failure> {
    let host = crate::address::host_of(uri).ok_or(Failure::Disbelieved("the id is not an address"))?;
    let admitted = Network::of(cx)?.floods.admit(Flood::Actors, registrable(&host), cx.clock.now());
    if admitted { Ok(()) } else { Err(Failure::Flood) }
}

/// Counts a new domain against a flood of subdomains.
async fn admit_domain(cx: &Cx, domain: &str) -> Result<(), Failure> {
    if store::instance::is_known(&cx.db, domain).await? {
        return Ok(());
    }
    let admitted = Network::of(cx)?.floods.admit(Flood::Subdomains, registrable(domain), cx.clock.now());
    if admitted { Ok(()) } else { Err(Failure::Flood) }
}

/// The address of `actor`, as WebFinger confirms it: the one that the actor states (FEP-2c59), else its user name at the
/// host of its id.
async fn prove(cx: &Cx, actor: &Actor) -> Result<webfinger::Found, Failure> {
    let host = crate::address::host_of(&actor.id).ok_or(Failure::Disbelieved("the id is not an address"))?;
    let usual = username(actor).map(|name| (name, host.as_str()));
    let stated = actor.webfinger.as_deref().and_then(webfinger::address);
    if let Some((name, domain)) = &stated
        && !usual.as_ref().is_ok_and(|usual| usual == &(*name, domain.as_str()))
    {
        match confirm(cx, actor, name, domain).await {
            // An address is fixed at first contact, so a server that does not respond now is asked again later.
            Err(failure) if failure.is_transient() || usual.is_err() || matches!(failure, Failure::Local(_)) => {
                return Err(failure);
            }
            Err(failure) => cx.step("webfinger", true, || format!("{name}@{domain} is not its address: {failure}")),
            found => return found,
        }
    }
    let (name, host) = usual?;
    confirm(cx, actor, name, host).await
}

/// The address to which `username@domain` leads, if it is an address of `actor`.
async fn confirm(cx: &Cx, actor: &Actor, username: &str, domain: &str) -> Result<webfinger::Found, Failure> {
    let found = webfinger::find(cx, username, domain).await?;
    if found.actor != actor.id {
        return Err(Failure::Disbelieved("WebFinger names another actor"));
    }
    crate::policy::may_talk(cx, &found.domain)?;
    Ok(found)
}

/// The actor document at `url`: its id is the address that it came from.
pub(super) async fn actor(cx: &Cx, url: &str) -> Result<Actor, Failure> {
    let fetched = document(cx, url).await?;
    let actor: Actor = parse(&fetched.body)?;
    if fetched.is(&actor.id, url) {
        cx.step("id", true, || format!("{} is the address of the actor", actor.id));
        return Ok(actor);
    }
    cx.step("id", true, || format!("the actor has the id {}, from where it is fetched", actor.id));
    let fetched = document(cx, &actor.id).await?;
    let again: Actor = parse(&fetched.body)?;
    let same = again.id == actor.id && fetched.is(&again.id, &actor.id);
    cx.step("id", same, || format!("the actor at {} has the id {}", fetched.url, again.id));
    if same { Ok(again) } else { Err(Failure::Disbelieved("the id is another on every request")) }
}

/// Ends the account of an actor that is gone, if it is known.
async fn end(cx: &Cx, uri: &str) -> Result<(), Failure> {
    if let Some(known) = store::remote::find_account(&cx.db, uri).await?.filter(|known| !known.is_local()) {
        service::removal::remove_remote(cx, known.id).await?;
    }
    Ok(())
}
