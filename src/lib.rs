//! Rookery: a federated social server whose features beyond the core are WebAssembly plugins.
//!
//! Three ways in (`http`, `jobs`, later `federation`), one middle (`service`), one bottom (`store`), one way out
//! (`entity`). The folders are the architecture; each module says what it does and what it does not.

pub mod app;
pub mod cli;
pub mod entity;
pub mod error;
pub mod event;
pub mod http;
pub mod jobs;
pub mod logging;
pub mod metrics;
pub mod plugins;
pub mod serve;
pub mod service;
pub mod templates;

#[cfg(test)]
use proptest as _;
