//! Inputs and outputs of image processing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::palette::Colors;

/// The purpose of an image, which decides its limits and its outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    /// Attached to a status: original, preview, and `gifv` when animated.
    Attachment,
    /// Scaled to 400x400, cropped to fill; enlarged when smaller.
    Avatar,
    /// Scaled down to at most 750000 pixels (1500x500), keeping the aspect ratio.
    Header,
    /// Scaled down to at most 262144 pixels (512x512), keeping the aspect ratio.
    Emoji,
    /// The image of a preview card: static, at most [`PREVIEW_PIXELS`](super::PREVIEW_PIXELS).
    Preview,
    /// The picture of a video or a sound: static, at most [`PREVIEW_PIXELS`](super::PREVIEW_PIXELS), with its colours.
    Thumbnail,
    /// A picture of the server itself: static.
    Server(ServerImage),
}

/// A picture that represents the server, in one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ServerImage {
    /// 1200x630, cropped to fill.
    Thumbnail,
    /// 2400x1260, cropped to fill.
    LargeThumbnail,
    /// 32x32, cropped to fill; a PNG.
    SmallIcon,
    /// 180x180, cropped to fill; a PNG.
    Icon,
    /// 512x512, cropped to fill; a PNG.
    LargeIcon,
    /// Scaled down to at most 65536 pixels, keeping the aspect ratio; a PNG.
    Logo,
}

impl ServerImage {
    /// The size that it fills; `None` when it keeps its aspect ratio.
    pub const fn size(self) -> Option<(u32, u32)> {
        match self {
            Self::Thumbnail => Some((1_200, 630)),
            Self::LargeThumbnail => Some((2_400, 1_260)),
            Self::SmallIcon => Some((32, 32)),
            Self::Icon => Some((180, 180)),
            Self::LargeIcon => Some((512, 512)),
            Self::Logo => None,
        }
    }

    /// True when it is written as PNG, whatever the format of its source.
    pub(super) const fn is_png(self) -> bool {
        !matches!(self, Self::Thumbnail | Self::LargeThumbnail)
    }
}

impl Purpose {
    /// Every purpose, in the order of their wire numbers.
    pub const ALL: [Self; 12] = [
        Self::Attachment,
        Self::Avatar,
        Self::Header,
        Self::Emoji,
        Self::Preview,
        Self::Thumbnail,
        Self::Server(ServerImage::Thumbnail),
        Self::Server(ServerImage::LargeThumbnail),
        Self::Server(ServerImage::SmallIcon),
        Self::Server(ServerImage::Icon),
        Self::Server(ServerImage::LargeIcon),
        Self::Server(ServerImage::Logo),
    ];

    /// The largest file accepted for it, in bytes, inclusive.
    pub const fn max_bytes(self) -> u64 {
        match self {
            Self::Attachment | Self::Thumbnail => super::MAX_IMAGE_BYTES,
            Self::Avatar | Self::Header => 2 * 1024 * 1024,
            Self::Emoji => 512 * 1024,
            Self::Preview | Self::Server(_) => 8 * 1024 * 1024,
        }
    }
}

/// A file format that is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Still, lossy.
    Jpeg,
    /// Still or animated (APNG).
    Png,
    /// Still or animated; written only when animated.
    Gif,
    /// Still or animated; written only still and lossless.
    Webp,
    /// H.264 video; written by us without sound, by `ffmpeg` with it.
    Mp4,
    /// Sound; written by `ffmpeg`.
    Mp3,
}

impl Format {
    /// The content type to serve it with.
    pub const fn mime(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Mp4 => "video/mp4",
            Self::Mp3 => "audio/mpeg",
        }
    }

    /// The file name extension, without a dot.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Jpeg => "jpg",
            Self::Png => "png",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Mp4 => "mp4",
            Self::Mp3 => "mp3",
        }
    }
}

/// One encoded file, ready to be stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// The format of its bytes.
    pub format: Format,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// The file itself.
    ///
    /// Sent after the JSON description, not in it: see `wire`.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl File {
    /// The content type to serve it with.
    pub const fn mime(&self) -> &'static str {
        self.format.mime()
    }

    /// The file name extension, without a dot.
    pub const fn extension(&self) -> &'static str {
        self.format.extension()
    }
}

/// Frame count and duration of an animation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Motion {
    /// At least 2.
    pub frames: u32,
    /// Of one loop.
    pub duration: Duration,
}

impl Motion {
    /// Average frames per second, as the reduced fraction clients get: `"30/1"`; `"0/1"` when the duration is zero.
    pub fn frame_rate(&self) -> String {
        let (frames, millis) = (u128::from(self.frames) * 1000, self.duration.as_millis());
        match greatest_common_divisor(frames, millis) {
            _ if millis == 0 => "0/1".to_owned(),
            divisor => format!("{}/{}", frames / divisor, millis / divisor),
        }
    }

    /// Counts one more frame.
    pub(super) fn add(&mut self, delay: Duration) {
        self.frames += 1;
        self.duration += delay;
    }
}

/// Euclid's algorithm; 0 only for two zeros.
pub(super) fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Everything produced from one accepted file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Processed {
    /// The full-size file; animated when the source was (except for [`Purpose::Preview`]).
    pub original: File,
    /// Small and static; made for [`Purpose::Attachment`] only.
    pub preview: Option<File>,
    /// The first frame, as large as `original`; made for animated avatars, headers and emojis only.
    pub static_version: Option<File>,
    /// Blurhash of the first frame on white, with 4x4 components.
    pub blurhash: String,
    /// Present when `original` is animated.
    pub motion: Option<Motion>,
    /// What clients paint around it; for [`Purpose::Thumbnail`] only.
    pub colors: Option<Colors>,
}

impl Processed {
    /// Whether the attachment's type is `gifv` rather than `image`.
    pub fn is_gifv(&self) -> bool {
        self.original.format == Format::Mp4
    }

    /// Its files, in a fixed order: original, preview, static version.
    pub(super) fn files_mut(&mut self) -> impl Iterator<Item = &mut File> {
        std::iter::once(&mut self.original).chain(&mut self.preview).chain(&mut self.static_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_rate_is_a_reduced_fraction() {
        let rate = |frames, ms| Motion { frames, duration: Duration::from_millis(ms) }.frame_rate();
        assert_eq!(rate(30, 1000), "30/1");
        assert_eq!(rate(10, 700), "100/7");
        assert_eq!(rate(0, 0), "0/1");
    }
}
