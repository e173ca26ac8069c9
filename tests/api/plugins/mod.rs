//! The plugin platform.

mod lifecycle;
mod shelf;
mod sql;
