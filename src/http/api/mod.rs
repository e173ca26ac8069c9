//! Handlers of the client API: one file per method group of the Mastodon documentation, one handler per endpoint.
//!
//! The routes are in [`router`](crate::router); rules belong in `service`, JSON in `entity`.
//!
//! Spec: <https://docs.joinmastodon.org/methods/>

pub mod accounts;
pub mod admin;
pub mod announcements;
pub mod apps;
pub mod blocks;
pub mod conversations;
pub mod credentials;
pub mod custom_emojis;
pub mod directory;
pub mod domain_blocks;
pub mod emails;
pub mod endorsements;
pub mod featured_tags;
pub mod filters;
pub mod filters_v1;
pub mod follow_requests;
pub mod instance;
pub mod interaction_policies;
pub mod interaction_requests;
pub mod lists;
pub mod markers;
pub mod media;
pub mod moving;
pub mod mutes;
pub mod notification_groups;
pub mod notification_policies;
pub mod notification_requests;
pub mod notifications;
pub mod oembed;
pub mod peers;
mod policy_params;
pub mod polls;
pub mod preferences;
pub mod push;
pub mod registrations;
pub mod relationships;
pub mod reports;
pub mod scheduled_statuses;
pub mod search;
pub mod status_actions;
pub mod statuses;
pub mod suggestions;
pub mod tags;
pub mod threads;
pub mod timelines;
pub mod translations;
pub mod trends;
