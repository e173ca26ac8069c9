//! Limits of images, animations and films: sizes that are accepted, and sizes that are stored.

/// Most pixels of a video's frame (3840x2160).
pub const MAX_VIDEO_PIXELS: u64 = 8_294_400;

/// Most frames of a video by the second.
pub const MAX_FRAME_RATE: u64 = 120;

/// Largest image file accepted, in bytes (16 MiB).
pub const MAX_IMAGE_BYTES: u64 = 16 * 1024 * 1024;

/// Largest still image accepted, in pixels (7680x4320).
pub const MAX_IMAGE_PIXELS: u64 = 33_177_600;

/// Largest GIF accepted, and largest `gifv` produced, in pixels (1280x720).
pub const MAX_GIF_PIXELS: u64 = 921_600;

/// Largest animated WebP or APNG accepted, in pixels; the reference server's limit for video (3840x2160).
pub const MAX_ANIMATION_PIXELS: u64 = 8_294_400;

/// Most frames accepted in an animation; the reference server's limit for video.
pub const MAX_FRAMES: u64 = 36_000;

/// Most pixels in all frames of an animation together, which bounds the cost before decoding starts.
///
/// For example 650 frames of 1280x720, or 4600 of 480x270.
pub const MAX_ANIMATION_WORK: u64 = 600_000_000;

/// Most pixels of the stored original (3840x2160).
pub const ORIGINAL_PIXELS: u64 = 8_294_400;

/// Most pixels of an attachment's preview and of a preview card's image (640x360).
pub const PREVIEW_PIXELS: u64 = 230_400;
