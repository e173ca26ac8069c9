//! The documents that this server answers with: actors, notes, activities and collections.
//!
//! `server` mounts them at the addresses of the contract; pages for browsers at the same addresses are the HTTP layer's.
//! What the signer of a request may see is served, and a limited status to a request with its capability.
//!
//! Spec: docs/contract/federation.md#2-uris, docs/contract/federation.md#3-documents-sent and
//! docs/contract/federation.md#4-collections-and-paging.

mod actor;
mod collection;
mod note;
mod reader;
mod served;

use context::{Cx, Error, Result};
use model::{Account, StatusId, boxed};

use reader::Reader;

pub use actor::update_of_actor;
pub use note::{activity_of, limited, update_of};
pub use reader::{Refusal, Request};
pub use served::{Keep, Page, Served};

/// The content type of answers.
pub const CONTENT_TYPE: &str = "application/activity+json; charset=utf-8";

/// A document by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The server's own actor.
    Server,
    /// The outbox of the server's own actor, which is empty.
    ServerOutbox,
    Actor(String),
    Note(String, StatusId),
    /// The activity that published a status, or the reblog.
    Activity(String, StatusId),
    Outbox(String, Page),
    Followers(String, Page),
    Following(String, Page),
    /// Pinned statuses.
    Featured(String),
    Replies(String, StatusId, Page),
}

impl Document {
    /// True for documents that are the same for everyone, whoever signed the request, in every mode.
    fn is_open(&self) -> bool {
        matches!(self, Self::Server | Self::ServerOutbox)
    }
}

/// The document at an address.
///
/// # Errors
/// [`Refusal::Document`]: [`Error::NotFound`] when there is none, or the reader may not see it; [`Error::Gone`] when it
/// was deleted; [`Error::Forbidden`] for the statuses of a suspended account, and for a hidden collection. The others in
/// authorized fetch mode.
#[model::use_case]
#[boxed]
pub async fn serve(cx: &Cx, document: &Document, request: &Request<'_>) -> Result<Served, Refusal> {
    let reader = if document.is_open() { Reader::anyone() } else { Reader::of(cx, request).await? };
    Ok(reader.restrict(read(cx, document, &reader, request.token).await?))
}

async fn read(cx: &Cx, document: &Document, reader: &Reader, token: Option<&str>) -> Result<Served> {
    let (account, blocked) = match document {
        Document::Server => return actor::server(cx).await,
        Document::ServerOutbox => return collection::empty(&cx.urls.path("/actor/outbox")),
        Document::Actor(name) => return actor::actor(cx, &known(cx, name).await?).await,
        Document::Note(name, _)
        | Document::Activity(name, _)
        | Document::Outbox(name, _)
        | Document::Followers(name, _)
        | Document::Following(name, _)
        | Document::Featured(name)
        | Document::Replies(name, ..) => {
            let account = shown(cx, name).await?;
            let blocked = reader.is_blocked_by(cx, &account).await?;
            (account, blocked)
        }
    };
    if blocked { nothing(document, &account) } else { part(cx, document, &account, reader, token).await }
}

/// What a reader whom `account` blocks is served beside the actor.
///
/// # Errors
/// [`Error::NotFound`] for statuses.
fn nothing(document: &Document, account: &Account) -> Result<Served> {
    let empty = |rest: &str| collection::empty(&format!("{}/{rest}", account.uri));
    match document {
        Document::Outbox(..) => empty("outbox"),
        Document::Followers(..) => empty("followers"),
        Document::Following(..) => empty("following"),
        Document::Featured(_) => empty("collections/featured"),
        Document::Note(..)
        | Document::Activity(..)
        | Document::Replies(..)
        | Document::Server
        | Document::ServerOutbox
        | Document::Actor(_) => Err(Error::NotFound),
    }
}

/// A document of `account` that is not its actor.
async fn part(cx: &Cx, document: &Document, account: &Account, reader: &Reader, token: Option<&str>) -> Result<Served> {
    let viewer = reader.viewer();
    match document {
        Document::Note(_, id) => note::note(cx, account, *id, viewer, token).await,
        Document::Activity(_, id) => note::activity(cx, account, *id, viewer).await,
        Document::Outbox(_, page) => collection::outbox(cx, account, page, viewer).await,
        Document::Followers(_, page) => collection::connected(cx, account, page, false).await,
        Document::Following(_, page) => collection::connected(cx, account, page, true).await,
        Document::Featured(_) => collection::featured(cx, account, viewer).await,
        Document::Replies(_, id, page) => collection::replies(cx, account, *id, page, viewer).await,
        Document::Server | Document::ServerOutbox | Document::Actor(_) => {
            Err(Error::internal("a document that is not a part of an account"))
        }
    }
}

/// The local account `name`, also a suspended one.
async fn known(cx: &Cx, name: &str) -> Result<Account> {
    let account = service::instance::local_account(cx, name).await?;
    store::account::find_known(&cx.db, account.id).await?.ok_or(Error::NotFound)
}

/// The local account `name`.
async fn shown(cx: &Cx, name: &str) -> Result<Account> {
    let account = known(cx, name).await?;
    if account.is_suspended() { Err(Error::forbidden("This account is suspended")) } else { Ok(account) }
}
