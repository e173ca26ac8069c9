//! Who sees and may do something: grants of tokens, accounts and their relations, the visibility of statuses.
//!
//! Every other room but [`rules`](crate::rules) stands on this one, which stands on `rules` alone.

pub mod account_domains;
pub mod accounts;
pub mod grants;
pub mod heads;
pub mod owner;
pub mod relations;
pub mod visibility;
pub(crate) mod web_address;
