//! The `meta` of a media attachment, as it is stored and as clients see it.
//!
//! Spec: `MediaAttachment_image`, `MediaAttachment_gifv`, `MediaAttachment_video` and `MediaAttachment_audio`,
//! <https://docs.joinmastodon.org/entities/MediaAttachment/#meta>

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::converter::Converted;
use super::palette::Colors;
use super::streams::{Kind, Streams, VideoStream};
use super::types::{File, Processed};

/// Dimensions of an attachment and its preview, and its focal point.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// The same as in `original`, and the attributes of the sound, as in the first versions of the API.
    #[serde(flatten)]
    pub summary: Summary,
    /// The full-size file; absent while it is processed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub original: Option<Original>,
    /// The preview, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub small: Option<Size>,
    /// The focal point; absent unless the uploader chose one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub focus: Option<Focus>,
    /// Of the picture of a sound.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub colors: Option<Colors>,
}

/// The members beside `original` of a video or a sound that `ffmpeg` made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// `"0:01:28.65"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<String>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<f64>,
    /// Frames per second, rounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<u64>,
    /// Dimensions of the pictures.
    #[serde(flatten)]
    pub size: Option<Size>,
    /// The codec of the sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_encode: Option<String>,
    /// `"44100 Hz"`: so it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_bitrate: Option<String>,
    /// `"mono"`, `"stereo"` or `"6 channels"`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio_channels: Option<String>,
}

/// Metadata of the original, whose fields depend on the attachment's type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Original {
    /// Of a `gifv` or a `video`.
    Video(Video),
    /// Of an `image`.
    Image(Size),
    /// Of an `audio`.
    Sound(Sound),
}

/// Length and bit rate of a sound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sound {
    /// In seconds.
    pub duration: f64,
    /// In bits per second, over the whole file.
    pub bitrate: u64,
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

/// Dimensions, frame rate and bit rate of a video.
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
        original: Some(original(processed)),
        small: processed.preview.as_ref().map(Size::of),
        focus: focus.map(|(x, y)| Focus { x, y }),
        ..Meta::default()
    }
}

/// Describes `converted` in `meta`, which keeps its focal point and picture.
pub fn meta_of_converted(converted: &Converted, meta: &mut Meta) {
    let duration = converted.streams.duration.unwrap_or(0.0);
    let bitrate = bitrate(converted.size_bytes, Duration::try_from_secs_f64(duration).unwrap_or_default());
    let video = converted.streams.video.as_ref().filter(|_| converted.kind != Kind::Audio);
    meta.original = Some(match video {
        None => Original::Sound(Sound { duration, bitrate }),
        Some(VideoStream { width, height, frame_rate: (frames, seconds), .. }) => Original::Video(Video {
            width: *width,
            height: *height,
            frame_rate: format!("{frames}/{seconds}"),
            duration,
            bitrate,
        }),
    });
    meta.summary = summary(&converted.streams, video, duration);
}

fn summary(streams: &Streams, video: Option<&VideoStream>, duration: f64) -> Summary {
    let audio = streams.audio.as_ref();
    Summary {
        length: Some(length(duration)),
        duration: Some(duration),
        fps: video.map(|VideoStream { frame_rate: (frames, seconds), .. }| (frames + seconds / 2) / seconds),
        size: video.map(|video| Size::new(video.width, video.height)),
        audio_encode: audio.map(|audio| audio.codec.clone()),
        audio_bitrate: audio.map(|audio| format!("{} Hz", audio.sample_rate)),
        audio_channels: audio.map(|audio| match audio.channels {
            1 => "mono".to_owned(),
            2 => "stereo".to_owned(),
            more => format!("{more} channels"),
        }),
    }
}

/// `"0:01:28.65"`
fn length(duration: f64) -> String {
    let hundredths = Duration::try_from_secs_f64(duration).unwrap_or_default().as_millis() / 10;
    let (seconds, rest) = (hundredths / 100, hundredths % 100);
    format!("{}:{:02}:{:02}.{rest:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Describes the picture of a video or a `sound` in `meta`; `picture` was made for a
/// [`Thumbnail`](super::Purpose::Thumbnail).
pub fn with_thumbnail(meta: &mut Meta, picture: &Processed, sound: bool) {
    meta.small = Some(Size::of(&picture.original));
    meta.colors = picture.colors.clone().filter(|_| sound);
}

fn original(processed: &Processed) -> Original {
    let file = &processed.original;
    match processed.motion {
        Some(motion) if processed.is_gifv() => Original::Video(Video {
            width: file.width,
            height: file.height,
            frame_rate: motion.frame_rate(),
            duration: motion.duration.as_secs_f64(),
            bitrate: bitrate(file.bytes.len() as u64, motion.duration),
        }),
        _ => Original::Image(Size::of(file)),
    }
}

/// Bits per second, rounded down; 0 when the duration is zero.
fn bitrate(bytes: u64, duration: Duration) -> u64 {
    let bits_by_thousand = u128::from(bytes) * 8 * 1000;
    let bitrate = bits_by_thousand.checked_div(duration.as_millis()).unwrap_or(0);
    u64::try_from(bitrate).unwrap_or(u64::MAX)
}

impl Size {
    fn of(file: &File) -> Self {
        Self::new(file.width, file.height)
    }

    fn new(width: u32, height: u32) -> Self {
        Self { width, height, size: format!("{width}x{height}"), aspect: f64::from(width) / f64::from(height) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture;
    use super::super::{Purpose, process};
    use super::*;

    #[test]
    fn image_has_sizes_and_given_focus() {
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
    fn length_is_written_as_players_do() {
        assert_eq!(
            (length(0.5), length(88.654), length(36_061.0)),
            ("0:00:00.50".into(), "0:01:28.65".into(), "10:01:01.00".into())
        );
    }

    #[test]
    fn gifv_has_frame_rate_and_no_default_focus() {
        let processed = process(&fixture::gif(64, 32, 4, 50), Purpose::Attachment).unwrap();
        let value = serde_json::to_value(meta(&processed, None)).unwrap();
        assert_eq!(value["original"]["frame_rate"], "20/1");
        assert_eq!(value["original"]["duration"], 0.2);
        assert!(value["original"]["bitrate"].as_u64().unwrap() > 0);
        assert!(value["original"].get("size").is_none() && value.get("focus").is_none());
        assert_eq!(serde_json::from_value::<Meta>(value).unwrap(), meta(&processed, None));
    }
}
