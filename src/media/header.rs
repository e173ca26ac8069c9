//! Header parsers: dimensions and frame counts, without decoding a pixel.
//!
//! Called by [`probe`](fn@super::probe). Every parser walks the bytes once, forwards, and returns `None` when they end
//! early or violate the format.
//!
//! Specs: ITU-T T.81 (JPEG), <https://www.w3.org/TR/png-3/>, GIF89a, RFC 9649 (WebP).

/// The values read from a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub width: u32,
    pub height: u32,
    /// 1 for a still image.
    pub frames: u32,
    pub lossless: bool,
}

/// `length` bytes at `at`; `None` past the end of the file.
fn slice(bytes: &[u8], at: usize, length: usize) -> Option<&[u8]> {
    bytes.get(at..at.checked_add(length)?)
}

fn u16_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(slice(bytes, at, 2)?.try_into().ok()?)))
}

fn u16_le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(slice(bytes, at, 2)?.try_into().ok()?)))
}

fn u24_le(bytes: &[u8], at: usize) -> Option<u32> {
    let part = slice(bytes, at, 3)?;
    Some(u32::from_le_bytes([part[0], part[1], part[2], 0]))
}

fn u32_be(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(slice(bytes, at, 4)?.try_into().ok()?))
}

fn u32_le(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(slice(bytes, at, 4)?.try_into().ok()?))
}

/// Walks the marker segments up to the frame header (SOFn), which must come before the first scan.
pub(super) fn jpeg(bytes: &[u8]) -> Option<Header> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        match *bytes.get(at + 1)? {
            // Fill bytes, and markers without a segment.
            0xFF => at += 1,
            0x01 | 0xD0..=0xD7 => at += 2,
            // A scan, or the end, before any frame header.
            0xD9 | 0xDA => return None,
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                let (height, width) = (u16_be(bytes, at + 5)?, u16_be(bytes, at + 7)?);
                return Some(Header { width, height, frames: 1, lossless: false });
            }
            _ => at += 2 + u16_be(bytes, at + 2)? as usize,
        }
    }
}

/// Reads `IHDR`, and `acTL` when it comes before the first `IDAT`.
pub(super) fn png(bytes: &[u8]) -> Option<Header> {
    if slice(bytes, 12, 4)? != b"IHDR" {
        return None;
    }
    let (width, height) = (u32_be(bytes, 16)?, u32_be(bytes, 20)?);
    let (mut at, mut frames) = (8, 1);
    while let Some(kind) = slice(bytes, at + 4, 4).filter(|kind| *kind != b"IDAT") {
        if kind == b"acTL" {
            frames = u32_be(bytes, at + 8)?;
        }
        at = at.checked_add(u32_be(bytes, at)? as usize)?.checked_add(12)?;
    }
    Some(Header { width, height, frames, lossless: true })
}

/// Walks all blocks and counts image descriptors; in a truncated file the frames begun so far count.
pub(super) fn gif(bytes: &[u8]) -> Option<Header> {
    let (width, height) = (u16_le(bytes, 6)?, u16_le(bytes, 8)?);
    let mut at = 13 + colour_table(*bytes.get(10)?);
    let mut frames = 0;
    while let Some(&block) = bytes.get(at) {
        at = match block {
            0x2C => {
                frames += 1;
                let Some(&flags) = bytes.get(at + 9) else { break };
                sub_blocks(bytes, at + 11 + colour_table(flags))
            }
            0x21 => sub_blocks(bytes, at + 2),
            _ => break,
        };
    }
    Some(Header { width, height, frames, lossless: true })
}

/// The size in bytes of the colour table that the packed `flags` declare.
fn colour_table(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The position after the sub-blocks that begin at `at`.
fn sub_blocks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&length) = bytes.get(at) {
        at += 1 + usize::from(length);
        if length == 0 {
            break;
        }
    }
    at
}

/// Reads the first chunk, and counts `ANMF` chunks in the extended format.
pub(super) fn webp(bytes: &[u8]) -> Option<Header> {
    let still = |width, height, lossless| Some(Header { width, height, frames: 1, lossless });
    match slice(bytes, 12, 4)? {
        b"VP8 " => still(u16_le(bytes, 26)? & 0x3FFF, u16_le(bytes, 28)? & 0x3FFF, false),
        b"VP8L" => {
            let bits = u32_le(bytes, 21)?;
            still((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, true)
        }
        b"VP8X" => {
            let animated = bytes.get(20)? & 0x02 != 0;
            let (frames, lossless) = webp_chunks(bytes);
            let frames = if animated { frames } else { 1 };
            Some(Header { width: u24_le(bytes, 24)? + 1, height: u24_le(bytes, 27)? + 1, frames, lossless })
        }
        _ => None,
    }
}

/// The number of `ANMF` chunks, and whether there is no lossy chunk at the top level.
fn webp_chunks(bytes: &[u8]) -> (u32, bool) {
    let (mut at, mut frames, mut lossless) = (12_usize, 0, true);
    while let (Some(kind), Some(size)) = (slice(bytes, at, 4), u32_le(bytes, at + 4)) {
        match kind {
            b"ANMF" => frames += 1,
            b"VP8 " => lossless = false,
            _ => {}
        }
        at = at.saturating_add(8 + (size as usize).next_multiple_of(2));
        if at >= bytes.len() {
            break;
        }
    }
    (frames, lossless)
}
