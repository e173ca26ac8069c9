//! Signing in: applications, OAuth, access tokens, passwords, one-time links, and sessions of browsers.
//!
//! The grant behind a token is read in [`grants`](crate::access::grants).

pub mod application;
pub mod link;
pub mod oauth;
pub mod password;
pub mod session;
pub mod token;

pub use crate::access::grants::{actors, cached_actors, grant, usable, viewers, week};
