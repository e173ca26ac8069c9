//! The plugin platform.

mod administration;
mod antennas;
mod bookmark_categories;
mod capabilities;
mod crash;
mod emoji_reactions;
mod events;
mod examples;
mod group_routes;
mod groups;
mod guest;
mod hooks;
mod lifecycle;
mod outside;
mod probes;
mod purge;
mod reaction_deck;
mod reload;
mod routes;
mod shelf;
mod sql;
mod sql_layers;
mod sql_plans;
mod sql_schema;
