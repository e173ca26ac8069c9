//! Streams: who hears of what, in which form, and when a connection ends.

mod batches;
mod connections;
mod nodes;
mod personal;
mod public;
mod ways_in;
