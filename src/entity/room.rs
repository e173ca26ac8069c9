//! The room of a response: how many bytes its parts may have.
//!
//! Texts of other servers have bounds of their own, but a thread has thousands of them, and a profile is repeated with
//! every status of its author. Beyond [`OPEN_BYTES`] a response goes without large parts, so that large ones do not
//! displace the others, and beyond [`MOST_BYTES`] without any. An honest page is far below both.

use std::sync::Arc;

use super::account::{Rendered, render_versions};
use context::Cx;
use context::error::Result;
use model::AccountId;

/// Parts are taken up to this sum whatever their size.
const OPEN_BYTES: usize = 4 << 20;
/// Parts above this size are left out beyond [`OPEN_BYTES`].
const LARGE_BYTES: usize = 32 << 10;
/// Most bytes of a response.
const MOST_BYTES: usize = 16 << 20;

/// Parts that are read together. A page has fewer, a thread may have thousands.
pub(super) const CHUNK: usize = 400;

/// The bytes of a response used so far.
#[derive(Debug, Default)]
pub(super) struct Room {
    used: usize,
}

impl Room {
    /// True when a part of `size` bytes is taken.
    pub(super) fn takes(&mut self, size: usize) -> bool {
        let fits = self.used < OPEN_BYTES || (size <= LARGE_BYTES && self.used + size <= MOST_BYTES);
        if fits {
            self.used += size;
        }
        fits
    }

    /// True when parts of `size` bytes together are taken whatever the size of each.
    pub(super) fn takes_all(&mut self, size: usize) -> bool {
        let fits = self.used + size <= OPEN_BYTES;
        if fits {
            self.used += size;
        }
        fits
    }

    /// True when even small parts are left out.
    pub(super) fn is_full(&self) -> bool {
        self.used + LARGE_BYTES > MOST_BYTES
    }
}

/// As [`render_versions`] for the accounts of a response, in its order, as far as they have room in it.
///
/// # Errors
/// As [`render_versions`].
pub(super) async fn accounts(cx: &Cx, versions: &[(AccountId, i64)]) -> Result<Rendered> {
    let (mut room, mut taken) = (Room::default(), Vec::with_capacity(versions.len()));
    for chunk in versions.chunks(CHUNK) {
        if room.is_full() {
            break;
        }
        let rendered = render_versions(cx, chunk).await?;
        if room.takes_all(rendered.iter().map(|(_, text)| text.len()).sum()) {
            taken.extend(rendered);
            continue;
        }
        let found = chunk.iter().filter_map(|(id, _)| Some((*id, Arc::clone(rendered.get(id)?))));
        taken.extend(found.filter(|(_, text)| room.takes(text.len())));
    }
    Ok(taken.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_parts_do_not_displace_small_ones() {
        let mut room = Room::default();
        let large = (0..1_000).filter(|_| room.takes(64 << 10)).count();
        assert_eq!(large, OPEN_BYTES / (64 << 10));
        let small = (0..100_000).filter(|_| room.takes(2 << 10)).count();
        assert_eq!(small, (MOST_BYTES - OPEN_BYTES) / (2 << 10));
        assert!(room.is_full());
    }
}
