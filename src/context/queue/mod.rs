//! The durable queue as use cases see it: jobs are data, written in the transaction that causes them.
//!
//! [`enqueue()`] inserts a row; the crate `worker` claims rows under a lease, runs them and removes them, with exponential
//! back-off and dead letters. A job may run twice (a kill between its work and its removal), so every kind is idempotent.
//! A kind of job is a row of [`kinds`], and a function with the attribute [`job`](macro@crate::job) in the file of its use case.

mod declare;
mod enqueue;
pub(crate) mod job;
pub mod kinds;
mod payload;
pub mod run;

pub use enqueue::{enqueue, enqueue_all, enqueue_all_at, enqueue_any, enqueue_at, finish};
pub use job::{Done, Failure, Job, Queued};
pub use kinds::*;
pub use payload::{CarriedPart, Distribution, PLUGIN_FEED_LENGTH, Subject};
pub use run::Next;
