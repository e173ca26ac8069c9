//! Use cases by aggregate: permission, rules, transaction, recorded changes.
//!
//! Reached from all entry points (`http`, `worker`, `plugins`, `streaming`, `cli`), each of which passes a
//! [`Cx`](context::Cx). Independent of HTTP, SQL and the JSON for clients, which `entity` renders.

pub mod access;
pub mod account;
pub mod auth;
pub mod feed;
pub mod media;
pub mod moderation;
pub mod notification;
pub mod page;
pub mod remote;
pub mod rules;
pub mod server;
pub mod status;
pub mod templates;

// Callers name only the use case: `service::poll::vote`.
pub use access::{account_domains, heads, relations, visibility};
pub use account::{
    archive, confirmation, directory, domain_block, featured_tag, follow, moving, owner, preference, profile,
    profile_image, profile_link, registration, relationship, removal, sign_up, signing_key, status_cleanup, suggestion,
    transfer, username,
};
pub use auth::{application, link, oauth, password, session, token};
pub use feed::{feed_access, filter, list, marker, search, tag, tag_review, timeline, trend};
pub use moderation::{domain_decision, domain_list, domain_purge, filing, ip_block, metrics, role, staff};
pub use notification::{conversation, email, push};
pub use page::{card, emoji, translation, web_page};
pub use rules::{audit, domain, email_block, locale, ownership, rate_limits, user_ip, username_block};
pub use server::{announcement, domain_policy, instance, picture, public, rule, settings, streaming, terms, webfinger};
pub use status::{held_status, interaction, poll, reblog, saved_draft, scheduled_status};
