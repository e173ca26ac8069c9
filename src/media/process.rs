//! Produces the output files for an accepted image, by purpose.
//!
//! Runs in the worker; the server calls [`Sandbox::process`](super::Sandbox::process).
//!
//! A JPEG stays a JPEG and a PNG a PNG. A lossless or translucent WebP becomes a lossless WebP; an opaque lossy one
//! becomes a JPEG, since there is no encoder for lossy WebP. A still GIF becomes a PNG. An animation stays animated, as
//! the [module](super) says: GIF as GIF or `gifv`, WebP and APNG as APNG or `gifv`.

use image::RgbaImage;

use super::decode::{self, Frame};
use super::error::{Result, Unit, at_most};
use super::probe::{Probe, probe};
use super::types::{File, Format, Motion, Processed, Purpose};
use super::{ORIGINAL_PIXELS, PREVIEW_PIXELS};
use super::{colour, encode, gifv, palette, scale};

/// Both sides of an avatar, in pixels.
const AVATAR_SIDE: u32 = 400;

/// Most pixels of a header (1500x500).
const HEADER_PIXELS: u64 = 750_000;

/// Most pixels of an emoji (512x512).
const EMOJI_PIXELS: u64 = 262_144;

/// Most pixels of the logo of the server.
const LOGO_PIXELS: u64 = 65_536;

/// Components of a blurhash, in each direction.
const BLURHASH_COMPONENTS: u32 = 4;

/// A blurhash shows no detail, so it is computed from this many pixels at most.
const BLURHASH_PIXELS: u64 = 4096;

/// Decodes `bytes` and produces the files for `purpose`. Takes seconds and hundreds of megabytes: call it in a worker.
///
/// # Errors
/// The errors of [`probe()`](super::probe()), [`Error::TooLarge`](super::Error::TooLarge) for `purpose`, and
/// [`Error::Broken`](super::Error::Broken) when the pixels cannot be decoded.
pub fn process(bytes: &[u8], purpose: Purpose) -> Result<Processed> {
    let probe = check(bytes, purpose)?;
    if probe.animated() && !matches!(purpose, Purpose::Preview | Purpose::Thumbnail | Purpose::Server(_)) {
        animation(bytes, &probe, purpose)
    } else {
        still(bytes, &probe, purpose)
    }
}

/// The checks that need no decoding.
pub(super) fn check(bytes: &[u8], purpose: Purpose) -> Result<Probe> {
    let probe = probe(bytes)?;
    at_most(purpose.max_bytes(), bytes.len() as u64, Unit::Bytes)?;
    Ok(probe)
}

fn still(bytes: &[u8], probe: &Probe, purpose: Purpose) -> Result<Processed> {
    let image = shape(&decode::still(bytes, probe)?, purpose)?;
    let format = match purpose {
        Purpose::Server(picture) if picture.is_png() => Format::Png,
        _ => still_format(probe, &image),
    };
    let original = encode::still(&image, format)?;
    let preview = preview(&image, probe, purpose)?;
    let colors = (purpose == Purpose::Thumbnail).then(|| palette::colors(&image));
    Ok(Processed { original, preview, static_version: None, blurhash: blurhash(&image)?, motion: None, colors })
}

fn animation(bytes: &[u8], probe: &Probe, purpose: Purpose) -> Result<Processed> {
    let mut first = decode::frames(bytes, probe)?.next().ok_or(super::Error::Broken)??.image;
    let (original, motion) = moving(bytes, probe, purpose)?;
    if original.format == Format::Mp4 {
        // The preview must look like the first frame of the video, which is on white.
        colour::over_white(&mut first);
    }
    let first = shape(&first, purpose)?;
    let static_version = match purpose {
        Purpose::Attachment | Purpose::Preview | Purpose::Thumbnail | Purpose::Server(_) => None,
        Purpose::Avatar | Purpose::Header | Purpose::Emoji => Some(encode::still(&first, still_format(probe, &first))?),
    };
    let preview = preview(&first, probe, purpose)?;
    let blurhash = blurhash(&first)?;
    Ok(Processed { original, preview, static_version, blurhash, motion: Some(motion), colors: None })
}

/// Encodes the animation: an attachment as video if possible, anything else as an animated image.
fn moving(bytes: &[u8], probe: &Probe, purpose: Purpose) -> Result<(File, Motion)> {
    let frames = decode::frames(bytes, probe)?;
    let video = gifv::dimensions(probe.width, probe.height).filter(|_| purpose == Purpose::Attachment);
    let size = video.unwrap_or_else(|| dimensions(probe.width, probe.height, purpose));
    let (format, (bytes, motion)) = match video {
        Some(size) => (Format::Mp4, gifv::encode(frames, size)?),
        None if probe.format == Format::Gif => (Format::Gif, encode::gif(shaped(frames, purpose), size)?),
        None => (Format::Png, encode::apng(shaped(frames, purpose), probe.frames, size)?),
    };
    Ok((File { format, width: size.0, height: size.1, bytes }, motion))
}

fn shaped(frames: impl Iterator<Item = Result<Frame>>, purpose: Purpose) -> impl Iterator<Item = Result<Frame>> {
    frames.map(move |frame| {
        let Frame { image, delay } = frame?;
        Ok(Frame { image: shape(&image, purpose)?, delay })
    })
}

/// The output size for `purpose` of a `width` x `height` image.
fn dimensions(width: u32, height: u32, purpose: Purpose) -> (u32, u32) {
    match purpose {
        Purpose::Attachment => scale::fit(width, height, ORIGINAL_PIXELS),
        Purpose::Avatar => (AVATAR_SIDE, AVATAR_SIDE),
        Purpose::Header => scale::fit(width, height, HEADER_PIXELS),
        Purpose::Emoji => scale::fit(width, height, EMOJI_PIXELS),
        Purpose::Preview | Purpose::Thumbnail => scale::fit(width, height, PREVIEW_PIXELS),
        Purpose::Server(picture) => picture.size().unwrap_or_else(|| scale::fit(width, height, LOGO_PIXELS)),
    }
}

fn shape(image: &RgbaImage, purpose: Purpose) -> Result<RgbaImage> {
    let (width, height) = dimensions(image.width(), image.height(), purpose);
    match purpose {
        Purpose::Avatar => scale::fill(image, width, height),
        Purpose::Server(picture) if picture.size().is_some() => scale::fill(image, width, height),
        Purpose::Attachment
        | Purpose::Header
        | Purpose::Emoji
        | Purpose::Preview
        | Purpose::Thumbnail
        | Purpose::Server(_) => scale::resize(image, width, height),
    }
}

/// The output format of a still `image` from this source.
fn still_format(probe: &Probe, image: &RgbaImage) -> Format {
    match probe.format {
        Format::Jpeg => Format::Jpeg,
        Format::Webp if probe.lossless || !colour::is_opaque(image) => Format::Webp,
        Format::Webp => Format::Jpeg,
        Format::Png | Format::Gif | Format::Mp4 | Format::Mp3 => Format::Png,
    }
}

fn preview(image: &RgbaImage, probe: &Probe, purpose: Purpose) -> Result<Option<File>> {
    if purpose != Purpose::Attachment {
        return Ok(None);
    }
    let small = shape(image, Purpose::Preview)?;
    encode::still(&small, still_format(probe, &small)).map(Some)
}

fn blurhash(image: &RgbaImage) -> Result<String> {
    let (width, height) = scale::fit(image.width(), image.height(), BLURHASH_PIXELS);
    let mut small = scale::resize(image, width, height)?;
    colour::over_white(&mut small);
    blurhash::encode(BLURHASH_COMPONENTS, BLURHASH_COMPONENTS, width, height, &small).map_err(super::Error::internal)
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
