//! How far someone has read.

use super::{Time, text_enum};

text_enum! {
    /// A timeline that has a marker.
    MarkedTimeline {
        /// The home timeline.
        Home = "home",
        /// The notifications.
        Notifications = "notifications",
    }
}

/// The last thing read of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct Marker {
    /// Of which.
    pub timeline: MarkedTimeline,
    /// A status's or a notification's id.
    pub last_read_id: i64,
    /// 1 when first written, one more with each change.
    pub version: i64,
    /// When it changed last.
    pub updated_at: Time,
}
