//! The addresses of statuses of this server.

use context::Cx;
use model::StatusId;
use model::urls::Owner;

/// The author and the id in the URL of the page, or of the ActivityPub object, of a status of this server. Does not check
/// that the status exists.
pub(crate) fn status(cx: &Cx, address: &str) -> Option<(Owner, StatusId)> {
    let (owner, rest) = cx.urls.owner(address.trim_end_matches('/'))?;
    let rest = rest.strip_prefix('/')?;
    let id = match owner {
        Owner::Page(_) => rest,
        Owner::Name(_) | Owner::Id(_) => rest.strip_prefix("statuses/")?,
    };
    Some((owner, id.parse().ok()?))
}
