//! What every use case and every rendering takes: the context, and what it holds.
//!
//! [`Cx`] has the server's services and what belongs to one request; [`change`] and [`queue`] record what happened and what
//! is to be done, in the transaction that makes it true; [`caches`] are the caches as data; [`extension`] is the port, what a
//! use case asks of extensions. Reached from every layer above. It knows no use case, no entity, no HTTP and no plugin.

pub mod by_id;
pub mod caches;
pub mod change;
pub mod cx;
pub mod error;
pub mod extension;
pub mod hosts;
pub mod json;
pub mod limits;
pub mod messages;
pub mod node;
mod origin;
pub mod queue;
pub mod vapid;

pub use cx::Cx;
pub use error::{Error, Result};
pub use messages::Language;
pub use origin::Origin;
