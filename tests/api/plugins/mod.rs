//! The plugin platform.

mod group_routes;
mod guest;
mod hooks;
mod lifecycle;
mod routes;
mod shelf;
mod sql;
mod sql_layers;
mod sql_schema;
