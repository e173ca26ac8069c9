//! The documents that this server answers with: actors, notes, activities and collections.
//!
//! `server` mounts them at the addresses of the contract; pages for browsers at the same addresses are the HTTP layer's.
//! Only public documents are served, and a limited status to a request with its capability.
//!
//! Spec: docs/contract/federation.md#2-uris, docs/contract/federation.md#3-documents-sent and
//! docs/contract/federation.md#4-collections-and-paging.

mod actor;
mod collection;
mod note;
mod served;

use context::{Cx, Error, Result};
use model::{Account, StatusId, boxed};

pub use actor::update_of_actor;
pub use note::{activity_of, limited, update_of};
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

/// The document at an address. `token`: the capability of the request, if it carries one.
///
/// # Errors
/// [`Error::NotFound`] when there is none, or it is not for everyone; [`Error::Gone`] when it was deleted;
/// [`Error::Forbidden`] for the statuses of a suspended account, and for a hidden collection.
#[model::use_case]
#[boxed]
pub async fn serve(cx: &Cx, document: &Document, token: Option<&str>) -> Result<Served> {
    match document {
        Document::Server => actor::server(cx).await,
        Document::ServerOutbox => collection::empty(&cx.urls.path("/actor/outbox")),
        Document::Actor(name) => actor::actor(cx, &known(cx, name).await?).await,
        Document::Note(name, id) => note::note(cx, &shown(cx, name).await?, *id, token).await,
        Document::Activity(name, id) => note::activity(cx, &shown(cx, name).await?, *id).await,
        Document::Outbox(name, page) => collection::outbox(cx, &shown(cx, name).await?, page).await,
        Document::Followers(name, page) => collection::connected(cx, &shown(cx, name).await?, page, false).await,
        Document::Following(name, page) => collection::connected(cx, &shown(cx, name).await?, page, true).await,
        Document::Featured(name) => collection::featured(cx, &shown(cx, name).await?).await,
        Document::Replies(name, id, page) => collection::replies(cx, &shown(cx, name).await?, *id, page).await,
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
