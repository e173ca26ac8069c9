//! The change log: a use case says once what happened, in the transaction that makes it true.
//!
//! [`record()`] looks a change up in one table, [`listeners`](kinds::listeners): a job, the outbox of extensions, whoever listens in this
//! process (streaming, caches). Durable listeners get a row in the transaction, the others are told after the commit. A
//! change that nobody listens to costs a look at that table and writes nothing.
//!
//! Not here: what a listener does with a change. A change carries ids and who is concerned, never text of people.
//!
//! Design: docs/architecture.md#5-changes-jobs-streaming. Words: docs/contract/events.md.

mod kinds;
mod live;
mod push;
mod record;

pub use kinds::{Change, ChangeKind, Made, StatusTraits};
pub use live::Live;
pub use record::{record, record_all};
