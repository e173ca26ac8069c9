//! Collections of other servers: their sizes, and a bounded number of their members.

use std::collections::HashSet;

use context::Cx;

use super::document;
use crate::Failure;
use crate::address::same_host;
use crate::vocabulary::{Collection, Object, Reference, parse};

/// Most pages of one collection.
const PAGES_MAX: usize = 5;

/// The part of a collection that was read.
#[derive(Debug, Default)]
pub(super) struct Members {
    /// Number of members as the server states it.
    pub(super) total: Option<i64>,
    /// In the order of the collection.
    pub(super) items: Vec<Object>,
}

/// Fetches the collection at `url` with up to `most` of its members, page by page on the same host. Without `most` only
/// its size.
///
/// # Errors
/// [`Failure`] of the collection itself; a page that fails ends it.
pub(super) async fn members(cx: &Cx, url: &str, most: usize) -> Result<Members, Failure> {
    let collection = collection(cx, url).await?;
    let total = collection.total_items.filter(|total| *total >= 0);
    let mut found = Members { total, items: Vec::new() };
    let mut visited = HashSet::from([url.to_owned()]);
    let mut page = collection;
    loop {
        let left = most.saturating_sub(found.items.len());
        found.items.extend(page.members().take(left).cloned());
        if found.items.len() >= most || visited.len() > PAGES_MAX {
            return Ok(found);
        }
        page = match next(&page) {
            Some(Reference::Inline(first)) => *first,
            Some(Reference::Id(next)) if same_host(&next, url) && visited.insert(next.clone()) => {
                match self::collection(cx, &next).await {
                    Ok(page) => page,
                    Err(failure @ Failure::Local(_)) => return Err(failure),
                    Err(_) => return Ok(found),
                }
            }
            Some(Reference::Id(_)) | None => return Ok(found),
        };
    }
}

/// The ids of all members of the collection at `url`, read on the same host; `None` when there are more than `most`, more
/// than `pages` pages, or fewer than it states: a part would be taken for the whole.
///
/// # Errors
/// [`Failure`] of the collection or one of its pages, and [`Failure::Disbelieved`] for a document that is no collection
/// with this address.
pub(crate) async fn whole(cx: &Cx, url: &str, most: usize, pages: usize) -> Result<Option<HashSet<String>>, Failure> {
    let fetched = document(cx, url).await?;
    let mut page: Collection = parse(&fetched.body)?;
    if !page.kind.iter().any(|kind| matches!(kind.as_str(), "Collection" | "OrderedCollection"))
        || !page.id.0.as_deref().is_some_and(|id| fetched.is(id, url))
    {
        return Err(Failure::Disbelieved("no collection with this address"));
    }
    let total = page.total_items.unwrap_or(0);
    let (mut found, mut visited) = (HashSet::new(), HashSet::from([url.to_owned()]));
    loop {
        found.extend(page.members().filter_map(|member| member.id.clone()));
        if found.len() > most {
            return Ok(None);
        }
        page = match next(&page) {
            None => break,
            Some(Reference::Inline(first)) => *first,
            Some(Reference::Id(next)) if same_host(&next, url) && visited.insert(next.clone()) => {
                if visited.len() > pages + 1 {
                    return Ok(None);
                }
                collection(cx, &next).await?
            }
            Some(Reference::Id(_)) => return Ok(None),
        };
    }
    let stated = usize::try_from(total).unwrap_or(usize::MAX);
    Ok((found.len() >= stated).then_some(found))
}

/// The page after `page`, or the first one of a collection.
fn next(page: &Collection) -> Option<Reference<Collection>> {
    let first = page.first.0.as_ref().map(|first| match first {
        Reference::Inline(first) => {
            Reference::Inline(Box::new(Collection { first: Default::default(), ..(**first).clone() }))
        }
        Reference::Id(first) => Reference::Id(first.clone()),
    });
    first.or_else(|| page.next.as_ref().map(|next| Reference::Id(next.0.clone())))
}

async fn collection(cx: &Cx, url: &str) -> Result<Collection, Failure> {
    let fetched = document(cx, url).await?;
    if !same_host(&fetched.url, url) {
        return Err(Failure::Disbelieved("the collection is on another host"));
    }
    Ok(parse(&fetched.body)?)
}
