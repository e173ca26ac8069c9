//! The server's side of the plugin boundary: installed plugins, their hooks and routes, and their access to the server.
//!
//! Implements the core's extension port ([`context::extension`]): events arrive through the core's change log, and
//! requests that no core route matches arrive through the router's fallback. Everything that runs belongs to one
//! immutable [`Registry`], pinned for the length of a request or job ([`Cx::registry`]), so that a response never mixes
//! two generations. The sandbox is the crate `rookery-plugin-host`; nothing here names wasmtime. Follows
//! docs/plugins.md.

// That the future of loading a plugin is `Send` follows through more of wasmtime's types than the compiler looks at by default.
#![recursion_limit = "256"]

mod absent;
mod active;
pub mod admin;
pub mod administration;
pub mod call;
mod codes;
mod cx;
pub mod error;
mod failure;
mod hook_limits;
pub mod hooks;
pub mod install;
mod jobs;
pub mod life;
mod mount;
mod platform;
pub mod quota;
mod registry;
pub mod routes;
pub mod settings;
pub mod sql;
mod steps;

pub use absent::Absent;
pub use active::Active;
pub use cx::{Cx, Session};
pub use life::{prepare, reload, start};
pub use model::PluginId;
pub use mount::{administration, extra_routes};
pub use platform::Plugins;
pub use quota::{Quota, Quotas};
pub use registry::Registry;
