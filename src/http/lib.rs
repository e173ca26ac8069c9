//! The HTTP layer: routes, the stages around them, extractors and one short handler per endpoint.
//!
//! [`router`] lists the routes, [`stages`] what every request goes through around its handler. Use cases are in the crate
//! `service`, SQL in `store`, and the JSON of clients in `entity`. Every error leaves as an [`ErrorResponse`].

// By which the names that `parameters` writes hold here too.
extern crate self as rookery_http;

pub mod api;
pub mod auth;
pub mod cache;
pub mod client_address;
mod client_file_names;
mod client_folder;
pub mod closed_server;
pub mod compress;
mod cx;
mod deprecation;
pub mod door;
pub mod error;
pub mod extract;
pub mod files;
pub mod headers;
pub mod health;
mod in_flight;
mod inline_scripts;
mod ip_blocks;
pub mod json;
mod language;
pub mod mount;
pub mod oauth;
pub mod observe;
pub mod openapi;
pub mod operation;
pub mod page;
pub(crate) mod path_normalisation;
pub mod policy;
pub mod rate_limits;
pub mod remote_files;
pub mod request_limits;
pub mod router;
pub mod stages;
mod state;
mod table;
pub mod web;
pub mod well_known;

pub use cx::Cx;
pub use error::{ErrorResponse, Result};
