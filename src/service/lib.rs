//! Use cases by aggregate: permission, rules, transaction, recorded changes.
//!
//! Reached from all entry points (`http`, `worker`, `plugins`, `streaming`, `cli`), each of which passes a
//! [`Cx`](context::Cx). Independent of HTTP, SQL and the JSON for clients, which `entity` renders.

pub mod account;
pub mod auth;
pub mod feed;
pub mod media;
pub mod moderation;
pub mod notification;
pub mod page;
pub mod remote;
pub mod server;
pub mod status;
pub mod templates;

// Callers name only the use case: `service::poll::vote`.
pub use account::{
    account_domains, archive, directory, domain_block, featured_tag, follow, owner, preference, profile, profile_image,
    profile_link, registration, relations, relationship, removal, sign_up, signing_key, staff, suggestion, transfer,
};
pub use auth::{application, confirmation, link, oauth, password, rate_limits, session, token};
pub use feed::{filter, list, marker, search, streaming, tag, tag_review, timeline, trend};
pub use moderation::{audit, domain_decision, email_block, held_status, ip_block, metrics, ownership, role, user_ip};
pub use notification::{email, push};
pub use page::{card, emoji, translation, web_page};
pub use server::{announcement, domain, domain_policy, instance, locale, public, report, rule, settings, webfinger};
pub use status::{conversation, heads, interaction, poll, reblog, scheduled_status, status_cleanup, visibility};
