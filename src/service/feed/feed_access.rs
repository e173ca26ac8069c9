//! Who may read which part of the feeds of the whole server: the public timelines, and the timelines of hashtags and
//! links.
//!
//! Statuses of this server and of other servers have separate settings. Reached from timelines, their pages and their
//! streams.
//!
//! Spec: docs/contract/rules.md#7-access-modes

use context::Cx;
use context::error::{Error, Result};
use model::settings::{FeedAccess, ServerFeed};
use model::{Actor, Permissions};

/// The part of a feed that a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Only statuses of this server.
    pub local: bool,
    /// Only statuses of other servers.
    pub remote: bool,
}

/// What happens when a viewer may not read everything that was requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreadable {
    /// An anonymous request is refused.
    #[default]
    Refuse,
    /// The rest is shown, as long as there is one.
    LeaveOut,
}

impl Part {
    /// The part that `local` and `remote` of a request select: both together mean neither.
    #[must_use]
    pub fn new(local: bool, remote: bool) -> Self {
        Self { local: local && !remote, remote: remote && !local }
    }
}

/// The part of `feed` that `viewer` may read of `requested`; `None` when it is disabled for them.
///
/// # Errors
/// [`Error::Unauthorized`] when there is no viewer, and not everyone may read it.
pub fn readable(
    cx: &Cx,
    viewer: Option<&Actor>,
    feed: ServerFeed,
    requested: Part,
    otherwise: Unreadable,
) -> Result<Option<Part>> {
    let settings = cx.settings();
    let may = |local: bool| match settings.feed_access(feed, local) {
        FeedAccess::Public => true,
        FeedAccess::Preview | FeedAccess::Authenticated => viewer.is_some(),
        FeedAccess::Disabled => viewer.is_some_and(views_disabled),
    };
    let (local, remote) = (!requested.remote && may(true), !requested.local && may(false));
    let whole = (local || requested.remote) && (remote || requested.local);
    if viewer.is_none() && !whole && (otherwise == Unreadable::Refuse || !(local || remote)) {
        return Err(Error::Unauthorized("This method requires an authenticated user".into()));
    }
    Ok((local || remote).then_some(if whole { requested } else { Part { local, remote } }))
}

/// True when everyone may read all of `feed`.
#[must_use]
pub fn is_public(cx: &Cx, feed: ServerFeed) -> bool {
    let settings = cx.settings();
    [true, false].into_iter().all(|local| settings.feed_access(feed, local) == FeedAccess::Public)
}

/// True when only people with a permission read statuses of this server (`local`), or of other servers, in `feed`.
#[must_use]
pub fn is_disabled(cx: &Cx, feed: ServerFeed, local: bool) -> bool {
    cx.settings().feed_access(feed, local) == FeedAccess::Disabled
}

/// True when the role of `viewer` lets them read disabled feeds.
#[must_use]
pub fn views_disabled(viewer: &Actor) -> bool {
    viewer.permissions.has(Permissions::VIEW_FEEDS)
}
