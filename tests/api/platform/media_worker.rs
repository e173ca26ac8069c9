//! The real media worker, as a real process with its limits.

#![expect(clippy::cast_possible_truncation, reason = "patterns may wrap")]

use std::io::Cursor;
use std::path::Path;

use image::{ImageBuffer, Rgb, RgbImage, Rgba};
use media::{Error, Purpose, Sandbox};

fn sandbox() -> Sandbox {
    Sandbox::new(Path::new(env!("CARGO_BIN_EXE_rookery")))
}

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let image = RgbImage::from_fn(width, height, |x, y| Rgb([(x / 16) as u8, (y / 16) as u8, ((x ^ y) / 64) as u8]));
    image.write_to(&mut bytes, image::ImageFormat::Png).expect("pixels can be encoded");
    bytes.into_inner()
}

#[tokio::test]
async fn worker_processes_image() {
    let processed = sandbox().process(None, &png(1280, 720), Purpose::Attachment).await.unwrap();
    assert_eq!((processed.original.width, processed.original.mime()), (1280, "image/png"));
    assert_eq!(processed.preview.unwrap().width, 640);
}

/// Exceeds the worker's limit of twenty seconds without optimisation; `cargo test --release` runs it.
#[tokio::test]
#[cfg_attr(debug_assertions, ignore = "needs optimised code")]
async fn largest_image_fits_worker_limits() {
    let image = ImageBuffer::from_fn(7680, 4320, |x, y| Rgba::<u16>([(x / 16) as u16, (y / 16) as u16, 9, 40_000]));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    let processed = sandbox().process(None, &bytes.into_inner(), Purpose::Attachment).await.unwrap();
    assert_eq!((processed.original.width, processed.original.height), (3840, 2160));
}

#[tokio::test]
async fn animation_becomes_video() {
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, 320, 180, &[0, 0, 0, 255, 255, 255]).unwrap();
    for number in 0..20_u32 {
        let pixels: Vec<u8> = (0..320 * 180).map(|at| u8::from((at % 320 + number * 5) / 32 % 2 == 0)).collect();
        let mut frame = gif::Frame::from_indexed_pixels(320, 180, pixels, None);
        frame.delay = 4;
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    let processed = sandbox().process(None, &bytes, Purpose::Attachment).await.unwrap();
    assert!(processed.is_gifv());
    assert_eq!(processed.motion.unwrap().frame_rate(), "25/1");
}

#[tokio::test]
async fn broken_image_is_reported() {
    let whole = png(100, 100);
    assert_eq!(sandbox().process(None, &whole[..whole.len() / 2], Purpose::Attachment).await, Err(Error::Broken));
}

#[tokio::test]
async fn worker_reports_its_confinement() {
    let confinement = sandbox().confinement().await.unwrap();
    assert!(confinement.calls, "seccomp is in every kernel of the last ten years: {confinement}");
}
