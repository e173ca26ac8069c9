//! The documents that this server answers with: actors, notes, activities and collections.
//!
//! `server` mounts them at the addresses of the contract; pages for browsers at the same addresses are the HTTP layer's.
//! What the signer of a request may see is served, and a limited status to a request with its capability.
//!
//! Spec: docs/contract/federation.md#2-uris, docs/contract/federation.md#3-documents-sent and
//! docs/contract/federation.md#4-collections-and-paging.

mod actor;
mod authorization;
mod collection;
mod note;
mod reader;
mod served;

use context::{Cx, Error, Result};
use model::urls::Owner;
use model::{Account, ConversationId, RowId, StatusId};

use collection::Counted;
use entity::activity;
use reader::Reader;

pub use actor::update_of_actor;
pub use note::{activity_of, limited, request_of, update_of};
pub use reader::{Refusal, Request};
pub(crate) use served::with_context;
pub use served::{Keep, Page, Served};

/// The content type of answers.
pub const CONTENT_TYPE: &str = "application/activity+json; charset=utf-8";

/// How long an emoji may be kept, in minutes.
const KEEP: u32 = 3;

/// A document by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The server's own actor.
    Server,
    /// The outbox of the server's own actor, which is empty.
    ServerOutbox,
    Actor(Owner),
    Note(Owner, StatusId),
    /// The activity that published a status, or the reblog.
    Activity(Owner, StatusId),
    Outbox(Owner, Page),
    Followers(Owner, Page),
    Following(Owner, Page),
    /// The followers that are accounts of the signer's server.
    FollowersSynchronization(Owner),
    /// Pinned statuses.
    Featured(Owner),
    /// Featured hashtags.
    FeaturedTags(Owner),
    Replies(Owner, StatusId, Page),
    Likes(Owner, StatusId),
    Shares(Owner, StatusId),
    References(Owner, StatusId, Page),
    /// The authorization of an interaction with a status of the account.
    Authorization(Owner, RowId),
    /// The statuses of a conversation that everyone may read.
    Context(ConversationId, Page),
    /// A custom emoji.
    Emoji(RowId),
}

impl Document {
    /// True for documents that are the same for every reader and need no signature in authorized fetch mode. Contexts and
    /// emojis need one in `limited` federation, since they name accounts and statuses.
    fn is_open(&self, limited: bool) -> bool {
        match self {
            Self::Server | Self::ServerOutbox => true,
            Self::Context(..) | Self::Emoji(_) => !limited,
            Self::Actor(_)
            | Self::Note(..)
            | Self::Activity(..)
            | Self::Outbox(..)
            | Self::Followers(..)
            | Self::Following(..)
            | Self::FollowersSynchronization(_)
            | Self::Featured(_)
            | Self::FeaturedTags(_)
            | Self::Replies(..)
            | Self::Likes(..)
            | Self::Shares(..)
            | Self::References(..)
            | Self::Authorization(..) => false,
        }
    }

    /// The account of the document, if it is of one.
    fn owner(&self) -> Option<&Owner> {
        match self {
            Self::Actor(owner)
            | Self::Note(owner, _)
            | Self::Activity(owner, _)
            | Self::Outbox(owner, _)
            | Self::Followers(owner, _)
            | Self::Following(owner, _)
            | Self::FollowersSynchronization(owner)
            | Self::Featured(owner)
            | Self::FeaturedTags(owner)
            | Self::Replies(owner, ..)
            | Self::Likes(owner, _)
            | Self::Shares(owner, _)
            | Self::References(owner, ..)
            | Self::Authorization(owner, _) => Some(owner),
            Self::Server | Self::ServerOutbox | Self::Context(..) | Self::Emoji(_) => None,
        }
    }
}

/// The document at an address.
///
/// # Errors
/// [`Refusal::Document`]: [`Error::NotFound`] when there is none, or the reader may not see it; [`Error::Gone`] when it
/// was deleted; [`Error::Forbidden`] for the statuses of a suspended account, and for a hidden collection.
/// [`Refusal::Elsewhere`] for `/users/name` of an account with another id. The others in authorized fetch mode.
#[model::use_case]
pub async fn serve(cx: &Cx, document: &Document, request: &Request<'_>) -> Result<Served, Refusal> {
    // A capability opens the note without a signature.
    let has_capability = matches!(document, Document::Note(_, id) if note::opens(cx, *id, request.token));
    let anyone = has_capability || document.is_open(cx.config.access.limited_federation);
    let reader = match document {
        Document::FollowersSynchronization(_) => Reader::signed(cx, request).await?,
        _ if anyone => Reader::anyone(),
        _ => Reader::of(cx, request).await?,
    };
    let account = match document.owner() {
        Some(owner) => Some(known(cx, owner).await?),
        None => None,
    };
    Ok(reader.restrict(read(cx, document, account, &reader, request.token).await?))
}

async fn read(
    cx: &Cx,
    document: &Document,
    account: Option<Account>,
    reader: &Reader,
    token: Option<&str>,
) -> Result<Served> {
    let Some(account) = account else {
        return match document {
            Document::ServerOutbox => collection::empty(&cx.urls.path("/actor/outbox")),
            Document::Context(id, page) => collection::thread(cx, *id, page).await,
            Document::Emoji(id) => emoji(cx, *id),
            Document::Server => actor::server(cx).await,
            _ => Err(Error::internal("a document of an account, without one")),
        };
    };
    if matches!(document, Document::Actor(_)) {
        return actor::actor(cx, &account).await;
    }
    if account.is_suspended() {
        return Err(Error::forbidden("This account is suspended"));
    }
    let blocked = reader.is_blocked_by(cx, &account).await?;
    if blocked { nothing(cx, document, &account).await } else { part(cx, document, &account, reader, token).await }
}

/// The document as readers who are blocked by `account` receive it.
///
/// # Errors
/// [`Error::NotFound`] for statuses.
async fn nothing(cx: &Cx, document: &Document, account: &Account) -> Result<Served> {
    let empty = |rest: &str| collection::empty(&format!("{}/{rest}", account.uri));
    match document {
        Document::Outbox(..) => empty("outbox"),
        Document::Followers(..) => empty("followers"),
        Document::Following(..) => empty("following"),
        Document::FollowersSynchronization(_) => empty("followers_synchronization"),
        Document::Featured(_) => empty("collections/featured"),
        Document::FeaturedTags(_) => collection::featured_tags(cx, account, false).await,
        Document::Note(..)
        | Document::Activity(..)
        | Document::Replies(..)
        | Document::Likes(..)
        | Document::Shares(..)
        | Document::References(..)
        | Document::Authorization(..)
        | Document::Server
        | Document::ServerOutbox
        | Document::Actor(_)
        | Document::Context(..)
        | Document::Emoji(_) => Err(Error::NotFound),
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
        Document::FollowersSynchronization(_) => collection::synchronization(cx, account, reader.origin()).await,
        Document::Featured(_) => collection::featured(cx, account, viewer).await,
        Document::FeaturedTags(_) => collection::featured_tags(cx, account, true).await,
        Document::Replies(_, id, page) => collection::replies(cx, account, *id, page, viewer).await,
        Document::Likes(_, id) => collection::counted(cx, account, *id, Counted::Likes, viewer).await,
        Document::Shares(_, id) => collection::counted(cx, account, *id, Counted::Shares, viewer).await,
        Document::References(_, id, page) => collection::references(cx, account, *id, page, viewer).await,
        Document::Authorization(_, id) => authorization::authorization(cx, account, *id, viewer).await,
        Document::Server | Document::ServerOutbox | Document::Actor(_) | Document::Context(..) | Document::Emoji(_) => {
            Err(Error::internal("a document that is not a part of an account"))
        }
    }
}

/// The custom emoji `id` of this server.
fn emoji(cx: &Cx, id: RowId) -> Result<Served> {
    let emoji = activity::emoji(cx, id)?.ok_or(Error::NotFound)?;
    Ok(Served::new(with_context(&emoji), KEEP))
}

/// The local account that `owner` names, also a suspended one.
///
/// # Errors
/// [`Refusal::Elsewhere`] when it has another id.
async fn known(cx: &Cx, owner: &Owner) -> Result<Account, Refusal> {
    let account = service::access::owner::known(cx, owner).await?;
    if service::access::owner::is_elsewhere(cx, &account, owner) {
        return Err(Refusal::Elsewhere(account.uri));
    }
    Ok(account)
}
