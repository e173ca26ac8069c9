//! The plugin platform.

mod antennas;
mod bookmark_categories;
mod emoji_reactions;
mod group_routes;
mod groups;
mod guest;
mod hooks;
mod lifecycle;
mod reaction_deck;
mod routes;
mod shelf;
mod examples;
mod sql;
mod sql_layers;
mod sql_schema;
