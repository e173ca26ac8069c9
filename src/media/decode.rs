//! Image decoding; the only place where a decoder runs.
//!
//! Called by [`process`](super::process()), which runs in the worker. The output is 8-bit RGBA; a still image is also
//! turned upright and converted to sRGB.

use std::io::Cursor;
use std::time::Duration;

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{AnimationDecoder, DynamicImage, Frames, ImageDecoder, Limits, RgbaImage};

use super::colour;
use super::error::{Error, Result};
use super::probe::Probe;
use super::types::Format;

/// The memory a decoder may allocate, in bytes; the largest accepted image in 16-bit RGBA takes half of it.
const MAX_DECODER_BYTES: u64 = 512 * 1024 * 1024;

/// The delay used for a frame that specifies less than 20 ms, as in every browser.
const DEFAULT_DELAY: Duration = Duration::from_millis(100);

/// One frame of an animation, composed to the full canvas.
#[derive(Clone)]
pub(super) struct Frame {
    pub image: RgbaImage,
    /// How long it is shown; at least 20 ms.
    pub delay: Duration,
}

/// Decodes a still image, or the first frame of an animation.
pub(super) fn still(bytes: &[u8], probe: &Probe) -> Result<RgbaImage> {
    let reader = Cursor::new(bytes);
    match probe.format {
        Format::Jpeg => render(JpegDecoder::new(reader)?, probe),
        Format::Png => render(PngDecoder::with_limits(reader, limits())?, probe),
        Format::Gif => render(GifDecoder::new(reader)?, probe),
        Format::Webp => render(WebPDecoder::new(reader)?, probe),
        Format::Mp4 | Format::Mp3 => Err(Error::unsupported(probe.mime())),
    }
}

/// Decodes an animation, frame by frame; an error ends it. Colour profiles and orientation are not applied.
pub(super) fn frames<'a>(bytes: &'a [u8], probe: &Probe) -> Result<impl Iterator<Item = Result<Frame>> + use<'a>> {
    let reader = Cursor::new(bytes);
    let frames = match probe.format {
        Format::Png => PngDecoder::with_limits(reader, limits())?.apng()?.into_frames(),
        Format::Gif => moving(GifDecoder::new(reader)?, probe)?,
        Format::Webp => moving(WebPDecoder::new(reader)?, probe)?,
        Format::Jpeg | Format::Mp4 | Format::Mp3 => return Err(Error::unsupported(probe.mime())),
    };
    // A decoder may find more frames than the header declares, but the limits were checked for that number.
    Ok(frames.take(probe.frames as usize).map(|frame| Ok(Frame::from(frame?))))
}

impl From<image::Frame> for Frame {
    fn from(frame: image::Frame) -> Self {
        let delay = Duration::from(frame.delay());
        let delay = if delay < Duration::from_millis(20) { DEFAULT_DELAY } else { delay };
        Self { image: frame.into_buffer(), delay }
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_DECODER_BYTES);
    limits
}

fn moving<'a, D: AnimationDecoder<'a> + ImageDecoder>(mut decoder: D, probe: &Probe) -> Result<Frames<'a>> {
    decoder.set_limits(limits())?;
    agree(&decoder, probe)?;
    Ok(decoder.into_frames())
}

fn render(mut decoder: impl ImageDecoder, probe: &Probe) -> Result<RgbaImage> {
    decoder.set_limits(limits())?;
    agree(&decoder, probe)?;
    // Unreadable metadata is no reason to refuse the image.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let profile = decoder.icc_profile().ok().flatten();
    let mut image = DynamicImage::from_decoder(decoder)?.into_rgba8();
    if let Some(profile) = profile {
        colour::to_srgb(&mut image, &profile);
    }
    Ok(upright(image, orientation))
}

/// Refuses a file whose decoder reads other dimensions than the ones that were checked.
fn agree(decoder: &impl ImageDecoder, probe: &Probe) -> Result<()> {
    if decoder.dimensions() == (probe.width, probe.height) { Ok(()) } else { Err(Error::Broken) }
}

fn upright(image: RgbaImage, orientation: Orientation) -> RgbaImage {
    let mut image = DynamicImage::ImageRgba8(image);
    image.apply_orientation(orientation);
    image.into_rgba8()
}
