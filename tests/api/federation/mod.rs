//! Federation: documents, two servers that talk, and hostile ones.

mod custom_emojis;
mod delivery;
mod documents;
mod finding;
mod hostile;
mod quotes;
mod scene;
mod shown;
mod software;
mod two_servers;
