//! <https://docs.joinmastodon.org/entities/Marker/>

use serde::Serialize;

use context::error::Result;
use context::json::{Fragment, Object};

/// The read position of a timeline.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Marker {
    pub last_read_id: String,
    pub version: i64,
    pub updated_at: String,
}

/// Renders markers, keyed by timeline.
pub fn render(markers: &[model::marker::Marker]) -> Result<Fragment> {
    let mut map = Object::with_capacity(256);
    for marker in markers {
        let shown = Marker {
            last_read_id: marker.last_read_id.to_string(),
            version: marker.version,
            updated_at: marker.updated_at.to_api(),
        };
        map.member(marker.timeline.as_str(), Fragment::of(&shown)?.as_str());
    }
    Ok(map.close())
}
