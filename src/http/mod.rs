//! The HTTP side: routes, extractors, one short handler per endpoint. Rules live in `service`, SQL in `store`.

pub mod access;
pub mod api;
pub mod auth;
pub mod cache;
pub mod client_address;
pub mod compress;
pub mod error;
pub mod extract;
pub mod files;
pub mod guard;
pub mod headers;
pub mod health;
pub mod json;
pub mod limits;
pub mod oauth;
pub mod observe;
pub mod page;
pub mod router;
pub mod socket;
pub mod web;
pub mod well_known;
