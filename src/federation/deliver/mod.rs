//! Delivery: what accounts of this server do, to the inboxes of other servers.
//!
//! [`record`] hears every change in its transaction. Small documents, and those about what is about to be deleted, are
//! stored with their deliveries at once; a status or profile is rendered by a job, which also finds the recipients. The
//! documents owed to one host are sent in order by a job for the host, with back-off; a final answer ends a delivery.
//!
//! Spec: docs/contract/federation.md#3-documents-sent and docs/contract/federation.md#8-delivery.

mod distribute;
mod follows;
mod queue;
mod record;
mod send;
mod statuses;

pub use follows::{Reply, answer_follow};
pub use record::record;
