//! The plugin sandbox: compiles WebAssembly components with wasmtime, limits their resources and calls their exports.
//!
//! Reached from `src/plugins`, through [`Engine::load`] and the methods of [`Plugin`]. This is the only crate that
//! names wasmtime, and it does not depend on the server: the functions that a plugin may call are the trait [`Host`],
//! one object per call. Installation, manifests and the use of results are decided elsewhere.
//!
//! How each resource is limited: CPU time by epoch interruption (an epoch deadline, moved by a ticker thread),
//! wall-clock time by a timeout, memory, tables and stack by wasmtime's resource limiter and pooling allocator, host
//! calls and bytes by counters and host-call fuel. A circuit breaker stops calls that keep failing.
//!
//! A component comes in through [`Engine::load`]: `shape` validates it and reads its imports and exports, `compile` and
//! `cache` turn it into machine code, `link` links the interfaces that were granted. A call goes from [`Plugin`] to
//! `call`, which asks the circuit breaker, takes a slot and an instance from `pool`, enters the instance's store
//! (`state`) with a budget and a [`Host`], and runs the guest; its calls of host functions arrive in `serve`.
//!
//! The contract is `plugin-sdk/wit/0.1/plugin.wit`; limits and life cycle follow docs/plugins.md.

#![warn(missing_docs)]

mod bindings;
mod breaker;
mod byte_size;
mod cache;
mod call;
mod clock;
mod compile;
pub mod compile_worker;
mod contract;
mod engine;
mod error;
mod functions;
pub mod host;
mod instance;
mod limits;
mod link;
mod part;
mod plugin;
mod plugin_metrics;
mod pool;
mod serve;
mod state;
mod validate;

pub use bindings::{exports, imports};
pub use breaker::BreakerState;
pub use byte_size::ByteSize;
pub use contract::{Export, Import};
pub use engine::{Engine, EngineOptions};
pub use error::{CallError, CallErrorKind, LoadError, Stage};
pub use host::Host;
pub use limits::{InstancePolicy, Limits};
pub use part::Part;
pub use plugin::{Package, Plugin};
pub use plugin_metrics::{BreakerReport, Stats};
pub use validate::Interfaces;
