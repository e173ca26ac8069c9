//! Fetching from other servers: documents, WebFinger, and the accounts and statuses that they describe.
//!
//! Every request is signed by the server's actor, passes [`policy`](crate::policy), and goes through the hardened client
//! of `outbound`, hop by hop. A document is believed only about itself: its id must be the address that it came from, and
//! its author must be at home on the same host.
//!
//! Spec: docs/contract/federation.md#11-security-checks.

pub(crate) mod account;
mod authorization;
mod bearcap;
mod collection;
pub(crate) mod document;
mod explain;
mod fill;
mod find;
mod key;
mod node_info;
mod status;
mod thread;
mod verify;
mod webfinger;

pub use account::{account, refreshed};
pub(crate) use authorization::authorized;
pub use bearcap::{Bearcap, by_bearcap};
pub(crate) use collection::whole;
pub use document::{Fetched, document};
pub use explain::{Explanation, explain, now};
pub use find::{accounts, by_url, interaction_page, refresh};
pub use key::key;
pub(crate) use status::quoted;
pub use status::{note, note_document, status};
