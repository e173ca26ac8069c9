//! Generated image files for tests: valid ones, and ones whose headers are wrong.

#![expect(clippy::cast_possible_truncation, reason = "fixtures are small")]

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, Rgb, RgbImage, Rgba, RgbaImage};

/// Text in the GPS part of [`exif`], which must not be in any output.
pub(super) const SECRET: &[u8] = b"48.8584N 2.2945E";

/// A picture with a different colour everywhere, red at the top left.
pub(super) fn picture(width: u32, height: u32) -> RgbaImage {
    RgbaImage::from_fn(width, height, |x, y| {
        let part = |at: u32, of: u32| (at * 255 / of.max(1)) as u8;
        Rgba([255 - part(x, width) / 2, part(x, width), part(y, height), 255])
    })
}

/// Frame `number` of an animation: a dark square that moves over [`picture`].
pub(super) fn frame(width: u32, height: u32, number: u32) -> RgbaImage {
    let mut image = picture(width, height);
    let side = (width / 4).max(1);
    for (x, y) in (0..side).flat_map(|x| (0..side).map(move |y| (x, y))) {
        image.put_pixel((x + number * 3) % width, y % height, Rgba([0, 0, 40, 255]));
    }
    image
}

pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&picture(width, height), image::ImageFormat::Png)
}

pub(super) fn webp(width: u32, height: u32) -> Vec<u8> {
    encoded(&picture(width, height), image::ImageFormat::WebP)
}

pub(super) fn jpeg(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let opaque = DynamicImage::ImageRgba8(picture(width, height)).into_rgb8();
    JpegEncoder::new_with_quality(&mut bytes, 95).encode_image(&opaque).unwrap();
    bytes
}

fn encoded(image: &RgbaImage, format: image::ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

pub(super) fn gif(width: u32, height: u32, frames: u32, millis: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (w, h) = (width as u16, height as u16);
    let mut encoder = gif::Encoder::new(&mut bytes, w, h, &[]).unwrap();
    for number in 0..frames {
        let mut frame = gif::Frame::from_rgba_speed(w, h, &mut frame(width, height, number), 30);
        frame.delay = millis / 10;
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    bytes
}

pub(super) fn apng(width: u32, height: u32, frames: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_animated(frames, 0).unwrap();
    encoder.set_frame_delay(1, 10).unwrap();
    encoder.add_text_chunk("Comment".to_owned(), String::from_utf8_lossy(SECRET).into_owned()).unwrap();
    let mut writer = encoder.write_header().unwrap();
    for number in 0..frames {
        writer.write_image_data(&frame(width, height, number)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// An animation of lossless frames, 100 ms each, with the container written by hand.
pub(super) fn animated_webp(width: u32, height: u32, frames: u32) -> Vec<u8> {
    let u24 = |number: u32| number.to_le_bytes()[..3].to_vec();
    let size = [u24(width - 1), u24(height - 1)].concat();
    let mut chunks = chunk(b"VP8X", &[&[0x02, 0, 0, 0], &size[..]].concat());
    chunks.extend(chunk(b"ANIM", &[0; 6]));
    for number in 0..frames {
        let still = encoded(&frame(width, height, number), image::ImageFormat::WebP);
        chunks.extend(chunk(b"ANMF", &[&[0; 6], &size[..], &u24(100), &[2], &still[12..]].concat()));
    }
    let length = (chunks.len() as u32 + 4).to_le_bytes();
    [&b"RIFF"[..], &length, b"WEBP", &chunks].concat()
}

fn chunk(name: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let padding = vec![0; data.len() % 2];
    [&name[..], &(data.len() as u32).to_le_bytes(), data, &padding].concat()
}

/// An EXIF block with an orientation (1 to 8) and a GPS position.
pub(super) fn exif(orientation: u8) -> Vec<u8> {
    let entry = |tag: u16, kind: u16, count: u32, value: u32| {
        [&tag.to_le_bytes()[..], &kind.to_le_bytes(), &count.to_le_bytes(), &value.to_le_bytes()].concat()
    };
    let directory =
        |entries: &[Vec<u8>]| [&(entries.len() as u16).to_le_bytes()[..], &entries.concat(), &[0; 4]].concat();
    let main = directory(&[entry(0x0112, 3, 1, u32::from(orientation)), entry(0x8825, 4, 1, 38)]);
    let place = directory(&[entry(0x001B, 2, SECRET.len() as u32, 56)]);
    [b"II*\0\x08\0\0\0", &main[..], &place, SECRET].concat()
}

/// `picture` with [`exif`], by any of the three encoders that can write it.
pub(super) fn with_exif(picture: &RgbImage, format: image::ImageFormat, orientation: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let write = |mut encoder: Box<dyn Write>| encoder.write(exif(orientation), picture);
    match format {
        image::ImageFormat::Jpeg => write(Box::new(Some(JpegEncoder::new_with_quality(&mut bytes, 95)))),
        image::ImageFormat::Png => write(Box::new(Some(PngEncoder::new(&mut bytes)))),
        _ => write(Box::new(Some(WebPEncoder::new_lossless(&mut bytes)))),
    }
    bytes
}

/// An encoder as a trait object.
trait Write {
    fn write(&mut self, exif: Vec<u8>, picture: &RgbImage);
}

impl<E: ImageEncoder> Write for Option<E> {
    fn write(&mut self, exif: Vec<u8>, picture: &RgbImage) {
        let mut encoder = self.take().unwrap();
        encoder.set_exif_metadata(exif).unwrap();
        picture.write_with_encoder(encoder).unwrap();
    }
}

/// Red on the left half, blue on the right.
pub(super) fn red_blue(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, _| if x < width / 2 { Rgb([255, 0, 0]) } else { Rgb([0, 0, 255]) })
}

/// `png` declaring another size; its checksum is now wrong.
pub(super) fn with_png_size(png: &[u8], width: u32, height: u32) -> Vec<u8> {
    let mut png = png.to_vec();
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    png
}

/// `apng` declaring another number of frames.
pub(super) fn with_apng_frames(apng: &[u8], frames: u32) -> Vec<u8> {
    let mut apng = apng.to_vec();
    let at = find(&apng, b"acTL").unwrap() + 4;
    apng[at..at + 4].copy_from_slice(&frames.to_be_bytes());
    apng
}

/// `gif` declaring another size.
pub(super) fn with_gif_size(gif: &[u8], width: u16, height: u16) -> Vec<u8> {
    let mut gif = gif.to_vec();
    gif[6..8].copy_from_slice(&width.to_le_bytes());
    gif[8..10].copy_from_slice(&height.to_le_bytes());
    gif
}

/// `jpeg` declaring another size.
pub(super) fn with_jpeg_size(jpeg: &[u8], width: u16, height: u16) -> Vec<u8> {
    let mut jpeg = jpeg.to_vec();
    let at = find(&jpeg, b"\xFF\xC0").unwrap() + 5;
    jpeg[at..at + 2].copy_from_slice(&height.to_be_bytes());
    jpeg[at + 2..at + 4].copy_from_slice(&width.to_be_bytes());
    jpeg
}

/// The offset of the first `needle`.
pub(super) fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
