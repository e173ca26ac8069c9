//! Read markers: how far an account has read a timeline.

use super::{Time, text_enum};

text_enum! {
    /// A timeline that has a marker.
    MarkedTimeline {
        Home = "home",
        Notifications = "notifications",
    }
}

/// The read position in a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::Row)]
pub struct Marker {
    pub timeline: MarkedTimeline,
    /// Id of a status or a notification.
    pub last_read_id: i64,
    /// 1 when first written, incremented with each change.
    pub version: i64,
    /// When it last changed.
    pub updated_at: Time,
}
