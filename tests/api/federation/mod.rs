//! Federation: documents, two servers that talk, and hostile ones.

mod documents;
mod two_servers;
