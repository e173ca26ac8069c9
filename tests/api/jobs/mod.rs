//! Jobs of the worker: feeds, removal, transfers, archives, link previews, mails.

mod archives;
mod cards;
mod home_feeds;
mod kinds;
mod notification_mails;
mod profile_links;
pub mod removal;
mod status_cleanup;
mod transfers;
