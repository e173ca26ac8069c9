//! Federation: documents, two servers that talk, and hostile ones.

mod acts;
mod delivery;
mod documents;
mod filling;
mod finding;
mod friends;
mod hostile;
mod shown;
mod two_servers;
