//! The sandbox: compiles WebAssembly components, limits them, and calls what they export.
//!
//! The only code that names wasmtime, and it knows nothing of the server around it: what a plugin may ask for is the
//! trait [`Host`], one object for each call, and what it is asked are the methods of [`Plugin`]. Which plugins there are,
//! what a manifest says, and where a plugin's answers go is not decided here.
//!
//! The contract is `plugin-sdk/wit/0.1/plugin.wit`; limits and life cycle follow `PLUGINS.md` sections 2.2 to 2.6.
//!
//! A call goes from [`Plugin`] to `call`, which asks the breaker, takes a place and an instance from `pool`, enters the
//! instance's store (`state`) with a budget and a [`Host`], and lets the guest run; what the guest asks arrives in
//! `serve`. A component comes in through [`Engine::load`]: `shape` looks at it, `compile` and `cache` turn it into machine
//! code, `link` connects what was granted.

mod bindings;
mod breaker;
mod cache;
mod call;
mod clock;
mod compile;
mod contract;
mod engine;
mod fault;
mod figures;
mod host;
mod instance;
mod limits;
mod link;
mod plugin;
mod pool;
mod serve;
mod shape;
mod state;
mod weigh;

pub use bindings::{exports, imports};
pub use breaker::BreakerState;
pub use contract::{Export, Import};
pub use engine::{Engine, Options};
pub use fault::{CallError, Ended, Fault, Stage};
pub use figures::{BreakerReport, Stats};
pub use host::{Host, Transaction};
pub use limits::{Limits, Policy};
pub use plugin::{Package, Plugin};
pub use shape::Shape;
