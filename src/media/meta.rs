//! The `meta` of a media attachment, as it is stored and as clients see it.
//!
//! Spec: `MediaAttachment_image` and `MediaAttachment_gifv`,
//! <https://docs.joinmastodon.org/entities/MediaAttachment/#meta>

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::types::{File, Processed};

/// Dimensions of an attachment and its preview, and its focal point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The full-size file.
    pub original: Original,
    /// The preview, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub small: Option<Size>,
    /// The focal point; absent unless the uploader chose one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub focus: Option<Focus>,
}

/// Metadata of the original, whose fields depend on the attachment's type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Original {
    /// Of a `gifv`.
    Video(Video),
    /// Of an `image`.
    Image(Size),
}

/// Dimensions of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// `"640x360"`
    pub size: String,
    /// Width divided by height.
    pub aspect: f64,
}

/// Dimensions, frame rate and bit rate of a silent video.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// A fraction, `"30/1"`.
    pub frame_rate: String,
    /// In seconds.
    pub duration: f64,
    /// In bits per second, over the whole file.
    pub bitrate: u64,
}

/// A focal point, each coordinate from -1 to 1; see [`focus`](super::focus).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Focus {
    /// From left to right.
    pub x: f64,
    /// From bottom to top.
    pub y: f64,
}

/// Describes `processed`, with the `focus` its uploader chose, if any.
pub fn meta(processed: &Processed, focus: Option<(f64, f64)>) -> Meta {
    Meta {
        original: original(processed),
        small: processed.preview.as_ref().map(Size::of),
        focus: focus.map(|(x, y)| Focus { x, y }),
    }
}

fn original(processed: &Processed) -> Original {
    let file = &processed.original;
    match processed.motion {
        Some(motion) if processed.is_gifv() => Original::Video(Video {
            width: file.width,
            height: file.height,
            frame_rate: motion.frame_rate(),
            duration: motion.duration.as_secs_f64(),
            bitrate: bitrate(file.bytes.len(), motion.duration),
        }),
        _ => Original::Image(Size::of(file)),
    }
}

/// Bits per second, rounded down; 0 when the duration is zero.
fn bitrate(bytes: usize, duration: Duration) -> u64 {
    let bits_by_thousand = bytes as u128 * 8 * 1000;
    let bitrate = bits_by_thousand.checked_div(duration.as_millis()).unwrap_or(0);
    u64::try_from(bitrate).unwrap_or(u64::MAX)
}

impl Size {
    fn of(file: &File) -> Self {
        Self {
            width: file.width,
            height: file.height,
            size: format!("{}x{}", file.width, file.height),
            aspect: f64::from(file.width) / f64::from(file.height),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture;
    use super::super::{Purpose, process};
    use super::*;

    #[test]
    fn an_image_has_sizes_and_the_given_focus() {
        let processed = process(&fixture::png(1280, 720), Purpose::Attachment).unwrap();
        assert_eq!(
            serde_json::to_value(meta(&processed, Some((0.5, -0.25)))).unwrap(),
            json!({
                "original": { "width": 1280, "height": 720, "size": "1280x720", "aspect": 1280.0 / 720.0 },
                "small": { "width": 640, "height": 360, "size": "640x360", "aspect": 640.0 / 360.0 },
                "focus": { "x": 0.5, "y": -0.25 },
            })
        );
    }

    #[test]
    fn a_gifv_has_pace_and_no_focus_unless_given() {
        let processed = process(&fixture::gif(64, 32, 4, 50), Purpose::Attachment).unwrap();
        let value = serde_json::to_value(meta(&processed, None)).unwrap();
        assert_eq!(value["original"]["frame_rate"], "20/1");
        assert_eq!(value["original"]["duration"], 0.2);
        assert!(value["original"]["bitrate"].as_u64().unwrap() > 0);
        assert!(value["original"].get("size").is_none() && value.get("focus").is_none());
        assert_eq!(serde_json::from_value::<Meta>(value).unwrap(), meta(&processed, None));
    }
}
