//! The hooks by which plugins take part in the work of the server: before, during and after.
//!
//! Reached through the core's extension port. [`Hooks`] is the table of subscriptions and belongs to the registry.
//! Before a status is saved or a notification created, filters are called, with no transaction open; while a response
//! is rendered, [`decorate()`] is called, and statements of plugins select the statuses that an account [`marked`], for
//! the search, and the statuses that automatic deletion [`exempt`]; afterwards events are delivered from an outbox
//! ([`record`]). When a plugin fails or is slow, only the addition of its hook is lost, according to its policy.
//! Without plugins each hook is a lookup in an empty table.
//!
//! Follows docs/plugins.md#14-hooks.

mod channel;
mod client;
mod decorate;
mod decoration_cache;
pub mod dispatch;
mod field;
mod filter;
pub mod instance;
pub mod instance_cache;
mod invoke;
mod judge;
mod lane;
mod named_check;
mod named_statements;
pub mod outbox;
mod predicate;
mod scopes;
pub mod sign_up;
mod subscription;
mod table;

pub use channel::open_channel;
pub use decorate::decorate;
pub use decoration_cache::DecorationCache;
pub use field::{Field, is_value};
pub use filter::filter;
pub use judge::{judge, judges};
pub use named_statements::{exceptions, exempt, list_marked, marked, search_words};
pub use outbox::{listens_to, record};
pub use predicate::Predicate;
pub use subscription::Subscription;
pub use table::Hooks;
