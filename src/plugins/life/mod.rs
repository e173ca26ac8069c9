//! The life of plugins on this server: from a package that is found to one that serves, and what happens when one fails.
//!
//! The admin's wishes are rows that every server reads ([`desired`]); [`reconcile`](follow) makes this server follow them, one
//! plugin at a time, off the request path: it chooses a package ([`source`]), prepares it (`pipeline`), waits for calls on tables
//! that change ([`pause`]) and swaps the registry. [`supervise`] looks after what serves, [`watch`] after files that change.
//! What may follow what is decided in one place, the state machine in `machine`; [`observed`] keeps its state for the admin.
//!
//! Follows docs/plugins.md#2-life-cycle.

pub mod desired;
mod machine;
pub mod observed;
pub mod pause;
pub mod pauses;
pub(crate) mod pipeline;
mod reconcile;
pub mod source;
pub mod supervise;
pub mod watch;

pub use machine::State;
pub use reconcile::{Outcome, Report, check, follow, follow_changes, leave_to_server, reload, start};
