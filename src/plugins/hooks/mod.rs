//! Where plugins take part in what the server does: before, during and after.
//!
//! Reached through the core's extension port. [`Hooks`] is the table of subscriptions and belongs to the registry.
//! Before a status is saved or a notification created, filters are called, with no transaction open; while a response
//! is rendered, [`decorate()`] is called, and statements of plugins tell the search what somebody [`marked`] and automatic
//! deletion what is [`kept`]; afterwards events are delivered from an outbox ([`record`]). A plugin that
//! fails or is slow costs what its hook adds, as its policy says, and nothing else. Without plugins each of these is a
//! lookup in an empty table.
//!
//! Follows docs/plugins.md#14-hooks.

mod asked;
pub mod budget;
mod channel;
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
pub mod outbox;
mod scopes;
pub mod sign_up;
mod subscription;
mod table;
mod when;

pub use asked::{exceptions, kept, list_marked, marked, search_words};
pub use channel::open_channel;
pub use decorate::decorate;
pub use decoration_cache::DecorationCache;
pub use field::{Field, is_value};
pub use filter::filter;
pub use judge::{judge, judges};
pub use outbox::{listens_to, record};
pub use subscription::Subscription;
pub use table::Hooks;
pub use when::Predicate;
