//! Image scaling: within a number of pixels, or filling a box.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{PixelType, ResizeOptions, Resizer};
use image::RgbaImage;

use super::error::{Error, Result};

/// The largest dimensions of about the same aspect ratio with at most `pixels`; never larger than given, never zero.
pub(super) fn fit(width: u32, height: u32, pixels: u64) -> (u32, u32) {
    let area = u64::from(width) * u64::from(height);
    if area <= pixels {
        return (width, height);
    }
    let ratio = (pixels as f64 / area as f64).sqrt();
    let height = scaled(height, ratio);
    // A strip one pixel high cannot keep its aspect ratio.
    let widest = u32::try_from(pixels / u64::from(height)).unwrap_or(u32::MAX);
    let width = scaled(width, ratio).min(widest.max(1));
    let tallest = u32::try_from(pixels / u64::from(width)).unwrap_or(u32::MAX);
    (width, height.min(tallest.max(1)))
}

/// `side` made smaller by `ratio` (0 to 1), at least one pixel.
#[expect(clippy::cast_possible_truncation, reason = "a side made smaller still fits")]
fn scaled(side: u32, ratio: f64) -> u32 {
    ((f64::from(side) * ratio).round() as u32).max(1)
}

/// Scales to exactly `width` x `height`; a copy when it has that size already.
pub(super) fn resize(image: &RgbaImage, width: u32, height: u32) -> Result<RgbaImage> {
    if image.dimensions() == (width, height) {
        return Ok(image.clone());
    }
    run(image, width, height, &ResizeOptions::new())
}

/// Scales and crops around the centre, so that `width` x `height` is filled.
pub(super) fn fill(image: &RgbaImage, width: u32, height: u32) -> Result<RgbaImage> {
    run(image, width, height, &ResizeOptions::new().fit_into_destination(Some((0.5, 0.5))))
}

/// Lanczos resampling with premultiplied alpha, so that transparent pixels do not bleed their colour.
fn run(image: &RgbaImage, width: u32, height: u32, options: &ResizeOptions) -> Result<RgbaImage> {
    let source = ImageRef::new(image.width(), image.height(), image, PixelType::U8x4).map_err(Error::internal)?;
    let mut scaled = Image::new(width, height, PixelType::U8x4);
    Resizer::new().resize(&source, &mut scaled, options).map_err(Error::internal)?;
    RgbaImage::from_raw(width, height, scaled.into_vec()).ok_or_else(|| Error::internal("a scaled image lost its size"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn aspect_is_kept_within_budget() {
        assert_eq!(fit(1280, 720, 230_400), (640, 360));
        assert_eq!(fit(7680, 4320, 8_294_400), (3840, 2160));
        assert_eq!(fit(100, 100, 230_400), (100, 100));
        assert_eq!(fit(33_177_600, 1, 8_294_400), (8_294_400, 1));
    }

    #[test]
    fn filling_crops_the_sides() {
        let image = RgbaImage::from_fn(300, 100, |x, _| {
            image::Rgba(if (100..200).contains(&x) { [0, 255, 0, 255] } else { [255, 0, 0, 255] })
        });
        let filled = fill(&image, 400, 400).unwrap();
        assert_eq!(filled.dimensions(), (400, 400));
        assert_eq!(filled.get_pixel(200, 200).0, [0, 255, 0, 255]);
        assert!(filled.get_pixel(20, 200)[1] > 200);
    }

    proptest! {
        #[test]
        fn no_size_is_over_budget_or_empty(width in 1_u32..70_000, height in 1_u32..70_000, pixels in 1_u64..9_000_000) {
            let (w, h) = fit(width, height, pixels);
            prop_assert!(w >= 1 && h >= 1 && w <= width && h <= height);
            prop_assert!(u64::from(w) * u64::from(h) <= pixels);
        }
    }
}
