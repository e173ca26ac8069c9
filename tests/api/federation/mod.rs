//! Federation: documents, two servers that talk, and hostile ones.

mod activity_ids;
mod acts;
mod consent;
mod custom_emojis;
mod delivery;
mod documents;
mod filling;
mod finding;
mod friends;
mod honest;
mod hostile;
mod hosts;
mod limited;
mod local_only;
mod move_kills;
mod moving;
mod names;
mod operators;
mod purging;
mod quotes;
mod relays;
mod remote_media;
mod reports;
#[cfg(feature = "plugins")]
mod retention;
mod scene;
mod shown;
mod signed_reads;
mod software;
mod synchronization;
mod two_servers;
mod words;
