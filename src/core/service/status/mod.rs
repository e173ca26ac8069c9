//! Publishing, editing and deleting statuses.

pub mod compose;
mod delete;
mod edit;
mod publish;
mod who;

pub use delete::{delete, remove};
pub use edit::{Change, edit, history, source};
pub use publish::{Draft, Prepared, default_visibility, prepare, publish, repeated, write};
pub use store::publish::Who;
pub use who::who;
