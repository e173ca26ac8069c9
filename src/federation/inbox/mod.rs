//! Inboxes: what other servers send here.
//!
//! [`receive`] answers a request after cheap checks: the shape, the signature, the policy, a replay. The activity is
//! then a row, and a job processes the activities of one sender in their order: one file for each kind. An activity that
//! fails for a reason that may pass is set aside for a job of its own, so that it holds up no later one. Every refusal is
//! counted by its reason.
//!
//! Spec: docs/contract/federation.md#6-inbox and docs/contract/federation.md#7-accepting-activities.

mod accept;
mod announce;
mod create;
mod delete;
mod follow;
mod like;
mod note;
mod process;
mod receive;
mod refusal;
mod sender;
mod undo;
mod update;

pub use note::{author_of, store_fetched};
pub use receive::{Mailbox, Received, receive};
pub use refusal::Refusal;
