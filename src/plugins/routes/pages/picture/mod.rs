//! Pictures of pages, to share: a plugin returns the content as data, and this module draws it in one style.
//!
//! The style: the evening sky of the front page, with the values of a chart as trees on the ground. What has
//! no room shrinks down to a size that can be read, is then cut, and at last left out. Drawing takes some milliseconds of
//! a thread; it reads nothing but the record.

mod pen;

use rookery_plugin_host::exports::pages::{Bar, Figure, Picture};
use tiny_skia::{Color, GradientStop, LinearGradient, Path, PathBuilder, Point, Rect, Shader, SpreadMode, Transform};

use self::pen::{Canvas, Line, drawable, rgb, rounded};

/// Width, in pixels.
pub(super) const WIDTH: u32 = 1_200;
/// Height, in pixels.
pub(super) const HEIGHT: u32 = 630;

/// Free at the left and the right, in pixels.
const MARGIN: f32 = 64.0;
/// How far texts may reach.
const ROOM: f32 = WIDTH as f32 - 2.0 * MARGIN;
/// Where the ground begins.
const GROUND: f32 = 540.0;
/// The side of the mark, at the top right.
const MARK: f32 = 92.0;
/// Tallest column of a chart.
const TALLEST: f32 = 130.0;
/// How deep columns stand in the ground.
const FEET: f32 = 20.0;
/// Between two words.
const GAP: f32 = 14.0;

const LIGHT: u32 = 0xf8_f0e6;
const MUTED: u32 = 0xe6_d3cb;
const ACCENT: u32 = 0xff_c56f;
const EARTH: u32 = 0x12_0f17;

/// Draws a picture as PNG, with the owner's name in `foot` at the bottom.
///
/// # Errors
/// Of the encoder.
pub(super) fn draw(picture: &Picture, foot: &str) -> Result<Vec<u8>, png::EncodingError> {
    let Some(mut canvas) = Canvas::new(WIDTH, HEIGHT) else { return Ok(Vec::new()) };
    sky(&mut canvas);
    mark(&mut canvas);
    let title = Line::fit(&picture.title, (38.0, 62.0), ROOM - MARK - MARGIN);
    canvas.write(&title, MARGIN, 116.0, rgb(LIGHT));
    let mut y = 116.0;
    if let Some(lead) = &picture.lead {
        y += 60.0;
        canvas.write(&Line::fit(lead, (26.0, 36.0), ROOM), MARGIN, y, rgb(ACCENT));
    }
    if !picture.figures.is_empty() {
        figures(&mut canvas, &picture.figures, y + 104.0);
        y += 144.0;
    }
    if words(&mut canvas, &picture.words, y + 34.0) {
        y += 80.0;
    }
    let bars = picture.bars.as_ref().map_or(&[][..], |bars| &bars.bars);
    columns(&mut canvas, bars, y + 40.0);
    ground(&mut canvas);
    labels(&mut canvas, bars);
    canvas.write(&Line::fit(foot, (18.0, 24.0), ROOM), MARGIN, 608.0, rgb(MUTED));
    canvas.png()
}

/// The evening sky.
fn sky(canvas: &mut Canvas) {
    let stops = [(0.0, 0x1b_1a2e), (0.48, 0x43_304f), (0.82, 0x9a_4f45), (1.0, 0xcf_7a3f)];
    let stops = stops.iter().map(|(at, color)| GradientStop::new(*at, rgb(*color))).collect();
    let (top, bottom) = (Point::from_xy(0.0, 0.0), Point::from_xy(0.0, GROUND + 10.0));
    let gradient = LinearGradient::new(top, bottom, stops, SpreadMode::Pad, Transform::identity());
    let whole = Rect::from_xywh(0.0, 0.0, WIDTH as f32, HEIGHT as f32).map(PathBuilder::from_rect);
    if let (Some(gradient), Some(whole)) = (gradient, whole) {
        canvas.fill(&whole, gradient);
    }
}

/// The ground in front of all columns.
fn ground(canvas: &mut Canvas) {
    let mut ground = PathBuilder::new();
    let (right, bottom) = (WIDTH as f32, HEIGHT as f32);
    ground.move_to(0.0, GROUND + 4.0);
    ground.cubic_to(right * 0.3, GROUND - 5.0, right * 0.6, GROUND + 5.0, right, GROUND - 6.0);
    ground.line_to(right, bottom);
    ground.line_to(0.0, bottom);
    ground.close();
    solid(canvas, ground.finish(), rgb(EARTH));
}

/// Rookery's mark: the rook that looks out of its egg, as in `_logo.html`, whose side is 64.
fn mark(canvas: &mut Canvas) {
    let (left, top, scale) = (WIDTH as f32 - MARGIN - MARK, 48.0, MARK / 64.0);
    let shape = |start: [f32; 2], curves: &[[f32; 6]]| {
        let (x, y) = (|x: f32| left + x * scale, |y: f32| top + y * scale);
        let mut path = PathBuilder::new();
        path.move_to(x(start[0]), y(start[1]));
        for [x1, y1, x2, y2, to_x, to_y] in curves {
            path.cubic_to(x(*x1), y(*y1), x(*x2), y(*y2), x(*to_x), y(*to_y));
        }
        path.close();
        path.finish()
    };
    let egg = [
        [46.0, 3.0, 57.0, 22.0, 57.0, 38.0],
        [57.0, 52.0, 46.0, 61.0, 32.0, 61.0],
        [18.0, 61.0, 7.0, 52.0, 7.0, 38.0],
        [7.0, 22.0, 18.0, 3.0, 32.0, 3.0],
    ];
    let rook = [
        [14.0, 42.0, 15.4, 37.0, 16.0, 31.5],
        [17.0, 22.0, 24.0, 15.5, 32.5, 15.5],
        [39.0, 15.5, 43.5, 18.0, 45.5, 22.0],
        [45.2, 26.0, 44.9, 29.0, 44.5, 33.0],
        [43.6, 40.5, 45.4, 46.0, 49.0, 50.4],
        [45.0, 54.7, 39.0, 57.0, 32.0, 57.0],
        [22.0, 57.0, 14.5, 52.7, 12.2, 46.0],
    ];
    let bill = [
        [50.5, 20.5, 57.0, 24.6, 62.5, 31.8],
        [56.0, 32.4, 49.5, 33.6, 44.0, 33.7],
        [41.0, 29.0, 41.0, 24.0, 43.6, 19.6],
    ];
    solid(canvas, shape([32.0, 3.0], &egg), rgb(0xf0_a330));
    solid(canvas, shape([12.2, 46.0], &rook), rgb(0x24_1d2b));
    solid(canvas, shape([43.6, 19.6], &bill), rgb(0xef_e6d8));
    for (x, y, radius, color) in [(36.8, 23.8, 2.3, 0xff_ffff), (37.2, 23.8, 1.2, 0x24_1d2b)] {
        solid(canvas, PathBuilder::from_circle(left + x * scale, top + y * scale, radius * scale), rgb(color));
    }
}

/// Values side by side with their labels below, on the base line `y`.
fn figures(canvas: &mut Canvas, figures: &[Figure], y: f32) {
    let cell = ROOM / figures.len().max(3) as f32;
    for (index, figure) in figures.iter().enumerate() {
        let x = MARGIN + cell * index as f32;
        canvas.write(&Line::fit(&figure.value, (36.0, 70.0), cell - 28.0), x, y, rgb(LIGHT));
        canvas.write(&Line::fit(&figure.label, (18.0, 24.0), cell - 28.0), x, y + 38.0, rgb(MUTED));
    }
}

/// The words that fit into a row; false when there are none.
fn words(canvas: &mut Canvas, words: &[String], y: f32) -> bool {
    let lines = words.iter().map(|word| drawable(word)).filter(|word| !word.is_empty() && word != "#");
    let mut x = MARGIN;
    for text in lines {
        let line = Line::fit(&text, (26.0, 26.0), 360.0);
        let width = line.width() + 36.0;
        if x + width > MARGIN + ROOM {
            break;
        }
        solid(canvas, rounded(x, y, (width, 46.0), 23.0), Color::from_rgba8(18, 15, 23, 130));
        canvas.write(&line, x + 18.0, y + 32.0, rgb(LIGHT));
        x += width + GAP;
    }
    x > MARGIN
}

/// A chart whose columns stand on the ground and begin below `top`, the longest with its number.
fn columns(canvas: &mut Canvas, bars: &[Bar], top: f32) {
    let longest = bars.iter().map(|bar| bar.length).max().unwrap_or_default();
    let Some(peak) = bars.iter().position(|bar| bar.length == longest && longest > 0) else { return };
    let tallest = (GROUND - top).min(TALLEST);
    let width = cell(bars) * 0.6;
    for (index, bar) in bars.iter().enumerate() {
        let middle = middle(bars, index);
        let thousandths = u16::try_from(u128::from(bar.length) * 1_000 / u128::from(longest)).unwrap_or(1_000);
        let tall = f32::from(thousandths) / 1_000.0 * tallest;
        let color = rgb(if index == peak { ACCENT } else { EARTH });
        // Their feet are in the ground, whose surface is not even.
        let (height, radius) = (tall.max(4.0) + FEET, 8.0_f32.min(width / 3.0));
        solid(canvas, rounded(middle - width / 2.0, GROUND + FEET - height, (width, height), radius), color);
        if index == peak {
            let number = Line::fit(&longest.to_string(), (16.0, 22.0), cell(bars));
            canvas.write_centred(&number, middle, GROUND - tall - 10.0, color);
        }
    }
}

/// The labels of the columns, on the ground.
fn labels(canvas: &mut Canvas, bars: &[Bar]) {
    for (index, bar) in bars.iter().enumerate() {
        let label = Line::fit(&bar.label, (12.0, 19.0), cell(bars) - 6.0);
        canvas.write_centred(&label, middle(bars, index), 570.0, rgb(MUTED));
    }
}

/// The room of a column.
fn cell(bars: &[Bar]) -> f32 {
    ROOM / bars.len().max(7) as f32
}

fn middle(bars: &[Bar], index: usize) -> f32 {
    MARGIN + cell(bars) * (index as f32 + 0.5)
}

fn solid(canvas: &mut Canvas, path: Option<Path>, color: Color) {
    if let Some(path) = path {
        canvas.fill(&path, Shader::SolidColor(color));
    }
}

#[cfg(test)]
mod tests {
    use rookery_plugin_host::exports::pages::Bars;

    use super::*;

    fn figure(value: &str, label: &str) -> Figure {
        Figure { value: value.to_owned(), label: label.to_owned() }
    }

    fn picture() -> Picture {
        let bar = |month: u64| Bar { label: month.to_string(), length: month * 7 % 12 };
        Picture {
            id: "year".to_owned(),
            title: "Alice's 2026".to_owned(),
            lead: Some("The oracle".to_owned()),
            figures: vec![figure("1,204", "posts"), figure("31", "new followers")],
            bars: Some(Bars { title: None, upright: true, bars: (1..=12).map(bar).collect() }),
            words: vec!["#rooks".to_owned(), "\u{1F426}".to_owned()],
            alt: String::new(),
        }
    }

    fn pixels(picture: &Picture) -> Vec<u8> {
        let file = draw(picture, "@alice@rooks.example").expect("drawn");
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut pixels).expect("a frame");
        assert_eq!((frame.width, frame.height, frame.color_type), (WIDTH, HEIGHT, png::ColorType::Rgb));
        pixels
    }

    #[test]
    fn every_part_of_a_picture_is_drawn() {
        let whole = pixels(&picture());
        assert_eq!(whole, pixels(&picture()), "the same picture is drawn alike");
        let without: [fn(&mut Picture); 5] = [
            |picture| picture.title.clear(),
            |picture| picture.lead = None,
            |picture| picture.figures.clear(),
            |picture| picture.bars = None,
            |picture| picture.words.clear(),
        ];
        for change in without {
            let mut less = picture();
            change(&mut less);
            assert_ne!(whole, pixels(&less));
        }
    }

    #[test]
    fn any_plugin_output_is_drawn() {
        let mut wild = picture();
        wild.title = "長".repeat(10_000);
        wild.lead = Some("\u{0}\u{202E}\n".to_owned());
        wild.figures = vec![figure(&"9".repeat(500), &"x".repeat(500)); 4];
        wild.words = vec!["w".repeat(5_000); 300];
        let bar = Bar { label: "m".repeat(99), length: u64::MAX };
        wild.bars = Some(Bars { title: None, upright: true, bars: vec![bar; 31] });
        assert_eq!(pixels(&wild).len(), (WIDTH * HEIGHT * 3) as usize);
        let empty =
            Picture { title: String::new(), lead: None, figures: Vec::new(), bars: None, words: Vec::new(), ..wild };
        let _ = pixels(&empty);
    }
}
