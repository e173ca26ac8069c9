//! Streams: receivers and format of events, and the end of connections.

mod batches;
mod connections;
mod nodes;
mod personal;
mod public;
mod ways_in;
