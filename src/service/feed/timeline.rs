//! Timelines: home, lists, public, hashtag, link, profile, favourites, bookmarks and threads, by keyset pagination.
//!
//! A page is selected by ids first and then filtered by visibility, so it may be shorter than requested while its
//! cursors stay right (docs/contract/rules.md#4-pagination and docs/contract/rules.md#12-timelines). [`visibility`]
//! decides which statuses a viewer may see.

use std::collections::HashSet;

use crate::feed::feed_access::{self, Part, Unreadable};
use crate::feed::refresh::{self, Refresh};
use crate::feed::replies;
use crate::trend::card_review;
use crate::visibility::{self, Place, Seen};
use crate::{list, locale, relations};
use context::Cx;
use context::error::{Error, Result};
use context::queue::{self, Rebuild};
use model::settings::ServerFeed;
use model::{AccountId, Actor, Cursor, RowId, StatusId, TagId, Visibility};
use store::feed::{Entries, Feed, Source};
use store::timeline::{ProfileFilter, PublicFilter, TagFilter};

/// Most additional hashtags considered per option (any, all, none).
const MORE_TAGS: usize = 4;
/// Limits of ancestors, descendants and depth of a thread for signed-in viewers.
const FULL_CONTEXT: (i64, i64, i64) = (4096, 4096, 4096);
/// The same for anonymous viewers.
const PUBLIC_CONTEXT: (i64, i64, i64) = (40, 60, 20);

/// A page: the ids before filtering, newest first, and the statuses visible among them.
#[derive(Debug, Default)]
pub struct TimelinePage {
    /// Ids for the cursors.
    pub ids: Vec<i64>,
    /// The visible statuses.
    pub shown: Vec<Seen>,
}

async fn visible_page(cx: &Cx, viewer: Option<&Actor>, place: Place, ids: Vec<StatusId>) -> Result<TimelinePage> {
    let shown = visibility::statuses(cx, viewer, place, &ids).await?;
    Ok(TimelinePage { ids: ids.into_iter().map(i64::from).collect(), shown })
}

/// The home timeline of `viewer`, and whether it is still being rebuilt after a long absence.
#[model::use_case]
pub async fn home(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<(TimelinePage, bool)> {
    rebuild(cx, viewer).await?;
    Ok((feed_page(cx, viewer, Feed::home(viewer.id), cursor).await?, !viewer.feed_live))
}

/// The timeline of one of the viewer's lists; empty while it is being rebuilt after a long absence, as home is.
///
/// # Errors
/// [`Error::NotFound`] when the list is missing or someone else's.
#[model::use_case]
pub async fn list(cx: &Cx, viewer: &Actor, id: RowId, cursor: &Cursor) -> Result<TimelinePage> {
    let list = list::find(cx, viewer, id).await?;
    rebuild(cx, viewer).await?;
    feed_page(cx, viewer, Feed::list(list.id), cursor).await
}

/// Queues the rebuild of the feeds of `actor`, if they were dropped.
async fn rebuild(cx: &Cx, actor: &Actor) -> Result<()> {
    if !actor.feed_live {
        let mut tx = cx.db.begin().await?;
        queue::enqueue(cx, &mut tx, &Rebuild { account: actor.id }).await?;
        tx.commit().await?;
    }
    Ok(())
}

/// Reads all entries, and reads them again without deleted statuses only if some were not shown: most pages have no
/// deleted status.
async fn feed_page(cx: &Cx, viewer: &Actor, feed: Feed, cursor: &Cursor) -> Result<TimelinePage> {
    let feed = Source::Feed(feed);
    let all = store::feed::page(&cx.db, feed, Entries::All, cursor).await?;
    let page = visible_page(cx, Some(viewer), Place::Home, all.clone()).await?;
    if page.shown.len() == all.len() {
        return Ok(page);
    }
    let existing = store::feed::page(&cx.db, feed, Entries::Existing, cursor).await?;
    if existing == all { Ok(page) } else { visible_page(cx, Some(viewer), Place::Home, existing).await }
}

/// Options of a public or hashtag timeline.
#[derive(Clone, Debug, Default)]
pub struct TimelineQuery {
    pub local: bool,
    pub remote: bool,
    pub only_media: bool,
    pub any: Vec<String>,
    pub all: Vec<String>,
    pub none: Vec<String>,
    /// What happens when the viewer may not read both the statuses of this server and those of other servers.
    pub unreadable: Unreadable,
    /// `lang` of the request.
    pub lang: Option<String>,
    /// `Accept-Language` of the request.
    pub accept_language: Option<String>,
}

impl TimelineQuery {
    /// The part of a feed that it selects.
    fn part(&self) -> Part {
        Part::new(self.local, self.remote)
    }
}

/// The public timeline.
///
/// # Errors
/// [`Error::Unauthorized`] when there is no viewer, and not everyone may read it.
#[model::use_case]
pub async fn public(cx: &Cx, viewer: Option<&Actor>, wanted: &TimelineQuery, cursor: &Cursor) -> Result<TimelinePage> {
    let requested = wanted.part();
    let readable = feed_access::readable(cx, viewer, ServerFeed::Live, requested, wanted.unreadable)?;
    let Some(Part { local, remote }) = readable else { return Ok(TimelinePage::default()) };
    let filter =
        PublicFilter { local, remote, only_media: wanted.only_media, languages: languages(cx, viewer, wanted) };
    let ids = store::timeline::public(&cx.db, &filter, cursor).await?;
    visible_page(cx, viewer, Place::Public { local: wanted.local }, ids).await
}

/// The languages to filter by: the viewer's choice, else the language of the account or request; empty means no
/// filter.
fn languages(cx: &Cx, viewer: Option<&Actor>, wanted: &TimelineQuery) -> Vec<String> {
    if !cx.config.timelines.filter_by_locale {
        return locale::chosen(viewer);
    }
    locale::languages(viewer, wanted.lang.as_deref(), wanted.accept_language.as_deref())
}

/// The timeline of a hashtag; empty for an unknown one.
///
/// # Errors
/// As [`public`].
#[model::use_case]
pub async fn tag(
    cx: &Cx,
    viewer: Option<&Actor>,
    name: &str,
    wanted: &TimelineQuery,
    cursor: &Cursor,
) -> Result<TimelinePage> {
    let requested = wanted.part();
    let readable = feed_access::readable(cx, viewer, ServerFeed::Topic, requested, wanted.unreadable)?;
    let Some(Part { local, remote }) = readable else { return Ok(TimelinePage::default()) };
    let normal = |names: &[String]| {
        names
            .iter()
            .filter_map(|name| text::hashtag::normalise(text::hashtag::bare(name)))
            .take(MORE_TAGS)
            .collect::<Vec<_>>()
    };
    let (any, all, none) = (normal(&wanted.any), normal(&wanted.all), normal(&wanted.none));
    let Some(name) = text::hashtag::normalise(text::hashtag::bare(name)) else { return Ok(TimelinePage::default()) };
    let names: Vec<String> = [&any, &all, &none].into_iter().flatten().chain([&name]).cloned().collect();
    let known = store::tag::list_by_names(&cx.db, &names).await?;
    let ids = |names: &[String]| {
        names
            .iter()
            .filter_map(|name| known.iter().find(|(_, known)| known == name))
            .map(|(id, _)| *id)
            .collect::<Vec<TagId>>()
    };
    let all_known = ids(&all);
    if all_known.len() < all.len() {
        return Ok(TimelinePage::default());
    }
    let filter = TagFilter { local, remote, only_media: wanted.only_media, all: all_known, none: ids(&none) };
    let mut statuses = Vec::new();
    for tag in ids(&[any, vec![name]].concat()) {
        statuses.extend(store::timeline::tag(&cx.db, tag, &filter, cursor).await?);
    }
    let statuses = cut(statuses, cursor);
    visible_page(cx, viewer, Place::Public { local: wanted.local }, statuses).await
}

/// The public statuses with the link `url`, by authors who opted in to discovery.
///
/// # Errors
/// [`Error::NotFound`] unless the link may be shown as a trend, and as [`public`].
#[model::use_case]
pub async fn link(cx: &Cx, viewer: Option<&Actor>, url: &str, cursor: &Cursor) -> Result<TimelinePage> {
    let whole = Part { local: false, remote: false };
    let readable = feed_access::readable(cx, viewer, ServerFeed::Topic, whole, Unreadable::Refuse)?;
    let mut statuses = Vec::new();
    let cards = card_review::approved(cx, url).await?;
    let Some(Part { local, remote }) = readable else { return Ok(TimelinePage::default()) };
    for card in cards {
        statuses.extend(store::timeline::link(&cx.db, card, local, remote, cursor).await?);
    }
    visible_page(cx, viewer, Place::Public { local: false }, cut(statuses, cursor)).await
}

/// Merges several pages into one, newest first.
fn cut(mut ids: Vec<StatusId>, cursor: &Cursor) -> Vec<StatusId> {
    ids.sort_unstable();
    ids.dedup();
    let limit = usize::try_from(cursor.limit).unwrap_or_default();
    if cursor.ascending() {
        ids.truncate(limit);
        ids.reverse();
    } else {
        ids.reverse();
        ids.truncate(limit);
    }
    ids
}

/// Options of an account's statuses.
#[derive(Clone, Debug, Default)]
pub struct ProfileQuery {
    pub pinned: bool,
    pub only_media: bool,
    pub exclude_replies: bool,
    pub exclude_reblogs: bool,
    pub exclude_direct: bool,
    pub tagged: Option<String>,
}

/// The statuses of an account, or only the pinned ones.
///
/// # Errors
/// [`Error::NotFound`] when there is no such account.
#[model::use_case]
pub async fn profile(
    cx: &Cx,
    viewer: Option<&Actor>,
    account: AccountId,
    wanted: &ProfileQuery,
    cursor: &Cursor,
) -> Result<TimelinePage> {
    let found = store::account::find(&cx.db, account).await?.ok_or(Error::NotFound)?;
    if found.is_suspended() {
        return Ok(TimelinePage::default());
    }
    if wanted.pinned {
        let pins = store::timeline::pinned(&cx.db, account, cursor).await?;
        return marked(cx, viewer, Place::Profile, pins).await;
    }
    let tagged = match wanted.tagged.as_deref().filter(|name| !name.is_empty()) {
        None => None,
        Some(name) => {
            let name = text::hashtag::normalise(text::hashtag::bare(name)).unwrap_or_default();
            match store::tag::list_by_names(&cx.db, &[name]).await?.first() {
                Some((id, _)) => Some(*id),
                None => return Ok(TimelinePage::default()),
            }
        }
    };
    let filter = ProfileFilter {
        only_media: wanted.only_media,
        exclude_replies: wanted.exclude_replies,
        exclude_reblogs: wanted.exclude_reblogs,
        exclude_direct: wanted.exclude_direct,
        exclude_local_only: !visibility::reads_local_only(cx, viewer),
        tagged,
    };
    let audience = audience(cx, viewer, account).await?;
    let ids =
        store::timeline::profile(&cx.db, account, viewer.map(|actor| actor.id), &audience, &filter, cursor).await?;
    visible_page(cx, viewer, Place::Profile, ids).await
}

/// The visibilities of an account's statuses that `viewer` may see without being mentioned. Only narrows the query;
/// [`visibility`] decides.
async fn audience(cx: &Cx, viewer: Option<&Actor>, account: AccountId) -> Result<Vec<Visibility>> {
    let mut open = vec![Visibility::Public, Visibility::PublicUnlisted, Visibility::Unlisted];
    let Some(actor) = viewer else { return Ok(open) };
    open.push(Visibility::Login);
    if actor.id == account {
        return Ok(Visibility::ALL.to_vec());
    }
    if relations::of(cx, actor).await?.is_following(account) {
        open.push(Visibility::Private);
    }
    Ok(open)
}

async fn marked(
    cx: &Cx,
    viewer: Option<&Actor>,
    place: Place,
    rows: Vec<(model::RowId, StatusId)>,
) -> Result<TimelinePage> {
    let statuses: Vec<StatusId> = rows.iter().map(|(_, status)| *status).collect();
    let shown = visibility::statuses(cx, viewer, place, &statuses).await?;
    Ok(TimelinePage { ids: rows.into_iter().map(|(row, _)| i64::from(row)).collect(), shown })
}

/// The favourites of `viewer`.
#[model::use_case]
pub async fn favourites(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<TimelinePage> {
    marked(cx, Some(viewer), Place::Collection, store::timeline::favourites(&cx.db, viewer.id, cursor).await?).await
}

/// The bookmarks of `viewer`.
#[model::use_case]
pub async fn bookmarks(cx: &Cx, viewer: &Actor, cursor: &Cursor) -> Result<TimelinePage> {
    marked(cx, Some(viewer), Place::Collection, store::timeline::bookmarks(&cx.db, viewer.id, cursor).await?).await
}

/// Ancestors of a status, root first, and its descendants, depth first.
#[derive(Debug)]
pub struct Thread {
    pub ancestors: Vec<Seen>,
    pub descendants: Vec<Seen>,
    pub references: Vec<Seen>,
    /// The visit to the server of the thread that is queued or running.
    pub refresh: Option<Refresh>,
}

/// The thread around a status. Its references are separate `with_references`, else they follow the ancestors.
///
/// # Errors
/// [`Error::NotFound`] when the status is missing or hidden.
#[model::use_case]
pub async fn context(cx: &Cx, viewer: Option<&Actor>, id: StatusId, with_references: bool) -> Result<Thread> {
    let seen = visibility::status(cx, viewer, id).await?;
    let head = seen.proper();
    let is_remote = || cx.caches.domains.get(&head.account_id).is_none_or(|domain| domain.is_some());
    let refresh = if viewer.is_some() && is_remote() && replies::revisit(cx, head.id).await? {
        Some(refresh::begin(cx, head.id).await?)
    } else {
        None
    };
    let (up, down, depth) = if viewer.is_some() { FULL_CONTEXT } else { PUBLIC_CONTEXT };
    let ancestors = store::timeline::ancestors(&cx.db, head.id, up).await?;
    let replies = store::timeline::descendants(&cx.db, head.id, depth, down).await?;
    let descendants = depth_first(head.id, head.account_id, replies);
    let thread: HashSet<StatusId> = ancestors.iter().chain(&descendants).copied().chain([head.id]).collect();
    let referred =
        if head.has_references { store::reference::list_targets(&cx.db, &[head.id]).await? } else { Vec::new() };
    let referred = referred.into_iter().map(|(_, target)| target);
    let referred: Vec<StatusId> = referred.filter(|id| with_references || !thread.contains(id)).collect();
    // In the order of the response. With separate references, one of them may be in the thread as well.
    let all: Vec<StatusId> = ancestors.iter().chain(&referred).chain(&descendants).copied().collect();
    let shown = visibility::statuses(cx, viewer, Place::Thread, &all).await?;
    let among = |ids: &[StatusId]| {
        let ids: HashSet<StatusId> = ids.iter().copied().collect();
        let mut found: Vec<Seen> = shown.iter().filter(|seen| ids.contains(&seen.head().id)).copied().collect();
        let mut known = HashSet::new();
        found.retain(|seen| known.insert(seen.head().id));
        found
    };
    let (mut above, beside) = (among(&ancestors), among(&referred));
    let references = if with_references {
        beside
    } else {
        above.extend(beside);
        Vec::new()
    };
    Ok(Thread { ancestors: above, descendants: among(&descendants), references, refresh })
}

/// Orders replies depth first, the author's replies to themselves first.
fn depth_first(root: StatusId, author: AccountId, replies: Vec<store::timeline::Reply>) -> Vec<StatusId> {
    let mut children: std::collections::HashMap<StatusId, Vec<store::timeline::Reply>> =
        std::collections::HashMap::new();
    for reply in replies {
        children.entry(reply.parent).or_default().push(reply);
    }
    let mut ordered = Vec::new();
    let mut waiting = Vec::new();
    let mut push = |waiting: &mut Vec<StatusId>, parent: StatusId| {
        if let Some(mut answers) = children.remove(&parent) {
            answers.sort_by_key(|reply| (parent != root || reply.account_id != author, reply.id));
            waiting.extend(answers.into_iter().rev().map(|reply| reply.id));
        }
    };
    push(&mut waiting, root);
    while let Some(id) = waiting.pop() {
        ordered.push(id);
        push(&mut waiting, id);
    }
    ordered
}
