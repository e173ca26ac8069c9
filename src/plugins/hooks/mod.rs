//! Where plugins take part in what the server does: before, during and after.
//!
//! [`Hooks`] says who is asked when, in which order; it belongs to the registry. Before a status is saved or a
//! notification made, filters are asked, with no transaction open; while an answer is rendered, [`decorate()`] is; afterwards events are delivered
//! from an outbox ([`record`]). A plugin that fails or is slow costs what its hook adds, as its policy says, and nothing
//! else. Without plugins every one of these is a look at an empty table.
//!
//! Follows `PLUGINS.md`, section 1.4.

pub mod budget;
mod decorate;
pub mod dispatch;
mod field;
mod filter;
pub mod instance;
mod judge;
mod kept;
mod lane;
pub mod outbox;
mod subscription;
mod table;
mod when;

pub use decorate::{Decorations, Members, Target, decorate, is_decorated};
pub use field::{Field, is_value};
pub use filter::{Pending, filter, has_filters, has_visibility};
pub use judge::{Judgement, is_judged, judge};
pub use kept::{Kept, Versions};
pub use outbox::{Change, Kind, is_heard, record, record_all};
pub use subscription::Subscription;
pub use table::Hooks;
pub use when::{Predicate, Traits};
