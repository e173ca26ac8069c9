//! Use cases by aggregate: permission, rules, transaction, recorded changes.
//!
//! Reached from every way in (`http`, `worker`, `plugins`, `streaming`, `cli`), each of which brings a [`Cx`](context::Cx).
//! Knows neither HTTP nor SQL, nor the JSON that clients see: that is `entity`, above.

pub mod account;
pub mod auth;
pub mod feed;
pub mod media;
pub mod notification;
pub mod page;
pub mod server;
pub mod status;
pub mod templates;

// A caller names the use case alone: `service::poll::vote`.
pub use account::{
    account_domains, archive, directory, domain_block, featured_tag, follow, owner, preference, profile, profile_image,
    profile_link, registration, relations, relationship, removal, sign_up, signing_key, staff, suggestion, transfer,
};
pub use auth::{application, confirmation, link, oauth, password, rate_limits, session, token};
pub use feed::{filter, list, marker, search, streaming, tag, timeline, trend};
pub use notification::{email, push};
pub use page::{card, emoji, translation, web_page};
pub use server::{announcement, domain, instance, locale, public, report, rule, settings, webfinger};
pub use status::{conversation, heads, mark, poll, reblog, scheduled_status, status_cleanup, visibility};
