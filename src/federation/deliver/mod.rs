//! Delivery: the activities of accounts of this server, to inboxes of other servers.
//!
//! [`record()`] receives every change in its transaction. Small documents, and documents about rows that are being deleted,
//! are stored with their deliveries in this transaction. A status or profile is rendered by a job, which also finds the
//! recipients. A job for each host sends its documents in order, with back-off; a final response ends a delivery.
//!
//! Spec: docs/contract/federation.md#3-documents-sent and docs/contract/federation.md#8-delivery.

mod activity;
mod blocks;
mod consent;
mod distribute;
mod flags;
mod follows;
mod health;
mod moves;
mod owed;
mod pins;
mod polls;
mod queue;
mod record;
mod relays;
mod send;
mod statuses;
mod synchronization;

pub(crate) use follows::not_following;
pub use follows::{Reply, answer_follow};
pub(crate) use health::mark_alive;
pub use health::set_paused;
pub use owed::{HostState, OwedHost, dead, hosts, retry};
pub use record::record;
pub use relays::follow_relay;
pub use send::release_claims;
