//! The change log: a use case records each change once, in the transaction that makes it.
//!
//! Every kind of change is a row of one table, [`kinds`], which names its listeners and what each is given, and
//! [`record()`] sends it to them: jobs, pushes, the outbox of extensions, other servers, and streams. Durable listeners get a row in
//! the transaction, the others a message after the commit. A change without listeners costs one lookup and writes
//! nothing.
//!
//! The reactions of listeners are elsewhere. A change contains ids and the accounts concerned, never user text.
//!
//! Design: docs/architecture.md#5-changes-jobs-streaming. Words: docs/contract/events.md.

mod declare;
mod delivery;
mod event;
mod follow_up;
mod kinds;
mod live;
mod push;
mod record;
mod streamed;

pub use delivery::Delivery;
pub use event::Event;
pub use kinds::{Change, ChangeKind, CreatedNotification, StatusTraits};
pub use live::Live;
pub use record::{record, record_all};
pub use streamed::Streamed;
