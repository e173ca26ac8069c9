//! The facts about a viewer, and the decision about one status: what may be seen and what is wanted at a place, and what
//! the author lets the viewer do.
//!
//! Reached from [`visibility`](super) alone.

use std::sync::Arc;

use crate::{account_domains, relations};
use context::Cx;
use context::error::Result;
use model::interaction::{Group, Permission, Standing};
use model::status::Visibility;
use model::{AccountId, Actor, ConversationId, InteractionKind, StatusId, Time};
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

/// The viewer's interactions with a status, or with the original of a reblog, and what its author lets the viewer do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marked {
    pub favourited: bool,
    pub reblogged: bool,
    pub bookmarked: bool,
    /// Whether the viewer muted the thread.
    pub muted: bool,
    /// Whether the viewer pinned it to their profile.
    pub pinned: bool,
    /// What its author lets the viewer do.
    pub may: Permissions,
}

/// The facts about a viewer that decide which statuses of a page are visible.
pub(super) struct View {
    pub(super) viewer: AccountId,
    /// The viewer is an account of another server.
    pub(super) remote: bool,
    pub(super) relations: Arc<Relations>,
    pub(super) marks: Marks,
    /// The authors whose domain the viewer blocks, sorted.
    pub(super) domain_blocked: Vec<AccountId>,
    /// The authors who follow the viewer, among the ones whose policy depends on that, sorted.
    pub(super) followed_by: Vec<AccountId>,
    /// The statuses whose authors are yet to approve the viewer's favourite, sorted; of their own viewer alone.
    pub(super) waiting: Vec<StatusId>,
    pub(super) now: Time,
}

/// What the author of a status lets its viewer do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Permissions {
    pub quote: Permission,
    pub reply: Permission,
    pub favourite: Permission,
    pub reblog: Permission,
}

impl Permissions {
    /// The permission for `kind`.
    #[must_use]
    pub fn of(self, kind: InteractionKind) -> Permission {
        match kind {
            InteractionKind::Quote => self.quote,
            InteractionKind::Reply => self.reply,
            InteractionKind::Favourite => self.favourite,
            InteractionKind::Reblog => self.reblog,
        }
    }
}

impl Default for Permissions {
    /// Of an unknown viewer.
    fn default() -> Self {
        let denied = Permission::Denied;
        Self { quote: denied, reply: denied, favourite: denied, reblog: denied }
    }
}

/// The relationship between a viewer and the author of a status; all but `at_home` false without a viewer.
#[derive(Debug, Default)]
pub(super) struct Tie {
    /// Whether the viewer may see statuses that stay on this server: an account of it, or by the setting
    /// `local_only_public` anyone who does not act for another server.
    pub(super) at_home: bool,
    /// Whether the viewer is to approve it.
    pub(super) approver: bool,
    /// Whether the viewer follows the author.
    pub(super) following: bool,
    /// Whether the viewer is mentioned in a status addressed to few accounts, or in the audience of a limited one.
    pub(super) mentioned: bool,
    /// Whether the author blocks the viewer.
    pub(super) blocked_by: bool,
    /// Whether the viewer blocks the author.
    pub(super) blocking: bool,
    /// Whether the viewer mutes the author; an expired mute does not count.
    pub(super) muting: bool,
    /// Whether the viewer blocks the author's domain.
    pub(super) domain_blocking: bool,
}

/// The relationship between the viewer of `view`, or someone unknown, and the author of `head`.
pub(super) fn tie(cx: &Cx, view: Option<&View>, head: &Head) -> Tie {
    let stranger = || Tie { at_home: reads_local_only(cx, None), ..Tie::default() };
    view.map_or_else(stranger, |view| view.tie(head))
}

/// The statuses of `heads`, and their conversations.
fn subjects(heads: &[Head]) -> (Vec<StatusId>, Vec<ConversationId>) {
    (heads.iter().map(|head| head.id).collect(), heads.iter().filter_map(|head| head.conversation_id).collect())
}

impl View {
    pub(super) async fn load(cx: &Cx, viewer: &Actor, heads: &[Head]) -> Result<Self> {
        let relations = relations::of(cx, viewer).await?;
        let domain_blocked = domain_blocked(cx, &relations, heads).await?;
        let (statuses, conversations) = subjects(heads);
        let addressed = heads.iter().filter(|head| asks_for_mentions(head) && !is_own(Some(viewer), head));
        let addressed: Vec<StatusId> = addressed.map(|head| head.id).collect();
        let marks = interaction::find(&cx.db, viewer.id, &statuses, &conversations, &addressed).await?;
        let followed = followed(cx, &[viewer.id], heads).await?;
        let mut followed_by: Vec<AccountId> = followed.into_iter().map(|(author, _)| author).collect();
        followed_by.sort_unstable();
        let asking = heads.iter().filter(|head| !head.interaction_policy.is_open()).map(|head| head.id);
        let asking: Vec<StatusId> = asking.collect();
        let waiting = match asking.is_empty() {
            true => Vec::new(),
            false => store::interaction_request::list_waiting_favourites(&cx.db, viewer.id, &asking).await?,
        };
        let now = cx.clock.now();
        let (viewer, remote) = (viewer.id, viewer.remote);
        Ok(Self { viewer, remote, relations, marks, domain_blocked, followed_by, waiting, now })
    }

    /// The facts about each of `viewers`, in order. One statement for the interactions of all of them.
    pub(super) async fn load_each(cx: &Cx, viewers: &[Arc<Actor>], heads: &[Head]) -> Result<Vec<Self>> {
        let (statuses, conversations) = subjects(heads);
        let addressed = heads.iter().filter(|head| asks_for_mentions(head));
        let addressed: Vec<StatusId> = addressed.map(|head| head.id).collect();
        let ids: Vec<AccountId> = viewers.iter().map(|viewer| viewer.id).collect();
        let followed = followed(cx, &ids, heads).await?;
        let mut marks = interaction::find_each(&cx.db, &ids, &statuses, &conversations, &addressed).await?;
        let (mut views, now) = (Vec::with_capacity(viewers.len()), cx.clock.now());
        for viewer in viewers {
            let relations = relations::of(cx, viewer).await?;
            let domain_blocked = domain_blocked(cx, &relations, heads).await?;
            let marks = marks.remove(&viewer.id).unwrap_or_default();
            let by = followed.iter().filter(|(_, target)| *target == viewer.id).map(|(author, _)| *author);
            let mut followed_by: Vec<AccountId> = by.collect();
            followed_by.sort_unstable();
            let (viewer, remote) = (viewer.id, viewer.remote);
            let waiting = Vec::new();
            views.push(Self { viewer, remote, relations, marks, domain_blocked, followed_by, waiting, now });
        }
        Ok(views)
    }

    pub(super) fn tie(&self, head: &Head) -> Tie {
        let author = head.account_id;
        Tie {
            at_home: !self.remote,
            approver: head.approver_id == Some(self.viewer),
            following: self.relations.is_following(author),
            mentioned: self.marks.mentioned(head.id),
            blocked_by: self.relations.is_blocked_by(author),
            blocking: self.relations.is_blocking(author),
            muting: self.relations.is_muting(author, self.now),
            domain_blocking: self.domain_blocked.binary_search(&author).is_ok(),
        }
    }

    pub(super) fn marked(&self, head: &Head) -> Marked {
        Marked {
            favourited: self.marks.favourited(head.id) || self.waiting.binary_search(&head.id).is_ok(),
            reblogged: self.marks.reblogged(head.id),
            bookmarked: self.marks.bookmarked(head.id),
            muted: head.conversation_id.is_some_and(|conversation| self.marks.muted(conversation)),
            pinned: self.marks.pinned(head.id),
            may: self.may(head),
        }
    }

    fn may(&self, head: &Head) -> Permissions {
        let standing = Standing {
            author: self.viewer == head.account_id,
            follower: self.relations.is_following(head.account_id),
            followed: self.followed_by.binary_search(&head.account_id).is_ok(),
            mentioned: self.marks.mentioned(head.id),
        };
        // Someone who is mentioned may quote: FEP-044f, Verifying third-party quote posts.
        let quotable = head.visibility.is_anonymous();
        let own = standing.author && (quotable || head.visibility == Visibility::Private);
        let quote = if own || (quotable && standing.mentioned) {
            Permission::Automatic
        } else if quotable {
            head.interaction_policy.rule(InteractionKind::Quote).permission(standing)
        } else {
            Permission::Denied
        };
        let by_rule = |kind| head.interaction_policy.rule(kind).permission(standing);
        Permissions {
            quote,
            // Someone who is mentioned may always reply.
            reply: if standing.mentioned { Permission::Automatic } else { by_rule(InteractionKind::Reply) },
            favourite: by_rule(InteractionKind::Favourite),
            reblog: by_rule(InteractionKind::Reblog),
        }
    }
}

/// The pairs of an author and one of `viewers` whom the author follows, for the authors whose policies depend on that. No
/// statement without one.
async fn followed(cx: &Cx, viewers: &[AccountId], heads: &[Head]) -> Result<Vec<(AccountId, AccountId)>> {
    let mut authors: Vec<AccountId> = heads
        .iter()
        .filter(|head| head.interaction_policy.names(Group::Following))
        .map(|head| head.account_id)
        .collect();
    if authors.is_empty() {
        return Ok(Vec::new());
    }
    authors.sort_unstable();
    authors.dedup();
    Ok(store::follow::list_pairs(&cx.db, &authors, viewers).await?)
}

/// True when it matters whether it mentions the viewer: for its visibility, or by the policy of its author.
fn asks_for_mentions(head: &Head) -> bool {
    is_addressed(head) || !head.interaction_policy.is_open()
}

/// The authors of `heads` whose domain is blocked, sorted. No statement when no domain is blocked, or all authors are
/// cached.
pub(super) async fn domain_blocked(cx: &Cx, relations: &Relations, heads: &[Head]) -> Result<Vec<AccountId>> {
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
pub(super) fn is_addressed(head: &Head) -> bool {
    match head.visibility {
        Visibility::Private | Visibility::Limited | Visibility::Direct => true,
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Unlisted | Visibility::Login => false,
    }
}

/// True when the author allows `viewer` to see it.
pub(super) fn may_see(viewer: Option<&Actor>, head: &Head, tie: &Tie, place: Place) -> bool {
    if head.author_suspended {
        return false;
    }
    if is_own(viewer, head) {
        return true;
    }
    if head.approval.is_some() && !tie.approver {
        return false;
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
pub(super) fn wants(viewer: Option<&Actor>, head: &Head, tie: &Tie, place: Place) -> bool {
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

pub(super) fn is_own(viewer: Option<&Actor>, head: &Head) -> bool {
    viewer.is_some_and(|actor| actor.id == head.account_id)
}

/// True when `viewer` may see statuses that stay on this server, as far as their visibility goes. Only narrows queries.
pub(crate) fn reads_local_only(cx: &Cx, viewer: Option<&Actor>) -> bool {
    viewer.map_or_else(|| cx.settings().local_only_public, |actor| !actor.remote)
}
