//! Publishing, editing and deleting statuses.

mod announced;
mod audience;
pub mod compose;
mod delete;
mod edit;
mod expiry;
pub(crate) mod insert;
mod interactions;
mod publish;
mod quote;
mod reference;

pub use announced::is_announced;
pub use delete::{MediaOfDeleted, delete, remove};
pub use edit::{Change, edit, history, own, source};
pub use expiry::expire;
pub use interactions::list_interactions;
pub use publish::{
    Draft, Prepared, claim_key, default_visibility, find_by_idempotency_key, prepare, publish, validate, write,
};
pub use quote::{list_quoting, revoke as revoke_quote, set_policy as set_quote_policy};
pub use reference::{MOST as MOST_REFERENCES, list_referring};
pub use store::idempotency_key::Made;
pub use store::interaction::Interaction;
