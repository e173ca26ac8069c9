//! Plugin administration: the use cases behind the command line, the socket of a running server and the admin API.
//!
//! Each changes the desired state, in the database; the caller is already authorised. Running servers reconcile by
//! themselves, and [`life::reload`](crate::life::reload) reports the result immediately.

mod configure;
pub(crate) mod enable;
pub mod entity;
mod grant;
pub(crate) mod installed;
mod order;
mod outbox;
mod revoke;
mod rollback;
mod run;

pub use configure::{ConfigKey, config_keys, configure, set_limits, set_secret};
pub use enable::{accept, disable, enable, enable_shown};
pub(crate) use grant::grant_all;
pub use grant::{grant, grant_some};
pub use installed::{InstalledPlugin, find, list};
pub use order::{HookPosition, order};
pub use outbox::{Outbox, outbox, retry};
pub use revoke::revoke;
pub use rollback::rollback;
pub use run::{next_step, run};
