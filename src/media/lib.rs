//! Processing of uploaded and fetched images: format detection, limits, metadata removal, scaling, storage.
//!
//! Services call [`Sandbox::process`] with the bytes and a [`Purpose`], and store the result with
//! [`storage::Storage`]. Decoding ([`process()`]) runs in a child process of the same executable, see [`sandbox`] and
//! [`worker`], because decoders handle untrusted bytes.
//!
//! Accepts JPEG, PNG and APNG, GIF and WebP, each recognised by its content; a client's content type and file name
//! are never read. Nothing of a file is passed through: every output is re-encoded from pixels, so no metadata (EXIF,
//! GPS, XMP, comments, trailing data) can survive. A still image's orientation and colour profile are applied first.
//!
//! An animated attachment becomes a silent H.264 MP4 (`gifv`), encoded by the bundled OpenH264 ([`gifv`]) and our own
//! small muxer ([`mp4`]), without `ffmpeg`. An animation that OpenH264 cannot encode (a side under 16 or over 3840
//! pixels) stays an animated image. Animated avatars, headers and emojis stay animated images and get a static version.
//!
//! Video and audio are the work of the machine's `ffmpeg` and `ffprobe`, when they are there ([`converter`]): their
//! containers are recognised by content as well ([`container`]), and the two run confined ([`program`]).
//!
//! AVIF and HEIC ([`heif`]) are first made JPEGs by the same `ffmpeg`, where it can read them, since there is no permissively
//! licensed Rust decoder for them. HTTP, the database and media descriptions are left to the callers.
//!
//! Spec: <https://docs.joinmastodon.org/methods/media/>, <https://docs.joinmastodon.org/user/posting/#media>

mod colour;
pub mod container;
pub mod converter;
mod decode;
mod encode;
mod error;
#[cfg(test)]
mod fixture;
pub mod focus;
mod gifv;
mod header;
mod heif;
mod limits;
mod meta;
mod mp4;
mod palette;
mod permits;
mod probe;
mod process;
mod program;
pub mod sandbox;
mod scale;
mod scratch;
pub mod storage;
mod streams;
mod types;
mod wire;
pub mod worker;

pub use ::confine::Confinement;
pub use container::Container;
pub use converter::{Converted, Converter, Programs};
pub use error::{Error, Result, Unit};
pub use heif::Still;
pub use limits::{
    MAX_ANIMATION_PIXELS, MAX_ANIMATION_WORK, MAX_FRAME_RATE, MAX_FRAMES, MAX_GIF_PIXELS, MAX_IMAGE_BYTES,
    MAX_IMAGE_PIXELS, MAX_VIDEO_PIXELS, ORIGINAL_PIXELS, PREVIEW_PIXELS,
};
pub use meta::{Focus, Meta, Original, Size, Sound, Summary, Video, meta, meta_of_converted, with_thumbnail};
pub use palette::Colors;
pub use permits::Permit;
pub use probe::{Probe, probe};
pub use process::process;
pub use sandbox::Sandbox;
pub use storage::Stored;
pub use streams::{Kind, Streams};
pub use types::{File, Format, Motion, Processed, Purpose, ServerImage};

/// The content types of images that are decoded here.
const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The content types of video and sound, which need `ffmpeg`.
const MOVING_TYPES: &[&str] = &[
    "video/webm",
    "video/mp4",
    "video/quicktime",
    "video/ogg",
    "audio/wave",
    "audio/wav",
    "audio/x-wav",
    "audio/x-pn-wave",
    "audio/vnd.wave",
    "audio/ogg",
    "audio/vorbis",
    "audio/mpeg",
    "audio/mp3",
    "audio/webm",
    "audio/flac",
    "audio/aac",
    "audio/m4a",
    "audio/x-m4a",
    "audio/mp4",
    "audio/3gpp",
    "video/x-ms-asf",
];

/// The content types accepted for uploads, as the instance document lists them. For clients only: the server detects types by
/// content.
#[must_use]
pub fn supported_mime_types(converter: &Converter) -> Vec<&'static str> {
    let stills = converter.stills().iter().flat_map(|still| still.mimes());
    let moving: &[&str] = if converter.is_available() { MOVING_TYPES } else { &[] };
    IMAGE_TYPES.iter().chain(stills).chain(moving).copied().collect()
}
