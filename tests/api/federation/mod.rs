//! Federation: documents, two servers that talk, and hostile ones.

mod delivery;
mod documents;
mod finding;
mod hostile;
mod two_servers;
