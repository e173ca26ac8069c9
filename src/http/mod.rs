//! The HTTP side: routes, extractors, one short handler per endpoint. Rules live in `service`, SQL in `store`.

pub mod api;
pub mod auth;
pub mod error;
pub mod extract;
pub mod files;
pub mod health;
pub mod json;
pub mod observe;
pub mod page;
pub mod router;
