//! Links to strikes, which open without signing in. Anyone with such a link can use it, for thirty days after the strike.
//!
//! In mails about strikes; read by [`appeal`](super::appeal).

use context::Cx;
use model::RowId;

/// The purpose of the key from which the links are derived.
const LINK: &str = "strike";

/// The URL of the page of a strike.
#[must_use]
pub(crate) fn url(cx: &Cx, id: RowId) -> String {
    let token = cx.keys.derive(LINK, &id.to_string());
    cx.urls.path(&format!("/auth/strike?id={id}&token={}", token.expose()))
}

/// The strike of an [`url()`] with these parameters; `None` when it is invalid.
#[must_use]
pub(super) fn strike(cx: &Cx, id: &str, token: &str) -> Option<RowId> {
    id.parse().ok().filter(|_| cx.keys.verify(LINK, id, token))
}
