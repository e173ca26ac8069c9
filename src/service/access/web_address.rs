//! The addresses of statuses of this server.

use context::Cx;
use model::StatusId;

/// The account name and the id in the URL of the page, or of the ActivityPub object, of a status of this server. Does
/// not check that the status exists.
pub(crate) fn status<'a>(cx: &Cx, address: &'a str) -> Option<(&'a str, StatusId)> {
    let path = address.strip_prefix(cx.urls.origin.as_str())?.split(['?', '#']).next()?;
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (name, id) = match parts.as_slice() {
        [name, id] => (name.strip_prefix('@')?, id),
        ["users", name, "statuses", id] => (*name, id),
        _ => return None,
    };
    Some((name, id.parse().ok()?))
}
