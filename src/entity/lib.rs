//! The API's JSON, one file per documented entity, rendered a page at a time.
//!
//! `render` serves a whole page with one statement per kind of row, whatever the page's length (no N+1 queries).
//! Parts that do not depend on the viewer are cached as bytes ([`caches`](context::caches)) and spliced in.
//! Visibility is decided elsewhere: statuses arrive as [`Seen`](service::visibility::Seen).

pub mod account;
pub mod account_document;
mod account_warning;
pub mod activity;
pub mod admin;
pub mod announcement;
pub mod application;
pub mod archive;
pub mod async_refresh;
mod attached;
#[cfg(test)]
mod contract;
pub mod conversation;
pub mod credential;
pub mod document;
pub mod domain_block;
pub mod emoji;
pub mod fallback;
pub mod familiar_followers;
pub mod featured_tag;
pub mod filter;
mod filter_result;
pub mod filter_set;
pub mod held_status;
pub mod history;
pub mod instance;
pub mod instance_configuration;
pub mod interaction_policy;
pub mod interaction_request;
pub mod list;
pub mod marker;
pub mod muted_account;
pub mod notification;
pub mod notification_group;
pub mod notification_policy;
pub mod notification_request;
pub mod oembed;
pub mod poll;
pub mod preferences;
pub mod preview_card;
pub mod profile;
pub mod push_message;
pub mod push_subscription;
mod quote;
pub mod relationship;
pub mod report;
mod room;
pub mod rule;
pub mod scheduled_status;
mod schema;
pub mod server_metadata;
pub mod server_pictures;
pub mod severance;
pub mod status;
mod status_added;
mod status_core;
pub mod status_edit;
mod status_marks;
pub mod status_source;
pub mod status_views;
pub mod suggestion;
pub mod tag;
pub mod terms_of_service;
pub mod thread;
pub mod token;
pub mod translation;
pub mod user_info;
pub mod web;
pub mod well_known;

pub use application::{Application, CredentialApplication};
pub use async_refresh::AsyncRefresh;
pub use context::json::media::MediaAttachment;
pub use domain_block::DomainBlockPreview;
pub use instance::{DomainBlock, InstanceActivity};
pub use notification::UnreadCount;
pub use notification_request::NotificationRequestsMerged;
pub use oembed::OEmbed;
pub use schema::*;
pub use terms_of_service::TermsOfService;
pub use token::Token;
pub use user_info::UserInfo;

/// The members that the server itself adds to entities of `kind`, which plugins may not set; `None` for a kind that
/// plugins cannot decorate.
#[must_use]
pub fn members(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "status" => Some(status::MEMBERS),
        "account" => Some(account::MEMBERS),
        "notification" => Some(notification::MEMBERS),
        "list" => Some(list::MEMBERS),
        "notification_group" => Some(notification_group::MEMBERS),
        // Not an entity: extensions return the weight of a trend.
        "trend" => Some(&[]),
        _ => None,
    }
}
