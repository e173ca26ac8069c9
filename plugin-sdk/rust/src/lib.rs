//! The Rust SDK for Rookery plugins.
//!
//! A plugin is a crate with a manifest (`plugin.toml`), a struct marked [`plugin`](macro@plugin), and functions with an attribute
//! that says when they are called: [`route`], [`on`], [`job`], [`command`], [`init`], [`self_test`]. The attributes are
//! compared with the manifest at compile time, so that the two cannot diverge. The host functions that a plugin may
//! call are modules named as in the contract: [`core`], [`feeds`], [`sql`], [`kv`] and so on.
//!
//! The same crate also compiles natively, with the fake server of [`test`](mod@test) in place of the host: `cargo test`
//! needs neither WebAssembly nor a running server.
//!
//! Start with `plugin-sdk/README.md`; `plugin-sdk/COOKBOOK.md` has recipes, and `plugin-sdk/wit` is the contract, with
//! the cost, permission and errors of each host function.

#![warn(missing_docs)]

extern crate self as rookery_plugin;

#[cfg(all(target_arch = "wasm32", feature = "allocator"))]
mod allocator;
pub mod bindings;
mod context;
mod error;
mod hooks;
mod host;
mod id;
mod output;
pub mod pages;
pub mod params;
mod plugin;
mod sign_up;
pub mod sql;
#[cfg(not(target_arch = "wasm32"))]
pub mod test;
pub mod time;
pub mod titled;

pub use context::Context;
pub use error::{Error, OnUnique, Result};
pub use hooks::{Extras, IntoOutcome};
pub use host::*;
pub use id::Id;
pub use output::{Output, account_hole, credentials_hole, list_hole, status_hole, url_hole};
pub use plugin::{Package, Plugin};
pub use rookery_plugin_macros::{Row, command, init, job, on, page, plugin, route, self_test, submit};
pub use sign_up::SignUp;

/// Types of the contract, each under the module of its interface.
pub mod contract {
    pub use crate::bindings::activity_filter::exports::rookery::plugin::activity_filter;
    pub use crate::bindings::activity_handler::exports::rookery::plugin::activity_handler;
    pub use crate::bindings::admin::exports::rookery::plugin::admin;
    pub use crate::bindings::channels::exports::rookery::plugin::channels;
    pub use crate::bindings::decorate::exports::rookery::plugin::decorate;
    pub use crate::bindings::events::exports::rookery::plugin::events;
    pub use crate::bindings::fanout::exports::rookery::plugin::fanout;
    pub use crate::bindings::host::*;
    pub use crate::bindings::instance_info::exports::rookery::plugin::instance_info;
    pub use crate::bindings::jobs::exports::rookery::plugin::jobs;
    pub use crate::bindings::lifecycle::exports::rookery::plugin::lifecycle;
    pub use crate::bindings::notification_filter::exports::rookery::plugin::notification_filter;
    pub use crate::bindings::pages::exports::rookery::plugin::pages;
    pub use crate::bindings::routes::exports::rookery::plugin::routes;
    pub use crate::bindings::sign_up::exports::rookery::plugin::sign_up;
    pub use crate::bindings::status_filter::exports::rookery::plugin::status_filter;
}

/// The imports that nearly every plugin needs.
pub mod prelude {
    pub use crate::contract::decorate::Target;
    pub use crate::contract::events::{Event, Subject};
    pub use crate::contract::feeds::{CustomFeed, Entry, Feed};
    pub use crate::contract::jobs::{Outcome, Task};
    pub use crate::contract::lifecycle::Environment;
    pub use crate::contract::sign_up::Admission;
    pub use crate::contract::status_filter::{Change, Draft, Verdict};
    pub use crate::contract::types::{Account, Page, Relationship, Status, Viewer};
    pub use crate::params::{Json, Params, Query};
    pub use crate::{
        Context, Error, Extras, Id, OnUnique, Output, Plugin, Result, Row, SignUp, account_hole, cache, command,
        config, core, core_write, credentials_hole, feeds, http_client, init, job, kv, list_hole, log, on, page,
        plugin, queue, route, sealing, self_test, settings, status_hole, streaming, submit, system, url_hole,
    };
    pub use serde::{Deserialize, Serialize};
    pub use serde_json::json;
}

#[doc(hidden)]
pub mod __private {
    pub use crate::params::{FromParam, FromRequest, args, param};
    pub use crate::plugin::Reply;
    pub use crate::sql::{next as next_column, page};
    pub use serde_json;
}
