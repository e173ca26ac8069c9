//! Why a file was not accepted, in words fit for the client who sent it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The result of anything in [`media`](super).
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file was not processed; `Display` is shown to clients.
///
/// Serialisable because it crosses from the worker to the server, never towards a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Error {
    /// Recognised, or not, and not something this server handles.
    #[error("Files of type {mime} are not supported")]
    Unsupported {
        /// `application/octet-stream` when the content was not recognised at all.
        mime: String,
    },
    /// Within the rules of its format, beyond the limits of this server.
    #[error("File is too large: at most {limit} {unit} are accepted")]
    TooLarge {
        /// The limit, inclusive.
        limit: u64,
        /// What was counted.
        unit: Unit,
    },
    /// Truncated, contradictory, or fatal to its decoder.
    #[error("File is damaged or not a valid image")]
    Broken,
    /// The decoder needed more time than one file is given.
    #[error("Processing the file took too long")]
    Timeout,
    /// Our fault; the cause is for the log only.
    #[error("File could not be processed")]
    Internal {
        /// What happened, for people who run the server.
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
    /// Frames of an animation.
    Frames,
    /// Width times height times frames.
    PixelsInAllFrames,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bytes => "bytes",
            Self::Pixels => "pixels",
            Self::Frames => "frames",
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
    /// A decoder's complaint is the file's fault; what it says is about bytes and would help nobody.
    fn from(error: image::ImageError) -> Self {
        match error {
            image::ImageError::Limits(_) => Self::TooLarge { limit: super::MAX_IMAGE_PIXELS, unit: Unit::Pixels },
            _ => Self::Broken,
        }
    }
}
