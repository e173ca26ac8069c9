//! Collections, with their pages.

use context::json::Fragment;
use context::{Cx, Error, Result};
use entity::activity::{self, FeaturedHashtag, Files, REFERENCES_PAGE};
use model::{Account, Actor, ConversationId, Cursor, RowId, Status, StatusId, urls};
use serde::Serialize;
use serde_json::value::RawValue;
use service::timeline::{self, ProfileQuery};
use service::visibility::Seen;

use super::note;
use super::served::{Page, Served, with_context};
use crate::followers::FOLLOWERS_MAX;

/// Activities on a page of an outbox, accounts on one of followers, replies, and statuses of a thread.
const OUTBOX_PAGE: i64 = 20;
const ACCOUNTS_PAGE: i64 = 12;
const REPLIES_PAGE: i64 = 60;
const THREAD_PAGE: i64 = 60;
/// How long a collection may be kept, in minutes.
const KEEP: u32 = 3;

/// A collection, or a page of one.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Collection {
    id: String,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributed_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_items: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part_of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ordered_items: Option<Vec<Item>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Item>>,
}

/// A member of a collection.
#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Uri(String),
    Object(Box<RawValue>),
}

impl Item {
    fn object(fragment: Fragment) -> Result<Self> {
        RawValue::from_string(fragment.into_string()).map(Self::Object).map_err(Error::internal)
    }
}

fn served(collection: &Collection) -> Result<Served> {
    Ok(Served::new(with_context(&Fragment::of(collection)?), KEEP))
}

/// A collection of which only the first page is named.
fn beginning(id: String) -> Result<Served> {
    let first = Some(format!("{id}?page=true"));
    served(&Collection { id, kind: "Collection", first, ..Collection::default() })
}

/// An ordered collection without members.
pub(super) fn empty(id: &str) -> Result<Served> {
    served(&Collection {
        id: id.to_owned(),
        kind: "OrderedCollection",
        total_items: Some(0),
        ordered_items: Some(Vec::new()),
        ..Collection::default()
    })
}

/// The statuses and reblogs of `account` that `viewer` may see.
pub(super) async fn outbox(cx: &Cx, account: &Account, page: &Page, viewer: Option<&Actor>) -> Result<Served> {
    let id = format!("{}/outbox", account.uri);
    if page.page.is_none() {
        let hidden = account.other_settings.hide_statuses_count;
        return served(&Collection {
            kind: "OrderedCollection",
            total_items: Some(if hidden { 0 } else { account.statuses_count }),
            first: Some(format!("{id}?page=true")),
            last: Some(format!("{id}?min_id=0&page=true")),
            id,
            ..Collection::default()
        });
    }
    let cursor = Cursor { max_id: page.max_id, min_id: page.min_id, ..Cursor::first(OUTBOX_PAGE) };
    let found = timeline::profile(cx, viewer, account.id, &ProfileQuery::default(), &cursor).await?;
    let ids: Vec<StatusId> = leaving(&found.shown);
    let items = activity::activities(cx, account, &in_order(cx, &ids).await?, Files::Served(&cx.urls)).await?;
    served(&Collection {
        id: format!("{id}?page=true"),
        kind: "OrderedCollectionPage",
        next: found.ids.last().map(|last| format!("{id}?max_id={last}&page=true")),
        prev: found.ids.first().map(|first| format!("{id}?min_id={first}&page=true")),
        part_of: Some(id),
        ordered_items: Some(items.into_iter().map(Item::object).collect::<Result<_>>()?),
        ..Collection::default()
    })
}

/// The ids of `shown` without statuses that stay on this server, which people without an account may be shown.
fn leaving(shown: &[Seen]) -> Vec<StatusId> {
    shown.iter().filter(|seen| !seen.is_local_only()).map(|seen| seen.head().id).collect()
}

/// The statuses `ids`, in that order.
async fn in_order(cx: &Cx, ids: &[StatusId]) -> Result<Vec<Status>> {
    let mut statuses = store::status::list(&cx.db, ids).await?;
    statuses.sort_by_key(|status| ids.iter().position(|id| *id == status.id));
    Ok(statuses)
}

/// The followers of `account` whose URIs begin with `origin`.
///
/// # Errors
/// [`Error::NotFound`] when that is disabled, or there are more than are compared: a part of them would end the others.
pub(super) async fn synchronization(cx: &Cx, account: &Account, origin: Option<&str>) -> Result<Served> {
    let origin = origin.filter(|_| cx.config.federation.followers_synchronization).ok_or(Error::NotFound)?;
    let most = i64::try_from(FOLLOWERS_MAX).map_err(Error::internal)?;
    let uris = store::synchronization::list_uris(&cx.db, account.id, &format!("{origin}/"), most + 1).await?;
    if uris.len() > FOLLOWERS_MAX {
        return Err(Error::NotFound);
    }
    served(&Collection {
        id: format!("{}/followers_synchronization", account.uri),
        kind: "OrderedCollection",
        ordered_items: Some(uris.into_iter().map(Item::Uri).collect()),
        ..Collection::default()
    })
}

/// The followers of `account`, or with `following` the accounts that it follows.
pub(super) async fn connected(cx: &Cx, account: &Account, page: &Page, following: bool) -> Result<Served> {
    let id = format!("{}/{}", account.uri, if following { "following" } else { "followers" });
    let settings = &account.other_settings;
    let hides_network = account.hide_collections.unwrap_or_default();
    let (count, hides_count) = match following {
        true => (account.following_count, settings.hide_following_count),
        false => (account.followers_count, settings.hide_followers_count),
    };
    let total_items = (!hides_count).then_some(count);
    let Some(number) = &page.page else {
        return served(&Collection {
            kind: "OrderedCollection",
            total_items,
            first: (!hides_network).then(|| format!("{id}?page=1")),
            id,
            ..Collection::default()
        });
    };
    if hides_network {
        return Err(Error::forbidden("This collection is hidden"));
    }
    let before = RowId::from(page.max_id.unwrap_or(i64::MAX));
    let rows = store::remote::list_connected(&cx.db, account.id, following, before, ACCOUNTS_PAGE).await?;
    let full = i64::try_from(rows.len()).is_ok_and(|count| count == ACCOUNTS_PAGE);
    let following_page = number.parse::<i64>().unwrap_or(1).saturating_add(1);
    let last = rows.last().map(|(row, _)| *row).filter(|_| full);
    served(&Collection {
        id: format!("{id}?page={number}"),
        kind: "OrderedCollectionPage",
        total_items,
        next: last.map(|last| format!("{id}?page={following_page}&max_id={last}")),
        part_of: Some(id),
        ordered_items: Some(rows.into_iter().map(|(_, uri)| Item::Uri(uri)).collect()),
        ..Collection::default()
    })
}

/// The statuses that `account` pinned, as far as `viewer` may see them.
pub(super) async fn featured(cx: &Cx, account: &Account, viewer: Option<&Actor>) -> Result<Served> {
    let pinned = service::public::pinned(cx, viewer, account).await?;
    let ids: Vec<StatusId> = leaving(&pinned);
    let statuses = in_order(cx, &ids).await?;
    let notes = activity::notes(cx, account, &statuses, Files::Served(&cx.urls)).await?;
    let item = |(status, note): (&Status, Fragment)| match status.visibility.is_anonymous() {
        true => Item::object(note),
        false => Ok(Item::Uri(status.uri.clone())),
    };
    served(&Collection {
        id: format!("{}/collections/featured", account.uri),
        kind: "OrderedCollection",
        total_items: Some(i64::try_from(notes.len()).unwrap_or(i64::MAX)),
        ordered_items: Some(statuses.iter().zip(notes).map(item).collect::<Result<_>>()?),
        ..Collection::default()
    })
}

/// The hashtags that `account` features; without `shown` none.
pub(super) async fn featured_tags(cx: &Cx, account: &Account, shown: bool) -> Result<Served> {
    let tags = if shown { store::featured_tag::list(&cx.db, account.id).await? } else { Vec::new() };
    let item = |name: &str| Item::object(Fragment::of(&FeaturedHashtag::new(&cx.urls, name))?);
    served(&Collection {
        id: format!("{}/collections/tags", account.uri),
        kind: "Collection",
        total_items: Some(i64::try_from(tags.len()).unwrap_or(i64::MAX)),
        items: Some(tags.iter().map(|tag| item(&tag.name)).collect::<Result<_>>()?),
        ..Collection::default()
    })
}

/// The replies to a status of `account` that everyone may read: the account's own, then replies of others.
pub(super) async fn replies(
    cx: &Cx,
    account: &Account,
    id: StatusId,
    page: &Page,
    viewer: Option<&Actor>,
) -> Result<Served> {
    note::original(cx, account, id, viewer).await?;
    let url = format!("{}/replies", urls::note(&account.uri, id));
    if page.page.is_none() {
        return beginning(url);
    }
    let after = StatusId::from(page.min_id.unwrap_or(0));
    let others = page.only_other_accounts;
    let rows = store::remote::list_replies(&cx.db, id, account.id, others, after, REPLIES_PAGE).await?;
    let full = i64::try_from(rows.len()).is_ok_and(|count| count == REPLIES_PAGE);
    let next = match rows.last().filter(|_| full) {
        Some((last, _)) => Some(format!("{url}?min_id={last}&page=true&only_other_accounts={others}")),
        None if !others => Some(format!("{url}?only_other_accounts=true&page=true")),
        None => None,
    };
    served(&Collection {
        id: format!("{url}?page=true&only_other_accounts={others}"),
        kind: "CollectionPage",
        part_of: Some(url),
        next,
        items: Some(rows.into_iter().map(|(_, uri)| Item::Uri(uri)).collect()),
        ..Collection::default()
    })
}

/// The counts of a status that have a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Likes,
    Shares,
}

/// The number of favourites or reblogs of a status of `account`.
pub(super) async fn counted(
    cx: &Cx,
    account: &Account,
    id: StatusId,
    counted: Counted,
    viewer: Option<&Actor>,
) -> Result<Served> {
    let head = *note::original(cx, account, id, viewer).await?.head();
    let (name, count) = match counted {
        Counted::Likes => ("likes", head.favourites_count),
        Counted::Shares => ("shares", head.reblogs_count),
    };
    served(&Collection {
        id: format!("{}/{name}", urls::note(&account.uri, id)),
        kind: "Collection",
        total_items: Some(count),
        ..Collection::default()
    })
}

/// The references of a status of `account` that everyone may read.
pub(super) async fn references(
    cx: &Cx,
    account: &Account,
    id: StatusId,
    page: &Page,
    viewer: Option<&Actor>,
) -> Result<Served> {
    note::original(cx, account, id, viewer).await?;
    let url = format!("{}/references", urls::note(&account.uri, id));
    if page.page.is_none() {
        return beginning(url);
    }
    let after = page.min_id.unwrap_or(0);
    let mut rows = store::reference::list_public(&cx.db, &[id], RowId::from(after)).await?;
    let more = rows.len() > REFERENCES_PAGE;
    rows.truncate(REFERENCES_PAGE);
    let next = rows.last().filter(|_| more).map(|(_, last, _)| format!("{url}?min_id={last}&page=true"));
    served(&Collection {
        id: if after == 0 { format!("{url}?page=true") } else { format!("{url}?min_id={after}&page=true") },
        kind: "CollectionPage",
        part_of: Some(url),
        next,
        items: Some(rows.into_iter().map(|(_, _, uri)| Item::Uri(uri)).collect()),
        ..Collection::default()
    })
}

/// The statuses of a conversation that everyone may read, oldest first.
///
/// # Errors
/// [`Error::NotFound`] when there is none.
pub(super) async fn thread(cx: &Cx, id: ConversationId, page: &Page) -> Result<Served> {
    let url = cx.urls.path(&format!("/contexts/{id}"));
    if page.page.is_none() {
        let start = store::remote::list_thread(&cx.db, id, StatusId::from(0), 1).await?.pop().ok_or(Error::NotFound)?;
        return served(&Collection {
            kind: "OrderedCollection",
            // A thread that began with a status for fewer readers names no author.
            attributed_to: start.first.then_some(start.author),
            first: Some(format!("{url}?page=true")),
            id: url,
            ..Collection::default()
        });
    }
    let after = page.min_id.unwrap_or(0);
    let rows = store::remote::list_thread(&cx.db, id, StatusId::from(after), THREAD_PAGE).await?;
    if rows.is_empty() && after == 0 {
        return Err(Error::NotFound);
    }
    let full = i64::try_from(rows.len()).is_ok_and(|count| count == THREAD_PAGE);
    let next = rows.last().filter(|_| full).map(|last| format!("{url}?min_id={}&page=true", last.id));
    served(&Collection {
        id: if after == 0 { format!("{url}?page=true") } else { format!("{url}?min_id={after}&page=true") },
        kind: "OrderedCollectionPage",
        part_of: Some(url),
        next,
        ordered_items: Some(rows.into_iter().map(|row| Item::Uri(row.uri)).collect()),
        ..Collection::default()
    })
}
