//! The containers of video and audio that are accepted, recognised by their first bytes.
//!
//! `ffprobe` and `ffmpeg` receive the container by name, so that neither guesses: a playlist, a list of files to join
//! or a description of a stream is not a container here, regardless of its content, and they never open it.
//!
//! Spec: docs/contract/rules.md#17-media

/// The bytes of a file that are looked at.
pub const HEAD_BYTES: usize = 64;

/// A container of video or audio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// MP4 and its relatives: QuickTime, M4A, 3GPP.
    Mp4,
    /// Matroska and `WebM`.
    Matroska,
    Ogg,
    Flac,
    /// MPEG audio, with or without an ID3 tag.
    Mp3,
    /// AAC in ADTS.
    Aac,
    /// RIFF WAVE.
    Wav,
    /// ASF, as of Windows Media.
    Asf,
}

/// The first bytes of an ASF file (a GUID).
const ASF: [u8; 16] = [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11, 0xA6, 0xD9, 0x00, 0xAA, 0x00, 0x62, 0xCE, 0x6C];

impl Container {
    /// The container of a file that begins with `head`; `None` for anything else, images included.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Self> {
        if head.get(4..8) == Some(b"ftyp") {
            let image: [&[u8]; 10] =
                [b"avif", b"avis", b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"];
            return head.get(8..12).filter(|brand| !image.contains(brand)).map(|_| Self::Mp4);
        }
        match head {
            [0x1A, 0x45, 0xDF, 0xA3, ..] => Some(Self::Matroska),
            [b'O', b'g', b'g', b'S', ..] => Some(Self::Ogg),
            [b'f', b'L', b'a', b'C', ..] => Some(Self::Flac),
            [b'I', b'D', b'3', ..] | [0xFF, 0xFB | 0xFA | 0xF3 | 0xF2, ..] => Some(Self::Mp3),
            [0xFF, 0xF1 | 0xF9, ..] => Some(Self::Aac),
            _ if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WAVE") => Some(Self::Wav),
            _ if head.starts_with(&ASF) => Some(Self::Asf),
            _ => None,
        }
    }

    /// The name of its demuxer.
    pub(super) const fn demuxer(self) -> &'static str {
        match self {
            Self::Mp4 => "mov",
            Self::Matroska => "matroska",
            Self::Ogg => "ogg",
            Self::Flac => "flac",
            Self::Mp3 => "mp3",
            Self::Aac => "aac",
            Self::Wav => "wav",
            Self::Asf => "asf",
        }
    }

    /// What to call it in a message.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mp4 => "MP4",
            Self::Matroska => "WebM",
            Self::Ogg => "Ogg",
            Self::Flac => "FLAC",
            Self::Mp3 => "MP3",
            Self::Aac => "AAC",
            Self::Wav => "WAV",
            Self::Asf => "ASF",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_recognised_by_content() {
        assert_eq!(Container::of(b"\0\0\0\x20ftypisom...."), Some(Container::Mp4));
        assert_eq!(Container::of(b"\0\0\0\x20ftypM4A ...."), Some(Container::Mp4));
        assert_eq!(Container::of(b"\x1A\x45\xDF\xA3"), Some(Container::Matroska));
        assert_eq!(Container::of(b"RIFF\0\0\0\0WAVEfmt "), Some(Container::Wav));
        assert_eq!(Container::of(b"ID3\x04"), Some(Container::Mp3));
    }

    #[test]
    fn images_and_playlists_are_none() {
        let others: [&[u8]; 8] = [
            b"\0\0\0\x20ftypavif....",
            b"\0\0\0\x20ftyp",
            b"#EXTM3U\n#EXT-X-VERSION:3\n",
            b"ffconcat version 1.0\nfile /etc/passwd\n",
            b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n",
            b"RIFF\0\0\0\0AVI LIST",
            b"\x89PNG\r\n\x1A\n",
            b"",
        ];
        for head in others {
            assert_eq!(Container::of(head), None, "{head:?}");
        }
    }
}
