//! Uploaded and fetched images: recognised, limited, cleaned, scaled and stored.
//!
//! Services call [`Sandbox::process`] with the bytes and a [`Purpose`], and keep what comes back with
//! [`storage::Storage`]. The decoding itself ([`process()`]) runs in a child process of the same executable, see
//! [`sandbox`] and [`worker`], because decoders meet hostile bytes.
//!
//! What is accepted: JPEG, PNG and APNG, GIF, WebP, each recognised by its content; a client's content type and file
//! name are never read. Nothing of a file is passed through: every output is encoded anew from pixels, so no metadata
//! (EXIF, GPS, XMP, comments, trailing data) can survive. Orientation and colour profile are applied first.
//!
//! An animated attachment becomes a silent H.264 MP4 (`gifv`), made by the bundled OpenH264 ([`gifv`]) and our own small
//! muxer ([`mp4`]): no `ffmpeg` is looked for. An animation no H.264 picture can hold (a side under 16 or over 3840
//! pixels) stays an animated image. Animated avatars, headers and emojis stay animated images and get a static version.
//!
//! Not here: video, audio, AVIF and HEIC are refused as [`Error::Unsupported`]; there is no permissive decoder in Rust
//! for the last two. HTTP, the database and descriptions belong to the callers.
//!
//! Spec: <https://docs.joinmastodon.org/methods/media/>, <https://docs.joinmastodon.org/user/posting/#media>

mod colour;
mod decode;
mod encode;
mod error;
#[cfg(test)]
mod fixture;
pub mod focus;
mod gifv;
mod header;
mod meta;
mod mp4;
mod probe;
mod process;
pub mod sandbox;
mod scale;
pub mod storage;
mod types;
mod wire;
pub mod worker;

pub use error::{Error, Result, Unit};
pub use meta::{Focus, Meta, Original, Size, Video, meta};
pub use probe::{Probe, probe};
pub use process::process;
pub use sandbox::Sandbox;
pub use types::{File, Format, Motion, Processed, Purpose};

/// The content types an upload may have, for the instance document.
pub const SUPPORTED_MIME_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Largest image file accepted, in bytes (16 MiB).
pub const MAX_IMAGE_BYTES: u64 = 16 * 1024 * 1024;

/// Largest still image accepted, in pixels (7680x4320).
pub const MAX_IMAGE_PIXELS: u64 = 33_177_600;

/// Largest GIF accepted, and largest `gifv` made, in pixels (1280x720).
pub const MAX_GIF_PIXELS: u64 = 921_600;

/// Largest animated WebP or APNG accepted, in pixels; what the reference accepts for video (3840x2160).
pub const MAX_ANIMATION_PIXELS: u64 = 8_294_400;

/// Most frames in an animation; what the reference accepts for video.
pub const MAX_FRAMES: u64 = 36_000;

/// Most pixels in all frames of an animation together, so that the work it asks for is known before it is begun.
///
/// A 1280x720 GIF of 650 frames, or one of 480x270 with 4600.
pub const MAX_ANIMATION_WORK: u64 = 600_000_000;

/// The stored original has at most this many pixels (3840x2160).
pub const ORIGINAL_PIXELS: u64 = 8_294_400;

/// The preview of an attachment, and a link's thumbnail, have at most this many pixels (640x360).
pub const PREVIEW_PIXELS: u64 = 230_400;
