//! The client in the browser: timelines, notifications, conversations, writing and acting, for people who are signed in.
//!
//! Rendered by the server from the entities of the API, with the visibility of the API; every act is a form. Scripts of
//! [`assets`](super::assets) make it quicker, and none of it needs them. Profiles, threads, hashtags and searches are the
//! public pages, which show more to people who are signed in.
//!
//! Spec: docs/contract/web.md

pub mod account_acts;
pub mod additions;
pub mod catch_up;
pub mod completions;
pub mod conversations;
pub mod drafts;
pub mod lists;
pub mod notifications;
pub mod people;
pub mod poll_votes;
pub mod publish;
mod publish_fields;
pub mod push;
pub mod report;
pub mod revisions;
pub mod scheduled;
pub mod status_acts;
pub mod tag_acts;
pub mod timelines;
pub mod translations;

use super::next::is_own_path;

/// Where a form leads back to: `back` when it is a path of this server, with the place `place` on that page; else home.
pub(super) fn back_to(back: Option<&str>, place: Option<&str>) -> String {
    let path = back.filter(|back| is_own_path(back)).unwrap_or("/home");
    let path = path.split('#').next().unwrap_or(path);
    place.map_or_else(|| path.to_owned(), |place| format!("{path}#{place}"))
}
