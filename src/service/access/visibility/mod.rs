//! Visibility: the single place that decides who may see which status.
//!
//! Every read path, for a single status as well as a page, calls [`statuses`] or [`status`]. The facts about the
//! statuses and their authors come from one statement for the whole page, or from memory ([`heads`]), the viewer's
//! interactions from another ([`store::interaction`]), and the viewer's follows, blocks and mutes from memory
//! ([`relations`]). The decision is [`may_see`] and [`wants`], plain Rust, so that there is no second form of the
//! rule in SQL that could differ. Rendering takes only [`Seen`], and only this module creates one. Hidden statuses
//! look the same as missing ones.
//!
//! Spec: docs/contract/rules.md#7-access-modes, docs/contract/rules.md#9-accounts, docs/contract/rules.md#10-statuses
//! and docs/contract/rules.md#12-timelines.

mod quote;
mod view;

use std::sync::Arc;

use self::quote::{find, show_quote, with_quoted};
use self::view::{View, domain_blocked, is_addressed, is_own, may_see, tie, wants};
use crate::{heads, relations};
use context::Cx;
use context::error::{Error, Result};
use model::{AccountId, Actor, StatusId};
use store::interaction::Marks;
use store::status::Head;

pub use self::quote::{QuoteView, Quoted, ShallowQuote, ShownState};
pub(crate) use self::view::reads_local_only;
pub use self::view::{Marked, Permissions, Place};

/// A status that its viewer may see, with the original when it is a reblog. Only this module creates one.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    head: Head,
    original: Option<Head>,
    marked: Marked,
    blocking: bool,
    quote: Option<QuoteView>,
}

impl Seen {
    /// The status itself, or the reblog.
    #[must_use]
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The original, when this is a reblog.
    #[must_use]
    pub fn original(&self) -> Option<&Head> {
        self.original.as_ref()
    }

    /// The status that favourites, bookmarks and reblogs apply to: the original of a reblog, else the status itself.
    #[must_use]
    pub fn proper(&self) -> &Head {
        self.original.as_ref().unwrap_or(&self.head)
    }

    /// The viewer's interactions with [`Seen::proper`].
    #[must_use]
    pub fn marked(&self) -> Marked {
        self.marked
    }

    /// The quote of [`Seen::proper`].
    #[must_use]
    pub fn quote(&self) -> Option<&QuoteView> {
        self.quote.as_ref()
    }

    /// The status quoted by [`Seen::proper`], if the viewer may see it.
    #[must_use]
    pub fn quoted(&self) -> Option<&Quoted> {
        self.quote.as_ref()?.quoted.as_ref()
    }

    /// True when it stays on this server: other servers never receive it, whatever the settings show to people.
    #[must_use]
    pub fn is_local_only(&self) -> bool {
        self.head.local_only || self.original.is_some_and(|original| original.local_only)
    }

    /// True when the viewer blocks the author, or the author of the original.
    #[must_use]
    pub fn is_blocking(&self) -> bool {
        self.blocking
    }
}

/// The statuses of `ids` that `viewer` may see and has not filtered from `place`, in the order given.
#[model::use_case]
pub async fn statuses(cx: &Cx, viewer: Option<&Actor>, place: Place, ids: &[StatusId]) -> Result<Vec<Seen>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let heads = with_quoted(cx, heads::find(cx, ids).await?).await?;
    let view = match viewer {
        None => None,
        Some(viewer) => Some(View::load(cx, viewer, &heads).await?),
    };
    let shown = |(head, original): (&Head, Option<&Head>)| {
        let quote = show_quote(cx, viewer, view.as_ref(), &heads, original.unwrap_or(head));
        Some(Seen { quote, ..show(cx, viewer, view.as_ref(), place, head, original)? })
    };
    Ok(pairs(&heads, ids).filter_map(shown).collect())
}

/// The status `id` as visible to each of `viewers` who did not filter it from `place`, with the index of the viewer.
/// One statement for all of them, and one for each whose relations changed since they were last read.
#[model::use_case]
pub async fn seen_by(cx: &Cx, viewers: &[Arc<Actor>], place: Place, id: StatusId) -> Result<Vec<(usize, Seen)>> {
    let heads = with_quoted(cx, heads::find(cx, &[id]).await?).await?;
    let ids = [id];
    let Some((head, original)) = pairs(&heads, &ids).next() else { return Ok(Vec::new()) };
    let views = View::load_each(cx, viewers, &heads).await?;
    let seen = views.iter().zip(viewers).enumerate().filter_map(|(index, (view, viewer))| {
        let seen = show(cx, Some(viewer), Some(view), place, head, original)?;
        let quote = show_quote(cx, Some(viewer), Some(view), &heads, original.unwrap_or(head));
        Some((index, Seen { quote, ..seen }))
    });
    Ok(seen.collect())
}

/// Each status of `wanted` as visible to its viewer, in order; `None` if it is hidden or filtered from `place`. As
/// many statements as for [`seen_by`], regardless of the number.
pub async fn seen_each(cx: &Cx, place: Place, wanted: &[(Arc<Actor>, StatusId)]) -> Result<Vec<Option<Seen>>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let (mut viewers, mut ids): (Vec<Arc<Actor>>, Vec<StatusId>) = wanted.iter().cloned().unzip();
    viewers.sort_unstable_by_key(|viewer| viewer.id);
    viewers.dedup_by_key(|viewer| viewer.id);
    ids.sort_unstable();
    ids.dedup();
    let heads = with_quoted(cx, heads::find(cx, &ids).await?).await?;
    let views = View::load_each(cx, &viewers, &heads).await?;
    let seen = |(viewer, id): &(Arc<Actor>, StatusId)| {
        let view = viewers.binary_search_by_key(&viewer.id, |one| one.id).ok().map(|index| &views[index]);
        let head = find(&heads, *id)?;
        let original = head.reblog_of_id.and_then(|original| find(&heads, original));
        let quote = show_quote(cx, Some(viewer), view, &heads, original.unwrap_or(head));
        Some(Seen { quote, ..show(cx, Some(viewer), view, place, head, original)? })
    };
    Ok(wanted.iter().map(seen).collect())
}

/// The status `id` as visible to everyone who is signed in, for public streams. `None` when its audience is smaller,
/// or it was deleted.
#[model::use_case]
pub async fn seen_publicly(cx: &Cx, id: StatusId) -> Result<Option<Seen>> {
    let heads = with_quoted(cx, heads::find(cx, &[id]).await?).await?;
    let Some(head) = find(&heads, id).filter(|head| head.reblog_of_id.is_none()) else { return Ok(None) };
    if is_addressed(head) || head.approval.is_some() || head.author_suspended || head.author_limited {
        return Ok(None);
    }
    let quote = show_quote(cx, None, None, &heads, head);
    Ok(Some(Seen { head: *head, original: None, marked: Marked::default(), blocking: false, quote }))
}

/// The indexes of the `viewers` who may receive the public status `seen` in streams: they may see it, did not filter
/// its author from public timelines, and neither block nor mute an account that it mentions
/// (docs/contract/streaming.md#8-server-side-filtering).
#[model::use_case]
pub async fn receivers(
    cx: &Cx,
    viewers: &[Arc<Actor>],
    seen: &Seen,
    mentioned: &[AccountId],
    local: bool,
) -> Result<Vec<usize>> {
    let (head, place, now) = (seen.head(), Place::Public { local }, cx.clock.now());
    let mut receivers = Vec::with_capacity(viewers.len());
    for (index, viewer) in viewers.iter().enumerate() {
        let relations = relations::of(cx, viewer).await?;
        let domain_blocked = domain_blocked(cx, &relations, std::slice::from_ref(head)).await?;
        let view = View {
            viewer: viewer.id,
            remote: viewer.remote,
            relations,
            marks: Marks::default(),
            domain_blocked,
            followed_by: Vec::new(),
            waiting: Vec::new(),
            now,
        };
        let tie = view.tie(head);
        let unwanted =
            |account: &AccountId| view.relations.is_blocking(*account) || view.relations.is_muting(*account, now);
        let shown = may_see(Some(viewer), head, &tie, place) && wants(Some(viewer), head, &tie, place);
        if shown && (is_own(Some(viewer), head) || !mentioned.iter().any(unwanted)) {
            receivers.push(index);
        }
    }
    Ok(receivers)
}

/// The status of `head` as `viewer` sees it; `None` when it, or the original of a reblog, is missing, hidden or
/// filtered.
fn show(
    cx: &Cx,
    viewer: Option<&Actor>,
    view: Option<&View>,
    place: Place,
    head: &Head,
    original: Option<&Head>,
) -> Option<Seen> {
    if head.reblog_of_id.is_some() && original.is_none() {
        return None;
    }
    let mut blocking = false;
    for head in [Some(head), original].into_iter().flatten() {
        let tie = tie(cx, view, head);
        if !may_see(viewer, head, &tie, place) || !wants(viewer, head, &tie, place) {
            return None;
        }
        blocking |= tie.blocking;
    }
    let marked = view.map_or_else(Marked::default, |view| view.marked(original.unwrap_or(head)));
    Some(Seen { head: *head, original: original.copied(), marked, blocking, quote: None })
}

/// The existing statuses of `ids`, in the order given, regardless of visibility. For plugins that may read
/// everything.
#[model::use_case]
pub async fn everything(cx: &Cx, ids: &[StatusId]) -> Result<Vec<Seen>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let heads = heads::find(cx, ids).await?;
    let seen = pairs(&heads, ids).map(|(head, original)| Seen {
        head: *head,
        original: original.copied(),
        marked: Marked::default(),
        blocking: false,
        quote: None,
    });
    Ok(seen.collect())
}

/// The status, if `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden, without a difference between the two.
#[model::use_case]
pub async fn status(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<Seen> {
    statuses(cx, viewer, Place::Single, &[id]).await?.pop().ok_or(Error::NotFound)
}

/// The heads of `ids` in the order given, each with the head of its original; `heads` is ordered by id.
fn pairs<'a>(heads: &'a [Head], ids: &'a [StatusId]) -> impl Iterator<Item = (&'a Head, Option<&'a Head>)> {
    ids.iter().filter_map(|id| {
        let head = find(heads, *id)?;
        Some((head, head.reblog_of_id.and_then(|original| find(heads, original))))
    })
}
