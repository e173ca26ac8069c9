//! The server's tests, as one binary. Most speak HTTP to the real router on a separate database.
//!
//! On SQLite by default; on PostgreSQL when `TEST_DATABASE_URL` names a server on which databases may be created. Files are
//! in folders, or with `TEST_STORAGE=s3` in buckets of an S3 server in this process.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(unreachable_pub, dead_code, reason = "the harness is a library for the test modules")]

#[path = "../bucket/mod.rs"]
mod bucket;
mod harness;
#[path = "../seed/mod.rs"]
mod seed;

mod admin;
#[cfg(feature = "plugins")]
mod browser;
mod federation;
mod jobs;
mod platform;
#[cfg(feature = "plugins")]
mod plugins;
mod routes;
mod streaming;
mod web;
