//! Publishing, editing and deleting statuses.

pub mod interaction;
pub mod poll;
pub mod reblog;
pub mod saved_draft;
pub mod scheduled_status;

mod address;
pub mod compose;
pub(crate) mod consent;
pub mod decision;
mod delete;
mod draft;
mod edit;
pub(crate) mod edited_status;
mod expiry;
pub mod held_status;
pub mod idempotency;
pub(crate) mod insert;
mod interactions;
pub(crate) mod mentions;
pub(crate) mod new_status;
mod publish;
mod quote;
pub(crate) mod quoting;
mod ready;
pub(crate) mod reference;
mod reference_notices;
pub(crate) mod revision;
mod states;
pub mod thread;

pub use address::default_visibility;
pub(crate) use delete::erase;
pub use delete::{MediaOfDeleted, delete, remove};
pub use draft::{Draft, EditDraft};
pub use edit::edit;
pub use expiry::expire;
pub use interactions::list_interactions;
pub use publish::{prepare, publish, validate};
pub use quote::{list_quoting, revoke as revoke_quote, set_policy};
pub use ready::{Ready, write};
pub use reference::{MOST as MOST_REFERENCES, list_referring};
pub use revision::{History, history, own, source};
pub use store::idempotency_key::CreatedStatus;
pub use store::interaction::Interaction;
