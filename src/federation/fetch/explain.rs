//! Lookups for operators: one that stores what it finds however fresh the known row is, and one that stores nothing and says
//! why.
//!
//! Both take the steps of [`find`](super::find), from the same functions.

use context::federation::{Resolved, Step};
use context::{Cx, Result};
use model::AccountId;

use super::find::{Named, known, located, named};
use super::{account, status};
use crate::Failure;
use crate::failure::is_answer;
use crate::reading::{Author, author_of, read};
use crate::vocabulary::Note;

/// The outcome of a lookup that stores nothing.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub steps: Vec<Step>,
    /// True when the account or status would be stored.
    pub stored: bool,
    /// What would be stored, or why not.
    pub verdict: String,
}

/// Fetches what `address` names, a URL or `user@domain`, and stores it as a lookup by a person does. A known account is
/// fetched again; a known status stays as it is.
///
/// # Errors
/// [`Failure`].
#[model::use_case]
pub async fn now(cx: &Cx, address: &str) -> Result<Resolved, Failure> {
    let account = |url: String, found| async move {
        account::fetch(cx, &url, found).await.map(|account| Resolved::Account(account.id))
    };
    match split(address) {
        None => match named(cx, address).await? {
            Named::Actor(id) => account(id, None).await,
            Named::Note(note) => status::note(cx, &note).await.map(Resolved::Status),
            Named::NoteAt(id) => status::note(cx, &status::note_document(cx, &id).await?).await.map(Resolved::Status),
        },
        Some((username, domain)) => {
            let (url, found) = located(cx, &username, &domain).await?;
            account(url, found).await
        }
    }
}

/// The steps of [`now`] without storing anything.
///
/// # Errors
/// When this server fails.
#[model::use_case]
pub async fn explain(cx: &Cx, address: &str) -> Result<Explanation> {
    let cx = &cx.recording_steps();
    let judged = Box::pin(judge(cx, address)).await;
    let steps = cx.steps();
    match judged {
        Ok(verdict) => Ok(Explanation { steps, stored: true, verdict }),
        Err(Failure::Local(error)) if !is_answer(&error) => Err(error),
        Err(Failure::Local(_)) => {
            Ok(Explanation { steps, stored: false, verdict: "the account is suspended or gone".to_owned() })
        }
        Err(failure) => Ok(Explanation { steps, stored: false, verdict: failure.to_string() }),
    }
}

/// The user name and domain of an address that is no URL, in lower case.
fn split(address: &str) -> Option<(String, String)> {
    if address.contains("://") {
        return None;
    }
    let address = address.trim().to_lowercase();
    let address = address.strip_prefix("acct:").unwrap_or(&address).trim_start_matches('@');
    let (username, domain) = address.split_once('@')?;
    Some((username.to_owned(), domain.to_owned()))
}

async fn judge(cx: &Cx, address: &str) -> Result<String, Failure> {
    match split(address) {
        Some((username, domain)) => {
            let (url, found) = located(cx, &username, &domain).await?;
            judge_account(cx, &url, found).await
        }
        None => {
            if let Some(known) = known(cx, address).await? {
                cx.step("known", true, || match known {
                    Resolved::Account(id) => format!("the account is stored here with the id {id}"),
                    Resolved::Status(id) => format!("the status is stored here with the id {id}, and stays as it is"),
                });
            }
            match named(cx, address).await? {
                Named::Actor(id) => judge_account(cx, &id, None).await,
                Named::Note(note) => judge_status(cx, &note).await,
                Named::NoteAt(id) => judge_status(cx, &status::note_document(cx, &id).await?).await,
            }
        }
    }
}

async fn judge_account(cx: &Cx, url: &str, found: Option<super::webfinger::Found>) -> Result<String, Failure> {
    let actor = account::actor(cx, url).await?;
    let profile = account::proven(cx, &actor, found).await?;
    Ok(format!("the account {}@{} would be stored", profile.username, profile.domain))
}

async fn judge_status(cx: &Cx, document: &Note) -> Result<String, Failure> {
    let uri = author_of(cx, document)?;
    let author = match store::remote::find_account(&cx.db, uri).await? {
        Some(known) => {
            service::remote::actor(cx, known.id).await?;
            cx.step("known", true, || format!("the author is stored here with the id {}", known.id));
            status::author(cx, known).await?
        }
        None => {
            let actor = account::actor(cx, uri).await?;
            let profile = account::proven(cx, &actor, None).await?;
            // Nothing here refers to an account that is not stored.
            let id = AccountId::from(0);
            let followers = profile.actor.followers_url;
            Author { id, uri: profile.uri, followers, searchability: profile.searchability }
        }
    };
    let read = read(cx, document, &author, None).await?;
    Ok(format!("the status {} would be stored", read.status.uri))
}
