//! A canvas with what pictures are drawn of: texts, rectangles with round corners, paths.
//!
//! Texts are set glyph by glyph, from left to right, in the two fonts of the folder `fonts`: neither kerning nor the shaping
//! that some scripts need. Characters without a glyph are left out.

use std::sync::LazyLock;

use tiny_skia::{Color, FillRule, Paint, Path, PathBuilder, Pixmap, Shader, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// The fonts, in the order in which they are asked for a glyph.
static FACES: LazyLock<Vec<Face<'static>>> = LazyLock::new(|| {
    let fonts: [&'static [u8]; 2] = [include_bytes!("fonts/mplus1.otf"), include_bytes!("fonts/dejavu.ttf")];
    fonts.iter().filter_map(|font| Face::parse(font, 0).ok()).collect()
});

/// The end of a text that was cut.
const ELLIPSIS: char = '…';

/// A colour, from `0xRRGGBB`.
pub(super) fn rgb(hex: u32) -> Color {
    let [_, red, green, blue] = hex.to_be_bytes();
    Color::from_rgba8(red, green, blue, 255)
}

/// A text of a size, in pixels, that fits where it is drawn.
#[derive(Debug, PartialEq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) size: f32,
}

impl Line {
    /// `text` as large as fits into `width`, between the sizes `most` and `least`; cut if even the least is too large.
    pub(super) fn fit(text: &str, (least, most): (f32, f32), width: f32) -> Self {
        let text = drawable(text);
        let natural = advance(&text);
        if natural * least <= width {
            let size = if natural > 0.0 { most.min(width / natural) } else { most };
            return Self { text, size };
        }
        let mut room = width / least - advance("…");
        let fits = |letter: &char| {
            room -= glyph(*letter).map_or(0.0, |(face, glyph)| width_of(face, glyph));
            room >= 0.0
        };
        let short: String = text.chars().take_while(fits).collect();
        Self { text: format!("{}{ELLIPSIS}", short.trim_end()), size: least }
    }

    /// Its width, in pixels.
    pub(super) fn width(&self) -> f32 {
        advance(&self.text) * self.size
    }
}

/// What of a text can be drawn: no characters without a glyph, and single spaces between words.
pub(super) fn drawable(text: &str) -> String {
    let shown = |letter: &char| letter.is_whitespace() || (!is_format(*letter) && glyph(*letter).is_some());
    let known: String = text.chars().filter(shown).collect();
    known.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character is there for the shaping or direction of others, which this does without.
fn is_format(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
}

/// The width of a text of size 1.
fn advance(text: &str) -> f32 {
    text.chars().filter_map(glyph).map(|(face, glyph)| width_of(face, glyph)).sum()
}

fn glyph(letter: char) -> Option<(&'static Face<'static>, GlyphId)> {
    FACES.iter().find_map(|face| Some((face, face.glyph_index(letter).filter(|glyph| glyph.0 != 0)?)))
}

fn width_of(face: &Face<'_>, glyph: GlyphId) -> f32 {
    f32::from(face.glyph_hor_advance(glyph).unwrap_or_default()) / f32::from(face.units_per_em())
}

/// Writes the outline of a glyph into a path: a point of the font is scaled, turned upside down and moved.
struct Outline<'a> {
    path: &'a mut PathBuilder,
    scale: f32,
    x: f32,
    y: f32,
}

impl Outline<'_> {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Outline<'_> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// A picture under construction.
pub(super) struct Canvas {
    pixels: Pixmap,
}

impl Canvas {
    /// A black one; `None` when a side is 0.
    pub(super) fn new(width: u32, height: u32) -> Option<Self> {
        Pixmap::new(width, height).map(|pixels| Self { pixels })
    }

    pub(super) fn fill(&mut self, path: &Path, shader: Shader<'_>) {
        let paint = Paint { shader, ..Paint::default() };
        self.pixels.fill_path(path, &paint, FillRule::Winding, Transform::identity(), None);
    }

    /// Writes a line whose first letter is at `x`, on the base line `y`.
    pub(super) fn write(&mut self, line: &Line, x: f32, y: f32, color: Color) {
        let mut path = PathBuilder::new();
        let mut x = x;
        for (face, glyph) in line.text.chars().filter_map(glyph) {
            let scale = line.size / f32::from(face.units_per_em());
            face.outline_glyph(glyph, &mut Outline { path: &mut path, scale, x, y });
            x += width_of(face, glyph) * line.size;
        }
        if let Some(path) = path.finish() {
            self.fill(&path, Shader::SolidColor(color));
        }
    }

    /// Writes a line with its middle at `x`.
    pub(super) fn write_centred(&mut self, line: &Line, x: f32, y: f32, color: Color) {
        self.write(line, x - line.width() / 2.0, y, color);
    }

    /// The picture as PNG, without its alpha channel.
    ///
    /// # Errors
    /// Of the encoder; none for pictures of a moderate size.
    pub(super) fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let pixels: Vec<u8> = self.pixels.data().chunks_exact(4).flat_map(|rgba| &rgba[..3]).copied().collect();
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, self.pixels.width(), self.pixels.height());
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header()?.write_image_data(&pixels)?;
        Ok(file)
    }
}

/// A rectangle with round corners, at `x` and `y`, with its width, height and radius.
pub(super) fn rounded(x: f32, y: f32, (width, height): (f32, f32), radius: f32) -> Option<Path> {
    let radius = radius.min(width / 2.0).min(height / 2.0);
    let (right, bottom) = (x + width, y + height);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.quad_to(right, y, right, y + radius);
    path.line_to(right, bottom - radius);
    path.quad_to(right, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.quad_to(x, bottom, x, bottom - radius);
    path.line_to(x, y + radius);
    path.quad_to(x, y, x + radius, y);
    path.close();
    path.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_fonts_are_readable_and_complement_each_other() {
        assert_eq!(FACES.len(), 2);
        for (text, drawn) in [
            ("Größe of 2026, c’est la vie", "Größe of 2026, c’est la vie"),
            ("鴉と投稿 サークル", "鴉と投稿 サークル"),
            ("Привет Ωμέγα", "Привет Ωμέγα"),
            ("rook \u{1F426}\u{200D}\u{2B1B}  nest\n", "rook nest"),
        ] {
            assert_eq!(drawable(text), drawn);
        }
    }

    #[test]
    fn text_shrinks_and_is_cut_only_below_the_least_size() {
        let fit = |text: &str, width: f32| Line::fit(text, (20.0, 40.0), width);
        assert_eq!(fit("rook", 1_000.0), Line { text: "rook".to_owned(), size: 40.0 });
        let natural = fit("a rook in its nest", 10_000.0).width();
        let smaller = fit("a rook in its nest", natural * 0.75);
        assert_eq!(smaller.text, "a rook in its nest");
        assert!((smaller.width() - natural * 0.75).abs() < 0.1, "{smaller:?}");
        let cut = fit("a rook in its nest", natural / 4.0);
        assert!(cut.text.ends_with('…') && cut.width() <= natural / 4.0, "{cut:?}");
        assert_eq!(fit("", 10.0).width(), 0.0);
    }
}
