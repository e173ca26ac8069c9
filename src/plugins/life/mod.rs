//! The life of plugins on this server: from a package that is found to one that serves, and what happens when one fails.
//!
//! The desired state consists of rows that every server reads ([`desired`]); [`reconcile`](follow) makes this server
//! follow them, one plugin at a time, off the request path: it chooses a package ([`source`]), prepares it
//! (`pipeline`), waits for calls on tables that change ([`pause`]) and swaps the registry. [`supervise`] monitors
//! active plugins, [`watch`] changes of files. The state machine in `machine` alone decides the transitions;
//! [`observed`] stores its state for the admin.
//!
//! Follows docs/plugins.md#2-life-cycle.

mod authority;
pub mod desired;
mod machine;
pub mod observed;
pub mod pause;
pub mod pauses;
pub(crate) mod pipeline;
mod reconcile;
pub mod source;
mod startup;
pub mod supervise;
pub mod watch;

pub use machine::State;
pub use reconcile::{Outcome, Report, check, follow, follow_changes, reload};
pub use startup::{leave_to_server, prepare, start};
