//! Tests of the sandbox with guests that are hostile or buggy.
//!
//! Each guest is a file of WebAssembly text in `hostile/`: the functions of a core module, which `harness` appends to a
//! common prelude and wraps in a component.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "prints measurements beside the assertions")]

mod cache;
mod harness;
mod hostile;
mod life;
mod metrics;
mod pools;
mod refused;
