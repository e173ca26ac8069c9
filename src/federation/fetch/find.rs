//! Finding accounts by their addresses, and accounts and statuses by their URLs.

use std::time::Duration;

use context::federation::Resolved;
use context::{Cx, Result};
use model::{Account, AccountId};

use super::{account, document, status, webfinger};
use crate::Failure;
use crate::failure::is_answer;
use crate::vocabulary::{Actor, Note, parse};

/// Most addresses that are looked up for one request.
const HANDLES_MAX: usize = 10;
/// How long a person waits for all of them.
const PATIENCE: Duration = Duration::from_secs(15);

/// The accounts named by `handles`, each `user@domain` in lower case. An account that cannot be found is left out.
///
/// # Errors
/// When this server fails.
pub async fn accounts(cx: &Cx, handles: &[String]) -> Result<Vec<AccountId>> {
    let mut found = Vec::new();
    for handle in handles.iter().take(HANDLES_MAX) {
        found.extend(counted(Box::pin(by_handle(cx, handle))).await?.map(|account| account.id));
    }
    Ok(found)
}

/// Fetches the profile of the account `id` of another server again; false when that fails.
///
/// # Errors
/// [`context::Error::NotFound`] when there is no such account.
pub async fn refresh(cx: &Cx, id: AccountId) -> Result<bool> {
    let known = service::account::find_visible(cx, id).await?;
    if known.is_local() {
        return Ok(false);
    }
    let fetched = counted(Box::pin(account::fetch(cx, &known.uri, None))).await?;
    Ok(fetched.is_some_and(|fetched| fetched.id == id))
}

pub(super) async fn by_handle(cx: &Cx, handle: &str) -> Result<Account, Failure> {
    let (username, domain) = handle.split_once('@').ok_or(Failure::Gone)?;
    let domain = service::domain::parse(domain).ok_or(Failure::Gone)?;
    crate::policy::may_talk(cx, &domain)?;
    if let Some(known) = store::account::list_by_handles(&cx.db, &[format!("{username}@{domain}")]).await?.pop() {
        let actor = store::remote::get_actor(&cx.db, known.id).await?;
        return account::refreshed(cx, known, actor.and_then(|actor| actor.fetched_at)).await;
    }
    let (actor, found) = located(cx, username, &domain).await?;
    account::fetch(cx, &actor, found).await
}

/// The actor that `domain` names for `username`, and the answer of WebFinger if that proves its address: an actor on
/// another host is asked whether it agrees.
pub(super) async fn located(
    cx: &Cx,
    username: &str,
    domain: &str,
) -> Result<(String, Option<webfinger::Found>), Failure> {
    crate::policy::may_talk(cx, domain)?;
    let found = webfinger::find(cx, username, domain).await?;
    crate::policy::may_talk(cx, &found.domain)?;
    let asked_itself = crate::address::host_of(&found.actor).is_some_and(|host| host == found.domain);
    Ok((found.actor.clone(), asked_itself.then_some(found)))
}

/// The account or status with the URL `url`; `None` when there is none.
///
/// # Errors
/// When this server fails.
pub async fn by_url(cx: &Cx, url: &str) -> Result<Option<Resolved>> {
    if let Some(known) = known(cx, url).await? {
        return Ok(Some(known));
    }
    counted(Box::pin(fetched(cx, url))).await
}

/// The page on which `visitor`, `user@domain` or a domain alone, acts on `uri`; `None` when its server names none.
///
/// # Errors
/// When this server fails.
pub async fn interaction_page(cx: &Cx, visitor: &str, uri: &str) -> Result<Option<String>> {
    counted(Box::pin(webfinger::interaction_page(cx, visitor, uri))).await
}

/// The result of a lookup, which is counted; `None` when there is none, or none in time.
///
/// # Errors
/// When this server fails.
async fn counted<T>(lookup: impl Future<Output = Result<T, Failure>>) -> Result<Option<T>> {
    let found = tokio::time::timeout(PATIENCE, lookup).await;
    let result = match &found {
        Ok(Ok(_)) => "found",
        Ok(Err(failure)) => failure.as_str(),
        Err(_) => "timeout",
    };
    metrics::counter!("rookery_lookups_total", "result" => result).increment(1);
    match found {
        Ok(Ok(found)) => Ok(Some(found)),
        Ok(Err(Failure::Local(error))) if !is_answer(&error) => Err(error),
        Ok(Err(failure)) => {
            tracing::debug!(%failure, "a lookup found nothing");
            Ok(None)
        }
        Err(_) => Ok(None),
    }
}

pub(super) async fn known(cx: &Cx, url: &str) -> Result<Option<Resolved>> {
    if let Some(status) = store::remote::find_status(&cx.db, url).await? {
        return Ok(Some(Resolved::Status(status.id)));
    }
    if let Some(status) = store::remote::find_status_by_url(&cx.db, url).await? {
        return Ok(Some(Resolved::Status(status)));
    }
    let account = store::remote::find_account(&cx.db, url).await?;
    Ok(account.filter(|account| !account.is_local()).map(|account| Resolved::Account(account.id)))
}

/// The account or status that `url` names, fetched unless it is known by its id.
async fn fetched(cx: &Cx, url: &str) -> Result<Resolved, Failure> {
    Ok(match named(cx, url).await? {
        Named::Actor(id) => Resolved::Account(account::account(cx, &id).await?.id),
        Named::Note(note) => Resolved::Status(status::note(cx, &note).await?),
        Named::NoteAt(id) => Resolved::Status(status::status(cx, &id).await?),
    })
}

/// What the document at a URL is.
pub(super) enum Named {
    /// An actor with this id, which has to be fetched from there.
    Actor(String),
    /// A note that came from its own address.
    Note(Box<Note>),
    /// A note with this id, which has to be fetched from there.
    NoteAt(String),
}

/// What is in the document at `url`, or in the document that its page links to.
pub(super) async fn named(cx: &Cx, url: &str) -> Result<Named, Failure> {
    let fetched = match document(cx, url).await {
        Err(Failure::ContentType(_)) => document(cx, &super::document::alternate(cx, url).await?).await?,
        fetched => fetched?,
    };
    if let Ok(actor) = parse::<Actor>(&fetched.body)
        && actor.inbox.is_some()
    {
        return Ok(Named::Actor(actor.id));
    }
    let note: Note = parse(&fetched.body)?;
    let is_own = note.id == fetched.url;
    cx.step("id", true, || match is_own {
        true => format!("{} is the address of the note", note.id),
        false => format!("the note has the id {}, from where it is fetched", note.id),
    });
    Ok(if is_own { Named::Note(Box::new(note)) } else { Named::NoteAt(note.id) })
}
