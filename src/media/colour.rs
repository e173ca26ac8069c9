//! Colour conversion: ICC profiles to sRGB, and transparency to white.

use image::RgbaImage;
use moxcms::{ColorProfile, DataColorSpace, Layout, TransformOptions};

/// Bytes converted at a time (4096 pixels), so that no second copy of the image is needed.
const STRIP: usize = 4 * 4096;

/// Converts from the colour space of an ICC `profile` to sRGB, as which an image without a profile is shown.
///
/// Phones take photos in Display P3, which look dull if the profile is just dropped. A profile that is broken or not
/// for RGB is ignored.
pub(super) fn to_srgb(image: &mut RgbaImage, profile: &[u8]) {
    let Ok(profile) = ColorProfile::new_from_slice(profile) else { return };
    if profile.color_space != DataColorSpace::Rgb {
        return;
    }
    let (srgb, options) = (ColorProfile::new_srgb(), TransformOptions::default());
    let Ok(transform) = profile.create_transform_8bit(Layout::Rgba, &srgb, Layout::Rgba, options) else { return };
    let mut converted = [0; STRIP];
    for strip in image.chunks_mut(STRIP) {
        let converted = &mut converted[..strip.len()];
        if transform.transform(strip, converted).is_ok() {
            strip.copy_from_slice(converted);
        }
    }
}

/// Whether every pixel is opaque.
pub(super) fn is_opaque(image: &RgbaImage) -> bool {
    image.pixels().all(|pixel| pixel[3] == u8::MAX)
}

/// Composites the image onto white, for formats without transparency.
pub(super) fn over_white(image: &mut RgbaImage) {
    for pixel in image.pixels_mut() {
        let [.., alpha] = pixel.0;
        if alpha != u8::MAX {
            pixel.0 = pixel.0.map(|channel| blend_with_white(channel, alpha));
            pixel[3] = u8::MAX;
        }
    }
}

fn blend_with_white(channel: u8, alpha: u8) -> u8 {
    let (channel, alpha) = (u32::from(channel), u32::from(alpha));
    u8::try_from((channel * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use image::Rgba;

    use super::*;

    #[test]
    fn transparency_becomes_white() {
        let mut image = RgbaImage::from_pixel(1, 1, Rgba([0, 100, 255, 0]));
        over_white(&mut image);
        assert_eq!(image.get_pixel(0, 0), &Rgba([255, 255, 255, 255]));
    }

    #[test]
    fn wide_gamut_is_converted_and_broken_profile_ignored() {
        let mut image = RgbaImage::from_pixel(100, 100, Rgba([200, 50, 50, 128]));
        to_srgb(&mut image, b"not a profile");
        assert_eq!(image.get_pixel(9, 9), &Rgba([200, 50, 50, 128]));
        to_srgb(&mut image, &ColorProfile::new_display_p3().encode().unwrap());
        let Rgba([red, green, _, alpha]) = *image.get_pixel(99, 99);
        assert!(red > 205 && green < 50 && alpha == 128, "{red} {green} {alpha}");
    }
}
