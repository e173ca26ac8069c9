//! The context of use cases and renderings, with the data structures that all of them share.
//!
//! [`Cx`] holds the server's services and the state of one request; [`change`] and [`queue`] record changes and jobs
//! in the caller's transaction; [`caches`] defines the caches; [`extension`] is the port through which use cases call
//! extensions, [`federation`] the one to other servers. Reached from every layer above. It knows no use case, no entity, no HTTP and no plugin.

mod browser;
pub mod budget;
pub mod by_id;
pub mod caches;
pub mod change;
mod configured;
pub mod cx;
pub mod error;
pub mod extension;
pub mod federation;
pub mod hosts;
pub mod json;
pub mod limits;
pub mod messages;
pub mod node;
mod origin;
pub mod queue;
mod recording_uses;
mod request_id;
mod secret;
mod spending;
pub mod starting;
pub mod turns;
pub mod vapid;
pub mod words;

pub use browser::BrowserUser;
pub use cx::Cx;
pub use error::{Error, Result};
pub use macros::job;
pub use messages::Language;
pub use origin::Origin;
