//! The colours of a picture that clients use around it: a player's background, its text, and its highlights.
//!
//! Computed by the worker for [`Purpose::Thumbnail`](super::Purpose::Thumbnail).
//!
//! Spec: `colors` of `MediaAttachment_audio`

use std::collections::HashMap;

use image::{Rgba, RgbaImage};
use serde::{Deserialize, Serialize};

/// Three colours, each `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colors {
    /// The dominant colour of the picture's edges.
    pub background: String,
    /// For text on the background: of the picture if it has one that can be read, else black or white.
    pub foreground: String,
    /// The most vivid colour with sufficient contrast to the background; the foreground when there is none.
    pub accent: String,
}

/// Red, green and blue.
type Rgb = [u8; 3];

/// The least contrast of text (WCAG 2.2, level AA).
const READABLE: f64 = 4.5;

/// The least contrast of elements other than text (WCAG 2.2, level AA).
const VISIBLE: f64 = 3.0;

/// Every so many pixels one is looked at, at most: colours need no detail.
const SAMPLES: usize = 10_000;

/// The colours of `image`.
pub(super) fn colors(image: &RgbaImage) -> Colors {
    let (width, height) = image.dimensions();
    let border = image.enumerate_pixels().filter(|(x, y, _)| *x == 0 || *y == 0 || x + 1 == width || y + 1 == height);
    let background = by_frequency(border.map(|(.., pixel)| pixel)).first().copied().unwrap_or([0; 3]);
    let step = (image.pixels().len() / SAMPLES).max(1);
    let all = by_frequency(image.pixels().step_by(step));
    let readable = all.iter().copied().find(|color| contrast(*color, background) >= READABLE);
    let foreground = readable.unwrap_or_else(|| if luminance(background) > 0.18 { [0; 3] } else { [255; 3] });
    let visible = all.iter().copied().filter(|color| contrast(*color, background) >= VISIBLE);
    let accent = visible.max_by_key(|color| chroma(*color)).unwrap_or(foreground);
    Colors { background: hex(background), foreground: hex(foreground), accent: hex(accent) }
}

/// The colours of `pixels`, similar ones as one, the most frequent first.
fn by_frequency<'a>(pixels: impl Iterator<Item = &'a Rgba<u8>>) -> Vec<Rgb> {
    let mut counts: HashMap<Rgb, usize> = HashMap::new();
    for Rgba([red, green, blue, _]) in pixels {
        // Five bits of each, in the middle of the values that share them.
        *counts.entry([red, green, blue].map(|value| value & 0xF8 | 0x04)).or_default() += 1;
    }
    let mut colors: Vec<(Rgb, usize)> = counts.into_iter().collect();
    colors.sort_unstable_by_key(|(color, count)| (std::cmp::Reverse(*count), *color));
    colors.into_iter().map(|(color, _)| color).collect()
}

/// The ratio of WCAG 2.2, from 1 to 21.
fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance (WCAG 2.2), from 0 to 1.
fn luminance(color: Rgb) -> f64 {
    let [red, green, blue] = color.map(|value| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// How vivid a colour is: 0 for grey.
fn chroma(color: Rgb) -> u8 {
    color.iter().max().unwrap_or(&0) - color.iter().min().unwrap_or(&0)
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn background_is_of_the_edge_and_text_can_be_read_on_it() {
        let image = RgbaImage::from_fn(40, 40, |x, y| {
            let inside = (10..30).contains(&x) && (10..30).contains(&y);
            Rgba(if inside { [250, 220, 20, 255] } else { [10, 10, 60, 255] })
        });
        let Colors { background, foreground, accent } = colors(&image);
        assert_eq!((background.as_str(), foreground.as_str()), ("#0c0c3c", "#fcdc14"));
        assert_eq!(accent, foreground);
    }

    #[test]
    fn single_colour_gets_black_or_white() {
        let of = |color| colors(&RgbaImage::from_pixel(9, 9, Rgba(color)));
        assert_eq!(of([0, 0, 0, 255]).foreground, "#ffffff");
        assert_eq!(of([255, 255, 255, 255]).foreground, "#000000");
        assert_eq!(of([255, 255, 255, 255]).accent, "#000000");
    }
}
