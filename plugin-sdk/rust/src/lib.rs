//! Plugins for Rookery, in Rust.
extern crate self as rookery_plugin;

pub mod bindings;
