//! The plugin platform.

mod sql;
