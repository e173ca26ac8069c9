//! The server: its description, settings and rules, announcements, reports, and the addresses for its discovery.

pub mod announcement;
pub mod domain;
pub mod domain_policy;
pub mod instance;
pub mod locale;
pub mod public;
pub mod report;
pub mod rule;
pub mod settings;
pub mod webfinger;
