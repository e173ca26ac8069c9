//! Federation: documents, two servers that talk, and hostile ones.

mod documents;
mod hostile;
mod two_servers;
