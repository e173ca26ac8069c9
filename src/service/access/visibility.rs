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

use std::sync::Arc;

use crate::{account_domains, heads, relations};
use context::Cx;
use context::error::{Error, Result};
use model::status::Visibility;
use model::{AccountId, Actor, ConversationId, StatusId, Time};
use store::interaction::{self, Marks};
use store::relation_set::Relations;
use store::status::Head;

/// Where a status is shown: a status that may be seen when requested by id may still be filtered from a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Requested by its id.
    Single,
    /// Response to undoing a favourite or bookmark. A block by the author does not hide a public status here.
    Unmarked,
    /// In the thread of another status.
    Thread,
    /// In search results.
    Search,
    /// On a home or list timeline.
    Home,
    /// On a public or hashtag timeline.
    Public {
        /// Only local statuses were requested.
        local: bool,
    },
    /// On its author's profile.
    Profile,
    /// Among the viewer's own favourites or bookmarks.
    Collection,
    /// In a notification, or as the last status of a conversation.
    Notification,
}

/// A status that its viewer may see, with the original when it is a reblog. Only this module creates one.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    head: Head,
    original: Option<Head>,
    marked: Marked,
    blocking: bool,
    quote: Option<Quoted>,
}

/// A quoted status that the viewer of the quoting status may see as well.
#[derive(Clone, Copy, Debug)]
pub struct Quoted {
    /// The quoted status.
    pub head: Head,
    /// The viewer's interactions with it.
    pub marked: Marked,
    /// Whether the viewer muted its conversation or author, or blocks the author or their domain.
    pub muted: bool,
}

/// The viewer's interactions with a status, or with the original of a reblog, and whether the viewer may quote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marked {
    pub favourited: bool,
    pub reblogged: bool,
    pub bookmarked: bool,
    /// Whether the viewer muted the thread.
    pub muted: bool,
    /// Whether the viewer pinned it to their profile.
    pub pinned: bool,
    /// Whether its author lets the viewer, who is not the author, quote it.
    pub quotable: bool,
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

    /// The quote of [`Seen::proper`], if there is one that the viewer may see.
    #[must_use]
    pub fn quote(&self) -> Option<&Quoted> {
        self.quote.as_ref()
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
        let quoted = original.unwrap_or(head).quote_id.and_then(|id| find(&heads, id));
        let quote = quoted.and_then(|head| show_quoted(cx, viewer, view.as_ref(), head));
        Some(Seen { quote, ..show(cx, viewer, view.as_ref(), place, head, original)? })
    };
    Ok(pairs(&heads, ids).filter_map(shown).collect())
}

/// `heads` and the heads of their quotes, ordered by id. One more statement, or none without quotes.
async fn with_quoted(cx: &Cx, mut heads: Vec<Head>) -> Result<Vec<Head>> {
    let mut quoted: Vec<StatusId> = heads.iter().filter_map(|head| head.quote_id).collect();
    quoted.retain(|id| find(&heads, *id).is_none());
    if quoted.is_empty() {
        return Ok(heads);
    }
    quoted.sort_unstable();
    quoted.dedup();
    heads.extend(heads::find(cx, &quoted).await?);
    heads.sort_unstable_by_key(|head| head.id);
    heads.dedup_by_key(|head| head.id);
    Ok(heads)
}

/// The status `id` as visible to each of `viewers` who did not filter it from `place`, with the index of the viewer.
/// One statement for all of them, and one for each whose relations changed since they were last read.
#[model::use_case]
pub async fn seen_by(cx: &Cx, viewers: &[Arc<Actor>], place: Place, id: StatusId) -> Result<Vec<(usize, Seen)>> {
    let heads = with_quoted(cx, heads::find(cx, &[id]).await?).await?;
    let ids = [id];
    let Some((head, original)) = pairs(&heads, &ids).next() else { return Ok(Vec::new()) };
    let quoted = original.unwrap_or(head).quote_id.and_then(|id| find(&heads, id));
    let views = View::load_each(cx, viewers, &heads).await?;
    let seen = views.iter().zip(viewers).enumerate().filter_map(|(index, (view, viewer))| {
        let seen = show(cx, Some(viewer), Some(view), place, head, original)?;
        let quote = quoted.and_then(|head| show_quoted(cx, Some(viewer), Some(view), head));
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
        let quoted = original.unwrap_or(head).quote_id.and_then(|id| find(&heads, id));
        let quote = quoted.and_then(|head| show_quoted(cx, Some(viewer), view, head));
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
    if is_addressed(head) || head.author_suspended || head.author_limited {
        return Ok(None);
    }
    let quote = head.quote_id.and_then(|id| find(&heads, id)).and_then(|head| show_quoted(cx, None, None, head));
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
        let view = View { remote: viewer.remote, relations, marks: Marks::default(), domain_blocked, now };
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

/// A quoted status as `viewer` sees it, in any place; `None` when it is hidden.
fn show_quoted(cx: &Cx, viewer: Option<&Actor>, view: Option<&View>, head: &Head) -> Option<Quoted> {
    let tie = tie(cx, view, head);
    if !may_see(viewer, head, &tie, Place::Single) || !wants(viewer, head, &tie, Place::Single) {
        return None;
    }
    let marked = view.map_or_else(Marked::default, |view| view.marked(head));
    let muted = marked.muted || tie.blocking || tie.domain_blocking || tie.muting;
    Some(Quoted { head: *head, marked, muted })
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

/// True when `viewer` may see statuses that stay on this server, as far as their visibility goes. Only narrows queries.
pub(crate) fn reads_local_only(cx: &Cx, viewer: Option<&Actor>) -> bool {
    viewer.map_or_else(|| cx.settings().local_only_public, |actor| !actor.remote)
}

/// The heads of `ids` in the order given, each with the head of its original; `heads` is ordered by id.
fn pairs<'a>(heads: &'a [Head], ids: &'a [StatusId]) -> impl Iterator<Item = (&'a Head, Option<&'a Head>)> {
    ids.iter().filter_map(|id| {
        let head = find(heads, *id)?;
        Some((head, head.reblog_of_id.and_then(|original| find(heads, original))))
    })
}

/// The head of `id` among `heads`, which are ordered by id.
fn find(heads: &[Head], id: StatusId) -> Option<&Head> {
    heads.binary_search_by_key(&id, |head| head.id).ok().map(|index| &heads[index])
}

/// The facts about a viewer that decide which statuses of a page are visible.
struct View {
    /// The viewer is an account of another server.
    remote: bool,
    relations: Arc<Relations>,
    marks: Marks,
    /// The authors whose domain the viewer blocks, sorted.
    domain_blocked: Vec<AccountId>,
    now: Time,
}

/// The relationship between a viewer and the author of a status; all but `at_home` false without a viewer.
#[derive(Debug, Default)]
struct Tie {
    /// Whether the viewer may see statuses that stay on this server: an account of it, or by the setting
    /// `local_only_public` anyone who does not act for another server.
    at_home: bool,
    /// Whether the viewer follows the author.
    following: bool,
    /// Whether the viewer is mentioned in a status addressed to few accounts, or in the audience of a limited one.
    mentioned: bool,
    /// Whether the author blocks the viewer.
    blocked_by: bool,
    /// Whether the viewer blocks the author.
    blocking: bool,
    /// Whether the viewer mutes the author; an expired mute does not count.
    muting: bool,
    /// Whether the viewer blocks the author's domain.
    domain_blocking: bool,
}

/// The relationship between the viewer of `view`, or someone unknown, and the author of `head`.
fn tie(cx: &Cx, view: Option<&View>, head: &Head) -> Tie {
    let stranger = || Tie { at_home: reads_local_only(cx, None), ..Tie::default() };
    view.map_or_else(stranger, |view| view.tie(head))
}

/// The statuses of `heads`, and their conversations.
fn subjects(heads: &[Head]) -> (Vec<StatusId>, Vec<ConversationId>) {
    (heads.iter().map(|head| head.id).collect(), heads.iter().filter_map(|head| head.conversation_id).collect())
}

impl View {
    async fn load(cx: &Cx, viewer: &Actor, heads: &[Head]) -> Result<Self> {
        let relations = relations::of(cx, viewer).await?;
        let domain_blocked = domain_blocked(cx, &relations, heads).await?;
        let (statuses, conversations) = subjects(heads);
        let addressed = heads.iter().filter(|head| is_addressed(head) && !is_own(Some(viewer), head));
        let addressed: Vec<StatusId> = addressed.map(|head| head.id).collect();
        let marks = interaction::find(&cx.db, viewer.id, &statuses, &conversations, &addressed).await?;
        Ok(Self { remote: viewer.remote, relations, marks, domain_blocked, now: cx.clock.now() })
    }

    /// The facts about each of `viewers`, in order. One statement for the interactions of all of them.
    async fn load_each(cx: &Cx, viewers: &[Arc<Actor>], heads: &[Head]) -> Result<Vec<Self>> {
        let (statuses, conversations) = subjects(heads);
        let addressed: Vec<StatusId> = heads.iter().filter(|head| is_addressed(head)).map(|head| head.id).collect();
        let ids: Vec<AccountId> = viewers.iter().map(|viewer| viewer.id).collect();
        let mut marks = interaction::find_each(&cx.db, &ids, &statuses, &conversations, &addressed).await?;
        let (mut views, now) = (Vec::with_capacity(viewers.len()), cx.clock.now());
        for viewer in viewers {
            let relations = relations::of(cx, viewer).await?;
            let domain_blocked = domain_blocked(cx, &relations, heads).await?;
            let marks = marks.remove(&viewer.id).unwrap_or_default();
            views.push(Self { remote: viewer.remote, relations, marks, domain_blocked, now });
        }
        Ok(views)
    }

    fn tie(&self, head: &Head) -> Tie {
        let author = head.account_id;
        Tie {
            at_home: !self.remote,
            following: self.relations.is_following(author),
            mentioned: self.marks.mentioned(head.id),
            blocked_by: self.relations.is_blocked_by(author),
            blocking: self.relations.is_blocking(author),
            muting: self.relations.is_muting(author, self.now),
            domain_blocking: self.domain_blocked.binary_search(&author).is_ok(),
        }
    }

    fn marked(&self, head: &Head) -> Marked {
        Marked {
            favourited: self.marks.favourited(head.id),
            reblogged: self.marks.reblogged(head.id),
            bookmarked: self.marks.bookmarked(head.id),
            muted: head.conversation_id.is_some_and(|conversation| self.marks.muted(conversation)),
            pinned: self.marks.pinned(head.id),
            quotable: head.quote_policy.allows(head.visibility, self.relations.is_following(head.account_id)),
        }
    }
}

/// The authors of `heads` whose domain is blocked, sorted. No statement when no domain is blocked, or all authors are
/// cached.
async fn domain_blocked(cx: &Cx, relations: &Relations, heads: &[Head]) -> Result<Vec<AccountId>> {
    if !relations.blocks_domains() {
        return Ok(Vec::new());
    }
    let mut authors: Vec<AccountId> = heads.iter().map(|head| head.account_id).collect();
    authors.sort_unstable();
    authors.dedup();
    let domains = account_domains::find(cx, &authors).await?;
    let blocked = domains
        .into_iter()
        .filter(|(_, domain)| domain.as_deref().is_some_and(|domain| relations.is_blocking_domain(domain)));
    let mut blocked: Vec<AccountId> = blocked.map(|(account, _)| account).collect();
    blocked.sort_unstable();
    Ok(blocked)
}

/// True when mentions decide about its visibility.
fn is_addressed(head: &Head) -> bool {
    match head.visibility {
        Visibility::Private | Visibility::Limited | Visibility::Direct => true,
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Unlisted | Visibility::Login => false,
    }
}

/// True when the author allows `viewer` to see it.
fn may_see(viewer: Option<&Actor>, head: &Head, tie: &Tie, place: Place) -> bool {
    if head.author_suspended {
        return false;
    }
    if is_own(viewer, head) {
        return true;
    }
    if tie.blocked_by && (place != Place::Unmarked || is_addressed(head)) {
        return false;
    }
    if head.local_only && !tie.at_home {
        return false;
    }
    match head.visibility {
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Unlisted => true,
        Visibility::Login => viewer.is_some(),
        Visibility::Private => tie.following || tie.mentioned,
        Visibility::Limited | Visibility::Direct => tie.mentioned,
    }
}

/// True unless `viewer`'s blocks and mutes, or a moderator's limit on the author, exclude it from `place`.
fn wants(viewer: Option<&Actor>, head: &Head, tie: &Tie, place: Place) -> bool {
    if is_own(viewer, head) {
        return !(head.author_limited && matches!(place, Place::Public { .. }));
    }
    let blocked = tie.blocking || tie.domain_blocking;
    let limited = head.author_limited && !tie.following;
    match place {
        Place::Single | Place::Unmarked | Place::Notification => true,
        Place::Thread | Place::Search => !blocked && !tie.muting && !limited,
        Place::Home => !blocked && !tie.muting,
        Place::Public { local } => {
            !tie.blocking && (local || !tie.domain_blocking) && !tie.muting && !head.author_limited
        }
        Place::Profile | Place::Collection => !tie.blocking,
    }
}

fn is_own(viewer: Option<&Actor>, head: &Head) -> bool {
    viewer.is_some_and(|actor| actor.id == head.account_id)
}
