//! What processing keeps, drops and refuses.

#![expect(clippy::cast_possible_truncation, reason = "pictures in tests are small")]

use std::time::Duration;

use image::{ImageFormat, Rgba, RgbaImage};
use openh264::decoder::Decoder;
use openh264::formats::YUVSource;
use proptest::prelude::*;

use super::super::fixture::{self, SECRET, find};
use super::super::{Error, MAX_IMAGE_PIXELS, Unit};
use super::*;
use crate::types::ServerImage;

fn attach(bytes: &[u8]) -> Result<Processed> {
    process(bytes, Purpose::Attachment)
}

fn decoded(file: &File) -> RgbaImage {
    image::load_from_memory(&file.bytes).unwrap().into_rgba8()
}

fn assert_clean(processed: &mut Processed) {
    for file in processed.files_mut() {
        for trace in [SECRET, b"Exif", b"eXIf", b"EXIF", b"tEXt", b"ICCP", b"<script>"] {
            assert_eq!(find(&file.bytes, trace), None, "{:?} kept {}", file.format, String::from_utf8_lossy(trace));
        }
    }
}

#[test]
fn formats_are_kept_where_they_can_be() {
    let format = |bytes: &[u8]| attach(bytes).unwrap().original.format;
    assert_eq!(format(&fixture::jpeg(30, 20)), Format::Jpeg);
    assert_eq!(format(&fixture::png(30, 20)), Format::Png);
    assert_eq!(format(&fixture::webp(30, 20)), Format::Webp);
    assert_eq!(format(&fixture::gif(30, 20, 1, 100)), Format::Png);
}

#[test]
fn metadata_is_stripped_and_orientation_applied() {
    for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
        let sent = fixture::with_exif(&fixture::red_blue(64, 32), format, 6);
        assert!(find(&sent, SECRET).is_some());
        let mut processed = attach(&sent).unwrap();
        assert_clean(&mut processed);
        // Rotated clockwise by 90 degrees: the left half is now on top.
        let image = decoded(&processed.original);
        assert_eq!(image.dimensions(), (32, 64), "{format:?}");
        let (top, bottom) = (image.get_pixel(16, 8), image.get_pixel(16, 56));
        assert!(top[0] > 200 && top[2] < 60 && bottom[2] > 200 && bottom[0] < 60, "{format:?}");
    }
}

#[test]
fn trailing_bytes_of_image_are_dropped() {
    for image in
        [fixture::png(20, 20), fixture::gif(20, 20, 1, 100), fixture::jpeg(20, 20), fixture::gif(20, 20, 3, 50)]
    {
        let polyglot = [&image[..], b"PK\x03\x04<script>alert(1)</script>"].concat();
        assert_clean(&mut attach(&polyglot).unwrap());
    }
}

#[test]
fn page_that_begins_like_gif_is_broken() {
    assert_eq!(attach(b"GIF89a/*<script>alert(1)</script>*/=1;"), Err(Error::Broken));
}

#[test]
fn large_originals_are_scaled_and_previews_are_small() {
    let processed = attach(&fixture::jpeg(4000, 3000)).unwrap();
    let pixels = |file: &File| u64::from(file.width) * u64::from(file.height);
    assert!((8_200_000..=ORIGINAL_PIXELS).contains(&pixels(&processed.original)));
    let preview = processed.preview.unwrap();
    assert_eq!((preview.format, preview.width, preview.height), (Format::Jpeg, 553, 416));
    assert!(pixels(&preview) <= PREVIEW_PIXELS);
    // One digit of size, one of brightness, four of average colour, two for each other component.
    assert_eq!(processed.blurhash.len(), 6 + 2 * 15);
}

#[test]
fn purposes_have_their_sizes() {
    let size = |bytes: &[u8], purpose| {
        let processed = process(bytes, purpose).unwrap();
        assert!(processed.preview.is_none() && processed.static_version.is_none());
        (processed.original.width, processed.original.height)
    };
    assert_eq!(size(&fixture::jpeg(90, 60), Purpose::Avatar), (400, 400));
    assert_eq!(size(&fixture::jpeg(3000, 1000), Purpose::Header), (1500, 500));
    assert_eq!(size(&fixture::png(64, 32), Purpose::Emoji), (64, 32));
    assert_eq!(size(&fixture::gif(1280, 720, 2, 100), Purpose::Preview), (640, 360));
    let thumbnail = Purpose::Server(ServerImage::Thumbnail);
    assert_eq!(size(&fixture::jpeg(90, 60), thumbnail), (1200, 630));
    assert_eq!(size(&fixture::png(2000, 500), Purpose::Server(ServerImage::Logo)), (512, 128));
    let icon = process(&fixture::jpeg(90, 60), Purpose::Server(ServerImage::Icon)).unwrap().original;
    assert_eq!((icon.format, icon.width, icon.height), (Format::Png, 180, 180));
}

#[test]
fn purposes_have_their_file_sizes() {
    let mut bytes = fixture::png(1, 1);
    bytes.resize(512 * 1024 + 1, 0);
    assert_eq!(process(&bytes, Purpose::Emoji), Err(Error::TooLarge { limit: 512 * 1024, unit: Unit::Bytes }));
    assert!(process(&bytes, Purpose::Avatar).is_ok());
}

#[test]
fn animated_gif_becomes_playable_video() {
    let processed = attach(&fixture::gif(101, 57, 9, 50)).unwrap();
    let video = &processed.original;
    assert!(processed.is_gifv());
    assert_eq!((video.mime(), video.extension(), video.width, video.height), ("video/mp4", "mp4", 100, 56));
    assert_eq!(processed.motion, Some(Motion { frames: 9, duration: Duration::from_millis(450) }));
    assert_eq!(processed.preview.as_ref().unwrap().format, Format::Png);
    let pictures = play(&video.bytes);
    assert_eq!(pictures.len(), 9);
    let expected = fixture::frame(101, 57, 8);
    for (x, y) in [(5, 40), (90, 50), (60, 30), (30, 5)] {
        let (want, got) = (expected.get_pixel(x, y), pictures[8].get_pixel(x, y));
        let off = want.0.iter().zip(got.0).map(|(a, b)| a.abs_diff(b)).max().unwrap();
        assert!(off < 40, "{want:?} {got:?} at {x},{y}");
    }
}

/// Decodes every frame of an MP4 by our own muxer: parameter sets from `avcC`, samples from `mdat` at `stco`.
fn play(file: &[u8]) -> Vec<RgbaImage> {
    let word = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let half = |at: usize| usize::from(u16::from_be_bytes([file[at], file[at + 1]]));
    let avcc = find(file, b"avcC").unwrap() + 4;
    let (sequence, picture) = (avcc + 8, avcc + 8 + half(avcc + 6) + 3);
    let mut units = vec![&file[sequence..sequence + half(avcc + 6)], &file[picture..picture + half(picture - 2)]];
    let mut at = word(find(file, b"stco").unwrap() + 12);
    assert_eq!(at, find(file, b"mdat").unwrap() + 4);
    while at < file.len() {
        units.push(&file[at + 4..at + 4 + word(at)]);
        at += 4 + word(at);
    }
    let mut decoder = Decoder::new().unwrap();
    let mut pictures = Vec::new();
    for unit in units {
        if let Some(yuv) = decoder.decode(&[&[0, 0, 0, 1], unit].concat()).unwrap() {
            let (width, height) = yuv.dimensions();
            let mut rgba = vec![0; width * height * 4];
            yuv.write_rgba8(&mut rgba);
            pictures.push(RgbaImage::from_raw(width as u32, height as u32, rgba).unwrap());
        }
    }
    pictures
}

#[test]
fn animated_webp_and_apng_become_videos_too() {
    for (sent, frames) in [(fixture::animated_webp(40, 40, 4), 4), (fixture::apng(40, 40, 5), 5)] {
        let mut processed = attach(&sent).unwrap();
        assert!(processed.is_gifv());
        let millis = u64::from(frames) * 100;
        assert_eq!(processed.motion, Some(Motion { frames, duration: Duration::from_millis(millis) }));
        assert_clean(&mut processed);
    }
}

#[test]
fn animation_too_small_for_video_stays_gif() {
    let processed = attach(&fixture::gif(8, 8, 3, 100)).unwrap();
    assert!(!processed.is_gifv());
    assert_eq!(processed.original.format, Format::Gif);
    assert_eq!(probe(&processed.original.bytes).unwrap().frames, 3);
}

#[test]
fn animated_avatars_move_and_have_a_still() {
    let sources = [fixture::gif(60, 40, 3, 50), fixture::apng(60, 40, 3), fixture::animated_webp(60, 40, 3)];
    for (sent, format) in sources.iter().zip([Format::Gif, Format::Png, Format::Png]) {
        let mut processed = process(sent, Purpose::Avatar).unwrap();
        assert_clean(&mut processed);
        let moving = probe(&processed.original.bytes).unwrap();
        assert_eq!((moving.format, moving.frames, moving.width, moving.height), (format, 3, 400, 400));
        let still = probe(&processed.static_version.unwrap().bytes).unwrap();
        assert_eq!((still.frames, still.width, still.height), (1, 400, 400));
    }
}

#[test]
fn transparent_frames_do_not_pile_up() {
    let mut bytes = Vec::new();
    let mut encoder = gif::Encoder::new(&mut bytes, 32, 32, &[]).unwrap();
    for row in 0..2 {
        let mut image =
            RgbaImage::from_fn(32, 32, |_, y| if y / 16 == row { Rgba([255, 0, 0, 255]) } else { Rgba([0; 4]) });
        let mut frame = gif::Frame::from_rgba(32, 32, &mut image);
        frame.dispose = gif::DisposalMethod::Background;
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    let emoji = process(&bytes, Purpose::Emoji).unwrap().original;
    let probe = probe(&emoji.bytes).unwrap();
    let last = decode::frames(&emoji.bytes, &probe).unwrap().last().unwrap().unwrap().image;
    assert_eq!((last.get_pixel(16, 4)[3], last.get_pixel(16, 28)[3]), (0, 255));
}

#[test]
fn hasty_frames_are_slowed_as_in_browsers() {
    let motion = attach(&fixture::gif(20, 20, 5, 0)).unwrap().motion.unwrap();
    assert_eq!(motion.duration, Duration::from_millis(500));
}

#[test]
fn bomb_is_refused_before_decoding() {
    let bomb = fixture::with_png_size(&fixture::png(9, 9), 60_000, 60_000);
    let limit = MAX_IMAGE_PIXELS;
    assert_eq!(attach(&bomb), Err(Error::TooLarge { limit, unit: Unit::Pixels }));
}

#[test]
fn apng_with_missing_frames_is_broken() {
    let short = fixture::with_apng_frames(&fixture::apng(30, 30, 3), 9);
    assert_eq!(process(&short, Purpose::Emoji), Err(Error::Broken));
}

#[test]
fn truncated_file_is_broken() {
    for whole in [fixture::png(90, 90), fixture::webp(90, 90), fixture::gif(90, 90, 3, 50), fixture::jpeg(90, 90)] {
        assert_eq!(attach(&whole[..20]), Err(Error::Broken));
    }
    for whole in [fixture::png(90, 90), fixture::webp(90, 90), fixture::apng(90, 90, 2), fixture::gif(90, 90, 3, 50)] {
        assert_eq!(attach(&whole[..whole.len() / 2]), Err(Error::Broken));
    }
}

#[test]
fn video_is_refused_by_name() {
    let error = attach(b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41").unwrap_err();
    assert_eq!(error.to_string(), "Files of type video/mp4 are not supported");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn damage_anywhere_is_answered(kind in 0_usize..6, at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = match kind {
            0 => fixture::png(17, 9),
            1 => fixture::jpeg(17, 9),
            2 => fixture::webp(17, 9),
            3 => fixture::gif(17, 16, 2, 50),
            4 => fixture::apng(17, 16, 2),
            _ => fixture::animated_webp(17, 16, 2),
        };
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = process(&bytes, Purpose::Emoji);
    }
}
