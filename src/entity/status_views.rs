//! One status for many viewers: rendered once for each distinct view.
//!
//! Reached from streaming. Most receivers of a new status have not interacted with it and have no matching filter, so
//! they share one view. [`status`](super::status) renders a page for one viewer.
//!
//! Design: docs/architecture.md#5-changes-jobs-streaming.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};

use super::filter_result::{self, Filtered, What};
use super::status::{Parts, heads_of, proper_of};
use super::status_added::added;
use super::{account, poll};
use context::Cx;
use context::by_id::ById;
use context::error::Result;
use context::extension::{Entity, Members};
use context::json::{Array, Fragment};
use model::{Actor, StatusId};
use service::visibility::{Marked, Seen, ShallowQuote, ShownState};

/// How many viewers are sent to extensions concurrently.
const ASKED_AT_ONCE: usize = 4;

/// The parts of a status that depend on the viewer.
#[derive(Debug, PartialEq, Eq, Hash)]
struct View {
    marked: Marked,
    /// The state of the quote.
    quote: Option<ShownState>,
    /// The visible quoted status: its id, the viewer's interactions, whether it is muted, and its own quote.
    quoted: Option<(StatusId, Marked, bool, Option<ShallowQuote>)>,
    /// Whether the status, the original and the quote are the viewer's own.
    own: [bool; 3],
    filtered: Vec<(StatusId, String)>,
    quoted_filtered: Vec<(StatusId, String)>,
    polls: Vec<(StatusId, String)>,
    added: Vec<(StatusId, Members)>,
}

/// Renders one status for each of `seen`, in order: the viewer, and the status as visible to them.
///
/// # Errors
/// [`Error::Plugin`](context::Error::Plugin) when a plugin whose members are required does not respond.
pub async fn render_each(cx: &Cx, seen: &[(Arc<Actor>, Seen)]) -> Result<Vec<Option<Arc<str>>>> {
    let Some((_, first)) = seen.first() else { return Ok(Vec::new()) };
    let shared = Shared::load(cx, seen).await?;
    let added = shared.added(cx, seen).await;
    let polls = poll::render_each(cx, seen.iter().map(|(viewer, _)| viewer.id), heads_of(first)).await?;
    let mut rendered: HashMap<View, Option<Arc<str>>> = HashMap::new();
    let mut all = Vec::with_capacity(seen.len());
    for (index, (viewer, seen)) in seen.iter().enumerate() {
        let polls = polls.as_ref().map(|polls| polls.of(viewer.id)).unwrap_or_default();
        let filtered = shared.filtered(cx, viewer, seen, &polls).await?;
        let added = added.get(index).cloned().unwrap_or_default();
        let view = View::of(viewer, seen, &filtered, &polls, &added);
        let text = match rendered.get(&view) {
            Some(text) => text.clone(),
            None => {
                let parts = shared.parts(viewer, polls, filtered, added);
                let text = parts.entry(seen).map(|entry| Arc::from(parts.fragment(&entry).as_str()));
                rendered.entry(view).or_insert(text).clone()
            }
        };
        all.push(text);
    }
    Ok(all)
}

/// Renders the status of each `Some` of `seen`, in order: once for all viewers with the same view. The rows of
/// several statuses are read together.
///
/// # Errors
/// As [`render_each`].
pub(super) async fn render_pairs(cx: &Cx, seen: &[Option<(Arc<Actor>, Seen)>]) -> Result<Vec<Option<Arc<str>>>> {
    let mut places: BTreeMap<StatusId, Vec<usize>> = BTreeMap::new();
    for (place, seen) in seen.iter().enumerate() {
        if let Some((_, seen)) = seen {
            places.entry(seen.head().id).or_default().push(place);
        }
    }
    if places.len() > 1 {
        // Fills the caches.
        Parts::shared(cx, seen.iter().flatten().map(|(_, seen)| seen), &[]).await?;
    }
    let mut all = vec![None; seen.len()];
    for places in places.into_values() {
        let viewers: Vec<_> = places.iter().filter_map(|place| seen[*place].clone()).collect();
        for (place, rendered) in places.iter().zip(render_each(cx, &viewers).await?) {
            all[*place] = rendered;
        }
    }
    Ok(all)
}

/// Renders the public status `seen` for streams of public timelines: without a viewer, with the member `filtered` of
/// each of `viewers`, in order. Ignores statuses that were added to a filter
/// (docs/contract/streaming.md#8-server-side-filtering).
///
/// # Errors
/// As [`render_each`].
pub async fn render_publicly(cx: &Cx, seen: &Seen, viewers: &[Arc<Actor>]) -> Result<Vec<Option<Arc<str>>>> {
    let parts = Parts::load(cx, None, std::iter::once(seen), &[]).await?;
    let Some(entry) = parts.entry(seen) else { return Ok(vec![None; viewers.len()]) };
    let plain = parts.fragment(&entry);
    let mut rendered: HashMap<String, Arc<str>> = HashMap::new();
    let mut all = Vec::with_capacity(viewers.len());
    for viewer in viewers {
        let page = std::iter::once(seen);
        let found =
            filter_result::find(cx, Some(viewer), page, What::Words, &parts.cores, &parts.authors, &parts.polls);
        let found = found.await?;
        let filtered = found.page.get(&seen.head().id).map_or("[]", Array::as_str);
        let text = match rendered.get(filtered) {
            Some(text) => Arc::clone(text),
            None => {
                let mut object = plain.clone().open();
                object.member("filtered", filtered);
                let text: Arc<str> = object.close().as_str().into();
                rendered.insert(filtered.to_owned(), Arc::clone(&text));
                text
            }
        };
        all.push(Some(text));
    }
    Ok(all)
}

/// The parts that are the same for every viewer.
struct Shared {
    parts: Parts<'static>,
}

impl Shared {
    /// Loads the parts of all of `seen`, which contain the same status. Its quote may be hidden from some viewers.
    async fn load(cx: &Cx, seen: &[(Arc<Actor>, Seen)]) -> Result<Self> {
        let fullest = seen.iter().map(|(_, seen)| seen).max_by_key(|seen| seen.quoted().is_some());
        let parts = Parts::shared(cx, fullest.into_iter(), &[]).await?;
        Ok(Self { parts })
    }

    /// The members that extensions add for each viewer, in order.
    async fn added(&self, cx: &Cx, seen: &[(Arc<Actor>, Seen)]) -> Vec<Vec<(StatusId, Members)>> {
        if !cx.extensions().decorates(Entity::Status) {
            return Vec::new();
        }
        // Each viewer's call gets the full time limit, as separate requests would.
        let ask = |(viewer, seen): &(Arc<Actor>, Seen)| {
            let (cx, viewer, seen) = (cx.begin(None), Arc::clone(viewer), *seen);
            async move { added(&cx, Some(&viewer), proper_of(&seen)).await }
        };
        stream::iter(seen.iter().map(ask)).buffered(ASKED_AT_ONCE).collect().await
    }

    async fn filtered(&self, cx: &Cx, viewer: &Actor, seen: &Seen, polls: &[(StatusId, Fragment)]) -> Result<Filtered> {
        if viewer.filters_version <= 0 {
            return Ok(Filtered::none());
        }
        let polls: ById<StatusId, Fragment> = polls.to_vec().into();
        let page = std::iter::once(seen);
        filter_result::find(cx, Some(viewer), page, What::All, &self.parts.cores, &self.parts.authors, &polls).await
    }

    fn parts<'a>(
        &self,
        viewer: &'a Actor,
        polls: Vec<(StatusId, Fragment)>,
        filtered: Filtered,
        added: Vec<(StatusId, Members)>,
    ) -> Parts<'a> {
        let Parts { cores, authors, creators, .. } = &self.parts;
        Parts {
            viewer: Some(viewer),
            cores: cores.clone(),
            authors: account::Rendered::clone(authors),
            creators: creators.clone(),
            polls: polls.into(),
            filtered,
            added: added.into(),
        }
    }
}

impl View {
    fn of(
        viewer: &Actor,
        seen: &Seen,
        filtered: &Filtered,
        polls: &[(StatusId, Fragment)],
        added: &[(StatusId, Members)],
    ) -> Self {
        let is_own = |head: Option<&store::status::Head>| head.is_some_and(|head| head.account_id == viewer.id);
        let quoted = seen.quoted();
        let text = |(id, found): &(StatusId, Array)| (*id, found.as_str().to_owned());
        Self {
            marked: seen.marked(),
            quote: seen.quote().map(|quote| quote.state),
            quoted: quoted.map(|quoted| (quoted.head.id, quoted.marked, quoted.muted, quoted.quote)),
            own: [is_own(Some(seen.head())), is_own(seen.original()), is_own(quoted.map(|quoted| &quoted.head))],
            filtered: filtered.page.iter().map(text).collect(),
            quoted_filtered: filtered.quoted.iter().map(text).collect(),
            polls: polls.iter().map(|(id, poll)| (*id, poll.as_str().to_owned())).collect(),
            added: added.to_vec(),
        }
    }
}
