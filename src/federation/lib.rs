//! Federation: this server among others that speak ActivityPub.
//!
//! A layer beside the HTTP layer, above `service` and `entity`, and unknown to all three: `server` mounts its documents
//! and inboxes, and use cases reach it through the port in `context`. Rules about accounts and statuses are in
//! `service`; this crate reads and writes documents, and decides who is believed.
//!
//! Spec: docs/contract/federation.md; <https://www.w3.org/TR/activitypub/>.

pub mod address;
pub mod deliver;
pub mod documents;
mod failure;
pub mod fetch;
mod floods;
mod followers;
mod identity;
pub mod inbox;
mod lookups;
pub mod policy;
mod port;
mod reading;
pub mod signature;
mod signer;
mod state;
mod steps;
pub mod vocabulary;

pub use failure::Failure;
pub use signer::Rejection;
pub use state::Network;
