//! Inboxes: activities from other servers.
//!
//! [`receive()`] answers a request after cheap checks: the shape, the signature, the policy, a replay. The activity is
//! then a row, and a job processes the activities of one sender in their order. Every type of activity is a row of one
//! table, [`kinds`], and a file. An activity that
//! fails for a reason that may pass is set aside for a separate job, so that it does not delay later ones. Every refusal is
//! counted by its reason.
//!
//! Spec: docs/contract/federation.md#6-inbox and docs/contract/federation.md#7-accepting-activities.

mod accept;
mod announce;
mod block;
mod bundle;
mod consent;
mod create;
mod delete;
mod flag;
mod follow;
mod forwarded;
mod inbound;
mod kinds;
mod like;
mod moving;
mod pin;
mod process;
mod reason;
mod receive;
mod refusal;
mod relayed;
mod synchronize;
mod undo;
mod update;

pub use reason::Reason;
pub use receive::{Mailbox, Received, receive};
pub use refusal::Refusal;
