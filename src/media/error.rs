//! Errors of media processing, with messages for the client that uploaded the file.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of anything in [`media`](super).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file was not processed; `Display` is shown to clients.
///
/// Serialisable only for the reply of the worker to the server; it is never sent to a client in this form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Error {
    /// The format is not supported, or was not recognised.
    #[error("Files of type {mime} are not supported")]
    Unsupported {
        /// `application/octet-stream` when the content was not recognised at all.
        mime: String,
    },
    /// Beyond the limits of this server.
    #[error("File is too large: at most {limit} {unit} are accepted")]
    TooLarge {
        /// The limit, inclusive.
        limit: u64,
        /// The unit of the limit.
        unit: Unit,
    },
    /// Truncated or inconsistent, or it crashed its decoder.
    #[error("File is damaged, or its content does not match its type")]
    Broken,
    /// Video and audio cannot be processed, since the machine has no `ffmpeg`.
    #[error("This server does not accept video and audio")]
    NoConverter,
    /// The time limit for one file was exceeded.
    #[error("Processing the file took too long")]
    Timeout,
    /// A failure of the server; the cause is for the log only.
    #[error("File could not be processed")]
    Internal {
        /// Details for people who run the server.
        cause: String,
    },
}

/// What [`Error::TooLarge`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// Size of the file.
    Bytes,
    /// Width times height.
    Pixels,
    /// Frames of an animation or a video.
    Frames,
    /// Frames of a video, by the second.
    FramesPerSecond,
    /// Length of a video or a sound.
    Seconds,
    /// Width times height times frames.
    PixelsInAllFrames,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Pixels => "pixels",
            Self::Frames => "frames",
            Self::FramesPerSecond => "frames per second",
            Self::Seconds => "seconds",
            Self::PixelsInAllFrames => "pixels in all frames",
        })
    }
}

impl Error {
    pub(super) fn internal(cause: impl fmt::Display) -> Self {
        Self::Internal { cause: cause.to_string() }
    }

    pub(super) fn unsupported(mime: &str) -> Self {
        Self::Unsupported { mime: mime.to_owned() }
    }
}

/// Refuses a `size` above `limit`.
pub(super) fn at_most(limit: u64, size: u64, unit: Unit) -> Result<()> {
    if size > limit { Err(Error::TooLarge { limit, unit }) } else { Ok(()) }
}

impl From<image::ImageError> for Error {
    /// A decoder error means a bad file; its message is about bytes and would not help the client.
    fn from(error: image::ImageError) -> Self {
        match error {
            image::ImageError::Limits(_) => Self::TooLarge { limit: super::MAX_IMAGE_PIXELS, unit: Unit::Pixels },
            _ => Self::Broken,
        }
    }
}
