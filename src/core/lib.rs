//! The middle of Rookery: use cases, the JSON that clients see, what happened, and jobs as data.
//!
//! Reached from every way in (`http`, `worker`, `plugins`, `cli`), each of which brings a [`Cx`]. Below it is `store`. It
//! knows no HTTP and no plugin: what it asks of extensions is the port [`extension::Extensions`].

pub mod by_id;
pub mod caches;
pub mod change;
pub mod cx;
pub mod entity;
pub mod error;
pub mod extension;
pub mod hosts;
pub mod json;
pub mod limits;
pub mod messages;
pub mod node;
mod origin;
pub mod queue;
pub mod service;
pub mod templates;
pub mod vapid;

pub use cx::Cx;
pub use error::{Error, Result};
pub use messages::Language;
pub use origin::Origin;
