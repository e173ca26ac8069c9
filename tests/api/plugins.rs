//! Plugins, from the folder they lie in to the answers they change.

mod lifecycle;
mod shelf;
