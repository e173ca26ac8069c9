//! The server's tests, as one binary. Most speak HTTP to the real router on a database of their own.
//!
//! On SQLite by default; on PostgreSQL when `TEST_DATABASE_URL` names a server in which databases may be made.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(missing_docs, reason = "a test is documented by its name")]
#![allow(unreachable_pub, dead_code, reason = "the harness is a library for the test modules")]

mod harness;

mod accounts;
mod announcements;
mod apps;
mod archives;
mod at_once;
mod blocks;
mod bodies_in_flight;
mod cards;
mod cli;
mod client_reports;
mod contract;
mod conversations;
mod crash;
mod custom_emojis;
mod directory;
mod domain_blocks;
mod emails;
mod embeds;
mod faults;
mod feeds;
mod filters;
mod follow_requests;
mod fuzz;
mod grants;
mod headers;
mod health;
mod home_feeds;
mod instance;
mod kept;
mod later_versions;
mod lists;
mod markdown;
mod markers;
mod media;
mod media_corpus;
mod media_worker;
mod moving_media;
mod mutes;
mod notification_groups;
mod notification_mails;
mod notification_policies;
mod notifications;
mod notified;
mod oauth;
mod openapi;
mod page_costs;
mod password;
#[cfg(feature = "plugins")]
mod plugins;
mod polls;
mod preferences;
mod profile;
mod profile_links;
mod push;
mod quotes;
mod rate_limits;
mod references;
mod relations;
mod relationships;
mod removal;
mod reports;
mod routed;
mod routes;
mod rows;
mod scheduled_statuses;
mod schema;
mod search;
#[path = "../seed/mod.rs"]
mod seed;
mod serve;
mod settings;
mod sign_up;
mod statements;
mod status_cleanup;
mod status_search;
mod statuses;
mod still_pictures;
mod store;
mod streaming;
mod suggestions;
mod tags;
mod tidy;
mod traces;
mod transfers;
mod translations;
mod trends;
mod unread_bodies;
mod visibility;
mod web_languages;
mod web_pages;
mod web_session;
mod web_settings;
mod web_transfers;
mod well_known;
