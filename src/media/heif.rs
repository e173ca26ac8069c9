//! Still pictures in HEIF containers (AVIF, HEIC): recognised, and measured before anything decodes them.
//!
//! Reads only the boxes with sizes and rotation. A photograph is often stored as a grid of tiles with thumbnails; the largest
//! declared size belongs to the whole picture.
//!
//! Spec: ISO/IEC 23008-12, and <https://aomediacodec.github.io/av1-avif/>

use std::path::Path;

use super::MAX_IMAGE_PIXELS;
use super::error::{Error, Result, Unit, at_most};

/// A kind of still picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Still {
    /// Coded as AV1.
    Avif,
    /// Coded as HEVC.
    Heic,
}

/// The bytes at the beginning of a file in which its pictures are declared.
const HEAD_BYTES: usize = 256 * 1024;

/// Enough for the brands in the `ftyp` box.
const BRANDS_BYTES: usize = 256;

impl Still {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Avif, Self::Heic];

    /// The kind of a file that begins with `head`; `None` for anything else, animations included.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.get(4..8) != Some(b"ftyp") {
            return None;
        }
        let length = u32::from_be_bytes(head.get(..4)?.try_into().ok()?) as usize;
        let brands = head.get(8..length.min(head.len()).min(BRANDS_BYTES))?;
        // The minor version is at the position of the second brand.
        let has = |brand: &[u8]| brands.chunks_exact(4).enumerate().any(|(at, one)| at != 1 && one == brand);
        match brands.get(..4)? {
            b"avif" => Some(Self::Avif),
            b"heic" | b"heix" => Some(Self::Heic),
            b"mif1" if has(b"avif") => Some(Self::Avif),
            b"mif1" if has(b"heic") || has(b"heix") => Some(Self::Heic),
            _ => None,
        }
    }

    /// The kind of the file at `path`, as by [`of`](Self::of).
    ///
    /// # Errors
    /// [`Error::Internal`] when the file cannot be read.
    pub async fn at(path: &Path) -> Result<Option<Self>> {
        Ok(Self::of(&head(path, BRANDS_BYTES).await?))
    }

    /// The media types, the usual one first.
    pub(super) const fn mimes(self) -> &'static [&'static str] {
        match self {
            Self::Avif => &["image/avif"],
            Self::Heic => &["image/heic", "image/heif"],
        }
    }

    /// The error of a picture that cannot be read here.
    pub(super) fn unsupported(self) -> Error {
        Error::unsupported(self.mimes()[0])
    }

    /// A tiny one, by which it is found out whether `ffmpeg` reads them.
    pub(super) const fn sample(self) -> &'static [u8] {
        match self {
            Self::Avif => include_bytes!("samples/still.avif"),
            Self::Heic => include_bytes!("samples/still.heic"),
        }
    }
}

/// Properties of the picture, declared at the beginning of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// In pixels, as stored.
    pub width: u32,
    /// In pixels, as stored.
    pub height: u32,
    /// Quarters of a turn, against the clock.
    turns: u8,
    /// After it was turned: `Some(1)` from left to right, `Some(0)` upside down.
    mirrored: Option<u8>,
}

impl Declared {
    /// The `ffmpeg` filters that rotate and mirror the stored picture for display.
    pub(super) fn upright(self) -> impl Iterator<Item = &'static str> {
        let turn = match self.turns {
            1 => Some("transpose=cclock"),
            2 => Some("hflip,vflip"),
            3 => Some("transpose=clock"),
            _ => None,
        };
        turn.into_iter().chain(self.mirrored.map(|axis| if axis == 1 { "hflip" } else { "vflip" }))
    }

    /// The largest picture of a file that begins with `head`.
    fn of(head: &[u8]) -> Option<Self> {
        let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at.checked_add(4)?)?.try_into().ok()?));
        // The bodies of the boxes of a kind, each as long as it has to be.
        let bodies = |kind: &'static [u8; 4], length: u32| {
            let found = head.windows(4).enumerate().filter(move |(_, name)| *name == kind);
            found.filter(move |(at, _)| at.checked_sub(4).and_then(number) == Some(length)).map(|(at, _)| at + 4)
        };
        let flag = |kind| bodies(kind, 9).next().and_then(|at| head.get(at)).copied();
        let sizes = bodies(b"ispe", 20).filter_map(|at| Some((number(at + 4)?, number(at + 8)?)));
        let (width, height) = sizes
            .filter(|(width, height)| *width > 0 && *height > 0)
            .max_by_key(|(width, height)| u64::from(*width) * u64::from(*height))?;
        Some(Self {
            width,
            height,
            turns: flag(b"irot").unwrap_or(0) & 3,
            mirrored: flag(b"imir").map(|axis| axis & 1),
        })
    }
}

/// Reads the declared properties of the picture at `path`, which may have `max_bytes`.
///
/// # Errors
/// [`Error::TooLarge`] for a file or a picture beyond the limits, [`Error::Broken`] when it declares no size.
pub(super) async fn read(path: &Path, max_bytes: u64) -> Result<Declared> {
    at_most(max_bytes, tokio::fs::metadata(path).await.map_err(Error::internal)?.len(), Unit::Bytes)?;
    let declared = Declared::of(&head(path, HEAD_BYTES).await?).ok_or(Error::Broken)?;
    at_most(MAX_IMAGE_PIXELS, u64::from(declared.width) * u64::from(declared.height), Unit::Pixels)?;
    Ok(declared)
}

async fn head(path: &Path, bytes: usize) -> Result<Vec<u8>> {
    use tokio::io::AsyncReadExt as _;

    let mut head = Vec::new();
    let file = tokio::fs::File::open(path).await.map_err(Error::internal)?;
    file.take(bytes as u64).read_to_end(&mut head).await.map_err(Error::internal)?;
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stills_are_recognised_and_measured() {
        assert_eq!(Still::of(Still::Avif.sample()), Some(Still::Avif));
        assert_eq!(Still::of(Still::Heic.sample()), Some(Still::Heic));
        let size = |still: Still| Declared::of(still.sample()).map(|found| (found.width, found.height));
        assert_eq!((size(Still::Avif), size(Still::Heic)), (Some((64, 48)), Some((64, 64))));
    }

    #[test]
    fn other_formats_are_distinguished() {
        for head in [
            &b"\0\0\0\x14ftypavis\0\0\0\0avif"[..],
            b"\0\0\0\x18ftypisom",
            b"\0\0\0\x10ftypmif1\0\0\0\0",
            b"",
            b"\x89PNG",
        ] {
            assert_eq!(Still::of(head), None, "{head:?}");
        }
        assert_eq!(Still::of(b"\0\0\0\x18ftypmif1\0\0\0\0heicmif1"), Some(Still::Heic));
        assert_eq!(Declared::of(b"ispe"), None);
        assert_eq!(Declared::of(b"\0\0\0\x14ispe\0\0\0\0\0\0\0\0\0\0\0\x01"), None);
    }

    #[test]
    fn turned_picture_is_turned_back() {
        let filters = |turned: &[u8]| -> Vec<&str> {
            let size = b"\0\0\0\x14ispe\0\0\0\0\0\0\0\x02\0\0\0\x01";
            Declared::of(&[size, turned].concat()).expect("it has a size").upright().collect()
        };
        assert!(filters(b"").is_empty());
        assert_eq!(filters(b"\0\0\0\x09irot\x01"), ["transpose=cclock"]);
        assert_eq!(filters(b"\0\0\0\x09irot\x03\0\0\0\x09imir\x01"), ["transpose=clock", "hflip"]);
    }
}
