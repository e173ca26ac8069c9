//! The sandbox: compiles WebAssembly components, limits them, and calls what they export.
//!
//! The only code that names wasmtime, and it knows nothing of the server around it: what a plugin may ask for is the
//! trait [`Host`], one object for each call, and what it is asked are the methods of [`Plugin`]. Which plugins there are,
//! what a manifest says, and where a plugin's answers go is not decided here.
//!
//! The contract is `plugin-sdk/wit/0.1/plugin.wit`; limits and life cycle follow `PLUGINS.md` sections 2.2 to 2.6.

mod bindings;
mod fault;
mod host;
mod limits;
mod plugin;

pub use bindings::{exports, imports};
pub use fault::{CallError, Ended, Fault, Stage};
pub use host::Host;
pub use limits::{Limits, Policy};
pub use plugin::{Engine, Export, Import, Options, Package, Plugin, Shape};
