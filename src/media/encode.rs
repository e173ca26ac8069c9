//! Image encoders. Only pixels and frame delays are written, so no metadata can end up in the files.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, RgbaImage};

use super::colour;
use super::decode::Frame;
use super::error::{Error, Result};
use super::types::{File, Format, Motion};

/// Visually lossless for photographs, at about a tenth of the size of the raw pixels.
const JPEG_QUALITY: u8 = 88;

/// How coarsely colours are sampled for a GIF palette, 1 (all) to 30; the encoder's recommended value.
const GIF_SPEED: i32 = 10;

/// Encodes a still image.
pub(super) fn still(image: &RgbaImage, format: Format) -> Result<File> {
    let bytes = match format {
        Format::Jpeg => jpeg(image.clone()),
        Format::Png => png(image),
        Format::Webp => webp(image),
        Format::Gif | Format::Mp4 | Format::Mp3 => Err(Error::internal("no still encoder for this format")),
    }?;
    Ok(File { format, width: image.width(), height: image.height(), bytes })
}

fn jpeg(mut image: RgbaImage) -> Result<Vec<u8>> {
    colour::over_white(&mut image);
    let mut bytes = Vec::new();
    let opaque = DynamicImage::ImageRgba8(image).into_rgb8();
    JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY).encode_image(&opaque).map_err(Error::internal)?;
    Ok(bytes)
}

fn png(image: &RgbaImage) -> Result<Vec<u8>> {
    let mut bytes = Cursor::new(Vec::new());
    compact(image).write_to(&mut bytes, image::ImageFormat::Png).map_err(Error::internal)?;
    Ok(bytes.into_inner())
}

fn webp(image: &RgbaImage) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    compact(image).write_with_encoder(WebPEncoder::new_lossless(&mut bytes)).map_err(Error::internal)?;
    Ok(bytes)
}

/// Drops the alpha channel of an opaque image.
fn compact(image: &RgbaImage) -> DynamicImage {
    let whole = DynamicImage::ImageRgba8(image.clone());
    if colour::is_opaque(image) { whole.into_rgb8().into() } else { whole }
}

/// Encodes an animated GIF that loops for ever, from frames of `size`.
pub(super) fn gif(frames: impl Iterator<Item = Result<Frame>>, size: (u32, u32)) -> Result<(Vec<u8>, Motion)> {
    let (width, height) = (side(size.0)?, side(size.1)?);
    let (mut bytes, mut motion) = (Vec::new(), Motion::default());
    let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[]).map_err(Error::internal)?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(Error::internal)?;
    for frame in frames {
        let Frame { mut image, delay } = frame?;
        motion.add(delay);
        let mut frame = gif::Frame::from_rgba_speed(width, height, &mut image, GIF_SPEED);
        frame.delay = u16::try_from(delay.as_millis() / 10).unwrap_or(u16::MAX);
        // Every frame is complete, so the previous one must not show through its transparent pixels.
        frame.dispose = gif::DisposalMethod::Background;
        encoder.write_frame(&frame).map_err(Error::internal)?;
    }
    drop(encoder);
    Ok((bytes, motion))
}

fn side(pixels: u32) -> Result<u16> {
    u16::try_from(pixels).map_err(Error::internal)
}

/// Encodes an animated PNG of exactly `count` frames that loops for ever.
///
/// # Errors
/// [`Error::Broken`] when `frames` yields another number of them: the source's header declared a wrong count.
pub(super) fn apng(
    frames: impl Iterator<Item = Result<Frame>>,
    count: u32,
    (width, height): (u32, u32),
) -> Result<(Vec<u8>, Motion)> {
    let (mut bytes, mut motion) = (Vec::new(), Motion::default());
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_animated(count, 0).map_err(Error::internal)?;
    let mut writer = encoder.write_header().map_err(Error::internal)?;
    for frame in frames {
        let Frame { image, delay } = frame?;
        motion.add(delay);
        let millis = u16::try_from(delay.as_millis()).unwrap_or(u16::MAX);
        writer.set_frame_delay(millis, 1000).map_err(Error::internal)?;
        writer.write_image_data(&image).map_err(Error::internal)?;
    }
    if motion.frames != count {
        return Err(Error::Broken);
    }
    writer.finish().map_err(Error::internal)?;
    Ok((bytes, motion))
}
