//! The server itself: settings, jobs, nodes, keys, emojis, announcements and other server-wide data.

pub mod announcement;
pub mod cleaning;
pub mod domain_list;
pub mod domain_policy;
pub mod domain_subscription;
pub mod emoji;
pub mod instance;
pub mod job;
pub mod node;
pub mod node_change;
pub mod remote_media_mode;
pub mod server_key;
pub mod settings;
pub mod shared_lane;
pub mod terms;
pub mod unused;
