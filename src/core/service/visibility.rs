//! Visibility: the single place that decides who may see which status.
//!
//! Every read path, a single status as well as a page, asks [`statuses`] or [`status`]. The facts about viewer and
//! author come from one statement for the whole page ([`store::status::heads`]); the decision is [`may_see`] and
//! [`wants`], plain Rust, so that there is no second form of the rule in SQL that could differ. Rendering takes only
//! [`Seen`], and only this module makes one. What is hidden looks like what is missing.
//!
//! Spec: contract rules, sections 7, 9, 10 and 12.

use std::collections::HashMap;

use crate::Cx;
use crate::error::{Error, Result};
use model::status::Visibility;
use model::{Actor, StatusId};
use store::status::Head;

/// Where a status is shown: one that may be seen when requested by id may still be filtered from a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Requested by its id.
    Single,
    /// In the thread of another status.
    Thread,
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
    /// In a notification.
    Notification,
}

/// A status that its viewer may see, with the original when it is a reblog. Only this module makes one.
#[derive(Clone, Debug)]
pub struct Seen {
    head: Head,
    original: Option<Head>,
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
}

/// The statuses of `ids` that `viewer` may see and has not filtered from `place`, in the order given.
pub async fn statuses(cx: &Cx, viewer: Option<&Actor>, place: Place, ids: &[StatusId]) -> Result<Vec<Seen>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let heads = store::status::heads(&cx.db, viewer.map(|actor| actor.id), ids, cx.clock.now()).await?;
    let heads: HashMap<StatusId, Head> = heads.into_iter().map(|head| (head.id, head)).collect();
    let seen = ids.iter().filter_map(|id| {
        let head = heads.get(id)?;
        let original = match head.reblog_of_id {
            None => None,
            Some(original) => Some(heads.get(&original)?),
        };
        let parts = [Some(head), original];
        let shown = parts.into_iter().flatten().all(|head| may_see(viewer, head) && wants(viewer, head, place));
        shown.then(|| Seen { head: head.clone(), original: original.cloned() })
    });
    Ok(seen.collect())
}

/// The existing statuses of `ids`, in the order given, regardless of visibility: for plugins granted to read
/// everything.
pub async fn everything(cx: &Cx, ids: &[StatusId]) -> Result<Vec<Seen>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let heads = store::status::heads(&cx.db, None, ids, cx.clock.now()).await?;
    let heads: HashMap<StatusId, Head> = heads.into_iter().map(|head| (head.id, head)).collect();
    let seen = ids.iter().filter_map(|id| {
        let head = heads.get(id)?.clone();
        let original = head.reblog_of_id.and_then(|original| heads.get(&original)).cloned();
        Some(Seen { head, original })
    });
    Ok(seen.collect())
}

/// The status, if `viewer` may see it.
///
/// # Errors
/// [`Error::NotFound`] when it is missing or hidden; the two look alike.
pub async fn status(cx: &Cx, viewer: Option<&Actor>, id: StatusId) -> Result<Seen> {
    statuses(cx, viewer, Place::Single, &[id]).await?.pop().ok_or(Error::NotFound)
}

/// True when the author lets `viewer` see it.
fn may_see(viewer: Option<&Actor>, head: &Head) -> bool {
    if head.author_suspended {
        return false;
    }
    if is_own(viewer, head) {
        return true;
    }
    if head.blocked_by {
        return false;
    }
    match head.visibility {
        Visibility::Public | Visibility::PublicUnlisted | Visibility::Unlisted => true,
        Visibility::Login => viewer.is_some(),
        Visibility::Private => head.following || head.mentioned,
        Visibility::Limited | Visibility::Direct => head.mentioned,
    }
}

/// True unless `viewer`'s blocks and mutes, or a moderator's limit on the author, exclude it from `place`.
fn wants(viewer: Option<&Actor>, head: &Head, place: Place) -> bool {
    if is_own(viewer, head) {
        return !(head.author_limited && matches!(place, Place::Public { .. }));
    }
    let blocked = head.blocking || head.domain_blocking;
    let limited = head.author_limited && !head.following;
    match place {
        Place::Single | Place::Notification => true,
        Place::Thread => !blocked && !head.muting && !limited,
        Place::Home => !blocked && !head.muting,
        Place::Public { local } => {
            !head.blocking && (local || !head.domain_blocking) && !head.muting && !head.author_limited
        }
        Place::Profile | Place::Collection => !head.blocking,
    }
}

fn is_own(viewer: Option<&Actor>, head: &Head) -> bool {
    viewer.is_some_and(|actor| actor.id == head.account_id)
}
