//! Federation: documents, two servers that talk, and hostile ones.

mod delivery;
mod documents;
mod finding;
mod hostile;
mod operators;
mod shown;
mod two_servers;
