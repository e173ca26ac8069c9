//! Handlers of the client API: one file per method group of the Mastodon documentation, one handler per endpoint.
//!
//! The routes are in [`router`](crate::router); rules belong in `service`, JSON in `entity`.
//!
//! Spec: <https://docs.joinmastodon.org/methods/>

pub mod accounts;
pub mod apps;
pub mod blocks;
pub mod credentials;
pub mod custom_emojis;
pub mod emails;
pub mod filters;
pub mod filters_v1;
pub mod follow_requests;
pub mod instance;
pub mod markers;
pub mod media;
pub mod mutes;
pub mod notifications;
pub mod preferences;
pub mod profile;
pub mod registrations;
pub mod relationships;
pub mod search;
pub mod status_actions;
pub mod statuses;
pub mod timelines;
