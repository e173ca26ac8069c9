//! The server: its description, settings and rules, announcements, reports, and the addresses for its discovery.

pub mod announcement;
pub mod domain_policy;
pub mod instance;
pub mod mail;
pub mod picture;
pub mod public;
pub mod rule;
pub mod settings;
pub mod streaming;
pub mod terms;
pub mod unused;
pub mod webfinger;
