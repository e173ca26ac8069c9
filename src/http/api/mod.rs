//! One file per group of the client API, one short handler per endpoint.

pub mod accounts;
pub mod media;
pub mod statuses;
