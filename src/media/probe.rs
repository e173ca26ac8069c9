//! Format detection and limit checks, from a file's header alone.
//!
//! Called by the server before a worker is started, and again by the worker. Decodes nothing, so a decompression
//! bomb is refused for the size it declares; `decode` checks that the decoder sees the same size.

use super::error::{Error, Result, Unit, at_most};
use super::header::{self, Header};
use super::types::Format;
use super::{MAX_ANIMATION_PIXELS, MAX_ANIMATION_WORK, MAX_FRAMES, MAX_GIF_PIXELS, MAX_IMAGE_BYTES, MAX_IMAGE_PIXELS};

/// The properties that a file's header declares, all within the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Detected by magic number.
    pub format: Format,
    /// In pixels, as stored: the orientation tag is not applied.
    pub width: u32,
    /// In pixels, as stored: the orientation tag is not applied.
    pub height: u32,
    /// At least 1.
    pub frames: u32,
    /// Whether the source is compressed losslessly, which affects the output format.
    pub lossless: bool,
}

impl Probe {
    /// The detected content type.
    pub const fn mime(&self) -> &'static str {
        self.format.mime()
    }

    /// Whether there is more than one frame.
    pub const fn animated(&self) -> bool {
        self.frames > 1
    }
}

/// Recognises the format of `bytes` and checks its header against the limits.
///
/// # Errors
/// [`Error::Unsupported`] for anything but the four image formats, [`Error::TooLarge`] for a file or a picture beyond
/// the limits, [`Error::Broken`] when the header is truncated or a dimension or the frame count is zero.
pub fn probe(bytes: &[u8]) -> Result<Probe> {
    let (format, read) = recognise(bytes)?;
    at_most(MAX_IMAGE_BYTES, bytes.len() as u64, Unit::Bytes)?;
    let header = read(bytes).ok_or(Error::Broken)?;
    if header.width == 0 || header.height == 0 || header.frames == 0 {
        return Err(Error::Broken);
    }
    check(format, &header)?;
    let Header { width, height, frames, lossless } = header;
    Ok(Probe { format, width, height, frames, lossless })
}

/// Checks the declared dimensions and frame count against the limits.
fn check(format: Format, header: &Header) -> Result<()> {
    let pixels = u64::from(header.width) * u64::from(header.height);
    let frames = u64::from(header.frames);
    let limit = match (format, frames) {
        (Format::Gif, _) => MAX_GIF_PIXELS,
        (_, 1) => MAX_IMAGE_PIXELS,
        (_, _) => MAX_ANIMATION_PIXELS,
    };
    at_most(limit, pixels, Unit::Pixels)?;
    at_most(MAX_FRAMES, frames, Unit::Frames)?;
    if frames == 1 { Ok(()) } else { at_most(MAX_ANIMATION_WORK, pixels * frames, Unit::PixelsInAllFrames) }
}

type Reader = fn(&[u8]) -> Option<Header>;

/// The format by magic number, and the parser of its header.
fn recognise(bytes: &[u8]) -> Result<(Format, Reader)> {
    if bytes.starts_with(b"\xFF\xD8\xFF") {
        Ok((Format::Jpeg, header::jpeg))
    } else if bytes.starts_with(b"\x89PNG\r\n\x1A\n") {
        Ok((Format::Png, header::png))
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Ok((Format::Gif, header::gif))
    } else if riff(bytes, b"WEBP") {
        Ok((Format::Webp, header::webp))
    } else {
        Err(Error::unsupported(name_of_unsupported(bytes)))
    }
}

fn riff(bytes: &[u8], form: &[u8; 4]) -> bool {
    bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(form)
}

/// The content type of an unsupported file, so that the message can name it.
fn name_of_unsupported(bytes: &[u8]) -> &'static str {
    if bytes.get(4..8) == Some(b"ftyp") {
        return match bytes.get(8..12) {
            Some(b"avif" | b"avis") => "image/avif",
            Some(b"heic" | b"heix" | b"heim" | b"heis" | b"hevc" | b"hevx") => "image/heic",
            Some(b"mif1" | b"msf1") => "image/heif",
            Some(b"qt  ") => "video/quicktime",
            Some(b"M4A " | b"M4B ") => "audio/mp4",
            _ => "video/mp4",
        };
    }
    match bytes {
        [0x1A, 0x45, 0xDF, 0xA3, ..] => "video/webm",
        [b'O', b'g', b'g', b'S', ..] => "audio/ogg",
        [b'f', b'L', b'a', b'C', ..] => "audio/flac",
        [b'I', b'D', b'3', ..] | [0xFF, 0xFB | 0xFA | 0xF3 | 0xF2, ..] => "audio/mpeg",
        [0xFF, 0xF1 | 0xF9, ..] => "audio/aac",
        _ if riff(bytes, b"WAVE") => "audio/wav",
        _ if riff(bytes, b"AVI ") => "video/x-msvideo",
        [b'B', b'M', ..] => "image/bmp",
        [b'I', b'I', b'*', 0, ..] | [b'M', b'M', 0, b'*', ..] => "image/tiff",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture;
    use super::*;

    #[test]
    fn every_format_is_recognised_by_content() {
        let png = probe(&fixture::png(8, 4)).unwrap();
        assert_eq!((png.mime(), png.width, png.height, png.animated()), ("image/png", 8, 4, false));
        let jpeg = probe(&fixture::jpeg(9, 5)).unwrap();
        assert_eq!((jpeg.mime(), jpeg.width, jpeg.height, jpeg.lossless), ("image/jpeg", 9, 5, false));
        let webp = probe(&fixture::webp(7, 3)).unwrap();
        assert_eq!((webp.mime(), webp.width, webp.height, webp.lossless), ("image/webp", 7, 3, true));
        let gif = probe(&fixture::gif(6, 2, 1, 100)).unwrap();
        assert_eq!((gif.mime(), gif.width, gif.height, gif.frames), ("image/gif", 6, 2, 1));
    }

    #[test]
    fn frames_are_counted_without_decoding() {
        assert_eq!(probe(&fixture::gif(20, 20, 7, 50)).unwrap().frames, 7);
        assert_eq!(probe(&fixture::apng(20, 20, 5)).unwrap().frames, 5);
        assert_eq!(probe(&fixture::animated_webp(20, 20, 3)).unwrap().frames, 3);
    }

    #[test]
    fn bomb_is_refused_from_its_header() {
        let refused = |bytes: &[u8], limit| {
            assert_eq!(probe(bytes), Err(Error::TooLarge { limit, unit: Unit::Pixels }));
        };
        refused(&fixture::with_png_size(&fixture::png(1, 1), 50_000, 50_000), MAX_IMAGE_PIXELS);
        refused(&fixture::with_png_size(&fixture::png(1, 1), u32::MAX, u32::MAX), MAX_IMAGE_PIXELS);
        refused(&fixture::with_gif_size(&fixture::gif(1, 1, 1, 100), 1281, 720), MAX_GIF_PIXELS);
        refused(&fixture::with_jpeg_size(&fixture::jpeg(8, 8), 65_535, 65_535), MAX_IMAGE_PIXELS);
        refused(&fixture::with_png_size(&fixture::apng(1, 1, 2), 3841, 2160), MAX_ANIMATION_PIXELS);
    }

    #[test]
    fn excessive_announced_frames_are_refused() {
        let many = fixture::with_apng_frames(&fixture::apng(1, 1, 2), 36_001);
        assert_eq!(probe(&many), Err(Error::TooLarge { limit: MAX_FRAMES, unit: Unit::Frames }));
        let work = fixture::with_png_size(&fixture::with_apng_frames(&fixture::apng(1, 1, 2), 601), 1000, 1000);
        let limit = MAX_ANIMATION_WORK;
        assert_eq!(probe(&work), Err(Error::TooLarge { limit, unit: Unit::PixelsInAllFrames }));
    }

    #[test]
    fn file_over_sixteen_mebibytes_is_refused() {
        let mut bytes = fixture::png(1, 1);
        bytes.resize(16 * 1024 * 1024 + 1, 0);
        assert_eq!(probe(&bytes), Err(Error::TooLarge { limit: MAX_IMAGE_BYTES, unit: Unit::Bytes }));
    }

    #[test]
    fn other_files_are_named_and_refused() {
        let name = |bytes: &[u8]| match probe(bytes) {
            Err(Error::Unsupported { mime }) => mime,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(b"\0\0\0\x20ftypavif...."), "image/avif");
        assert_eq!(name(b"\0\0\0\x20ftypheic...."), "image/heic");
        assert_eq!(name(b"\0\0\0\x20ftypisom...."), "video/mp4");
        assert_eq!(name(b"ID3\x04"), "audio/mpeg");
        assert_eq!(name(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), "application/octet-stream");
        assert_eq!(name(b""), "application/octet-stream");
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(kind in 0_usize..5, tail in proptest::collection::vec(any::<u8>(), 0..300)) {
            let magic: [&[u8]; 5] = [b"", b"\xFF\xD8\xFF", b"\x89PNG\r\n\x1A\n", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8X"];
            let _ = probe(&[magic[kind], &tail].concat());
        }
    }
}
