//! The output of `ffprobe` about a file's streams, and the check of the limits.
//!
//! The program has read an untrusted file: every member may be missing or absurd.

use serde::Deserialize;

use super::container::Container;
use super::error::{Error, Result, Unit, at_most};
use super::types::greatest_common_divisor;
use super::{MAX_FRAME_RATE, MAX_FRAMES, MAX_VIDEO_PIXELS};

/// The members that are asked for.
pub(super) const ENTRIES: &str = "stream=index,codec_type,codec_name,width,height,pix_fmt,r_frame_rate,avg_frame_rate,\
                                  nb_frames,channels,sample_rate:stream_disposition=attached_pic:\
                                  stream_side_data=rotation:stream_tags=rotate:format=duration";

/// The codecs of pictures that are decoded.
const VIDEO_CODECS: [&str; 10] =
    ["h264", "hevc", "vp8", "vp9", "av1", "mpeg4", "theora", "h263", "mpeg2video", "mjpeg"];

/// The codecs of sound that are decoded, beside all codecs that begin with `pcm_`.
const AUDIO_CODECS: [&str; 11] =
    ["aac", "mp3", "mp2", "opus", "vorbis", "flac", "alac", "amr_nb", "amr_wb", "wmav1", "wmav2"];

/// The decoders that may run, by their own names; everything else that the programs have is out of reach.
pub(super) const DECODERS: &str = "h264,hevc,vp8,libvpx,vp9,libvpx-vp9,av1,libdav1d,libaom-av1,mpeg4,theora,h263,mpeg2video,\
                                   mjpeg,png,aac,mp3,mp3float,mp2,mp2float,opus,libopus,vorbis,libvorbis,flac,alac,amrnb,\
                                   amrwb,libopencore_amrnb,libopencore_amrwb,wmav1,wmav2,pcm_s16le,pcm_s24le,pcm_s32le,\
                                   pcm_u8,pcm_f32le,pcm_f64le,pcm_s16be,pcm_s24be,pcm_alaw,pcm_mulaw";

/// The kind of attachment of an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Pictures and sound.
    Video,
    /// Pictures alone.
    Gifv,
    /// Sound alone, with a cover perhaps.
    Audio,
}

/// The streams of a file that are used.
#[derive(Clone, Debug, PartialEq)]
pub struct Streams {
    pub(super) video: Option<VideoStream>,
    pub(super) audio: Option<AudioStream>,
    /// The number of the stream with the picture that a sound brought.
    pub(super) cover: Option<u32>,
    /// In seconds.
    pub(super) duration: Option<f64>,
}

/// A stream of pictures.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VideoStream {
    pub codec: String,
    pub width: u32,
    pub height: u32,
    /// On average, reduced; `(0, 1)` when it is not known.
    pub frame_rate: (u64, u64),
    /// As the container counts them.
    pub frames: Option<u64>,
    /// In 4:2:0 with eight bits, and upright: as every player shows it.
    pub plain: bool,
}

/// A stream of sound.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AudioStream {
    pub codec: String,
    pub channels: u32,
    /// In hertz.
    pub sample_rate: u32,
}

impl Streams {
    /// The kind of attachment of the file.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match (&self.video, &self.audio) {
            (Some(_), Some(_)) => Kind::Video,
            (Some(_), None) => Kind::Gifv,
            (None, _) => Kind::Audio,
        }
    }

    /// Reads an answer about a file in `container`, which may last `most_seconds`.
    ///
    /// # Errors
    /// [`Error::Broken`] when it makes no sense, [`Error::Unsupported`] for a codec that is not decoded, and when there is
    /// neither picture nor sound; [`Error::TooLarge`] beyond the limits.
    pub(super) fn parse(answer: &[u8], container: Container, most_seconds: u64) -> Result<Self> {
        let ProbeOutput { streams, format } = serde_json::from_slice(answer).map_err(|_| Error::Broken)?;
        let of = |kind: &'static str| streams.iter().filter(move |stream| stream.codec_type.as_deref() == Some(kind));
        let video = of("video").find(|stream| !stream.is_picture()).map(VideoStream::of).transpose()?;
        let audio = of("audio").next().map(AudioStream::of);
        let cover = of("video").find(|stream| stream.is_picture()).and_then(|stream| stream.index);
        let duration = format.duration.and_then(|text| text.parse().ok());
        let duration = duration.filter(|seconds: &f64| seconds.is_finite() && *seconds > 0.0);
        let found = Self { video, audio, cover, duration };
        found.check(container)?;
        at_most(most_seconds, found.seconds(), Unit::Seconds)?;
        Ok(found)
    }

    /// Begun seconds; 0 when the length is not known.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of floats saturates")]
    fn seconds(&self) -> u64 {
        self.duration.unwrap_or(0.0).ceil() as u64
    }

    fn check(&self, container: Container) -> Result<()> {
        let unsupported = |what: &str| Error::unsupported(&format!("{} ({what})", container.name()));
        if let Some(audio) = &self.audio
            && !AUDIO_CODECS.contains(&audio.codec.as_str())
            && !audio.codec.starts_with("pcm_")
        {
            return Err(unsupported(&audio.codec));
        }
        match &self.video {
            Some(video) if !VIDEO_CODECS.contains(&video.codec.as_str()) => Err(unsupported(&video.codec)),
            Some(video) => video.check(self.duration),
            None if self.audio.is_none() => Err(unsupported("neither pictures nor sound")),
            None => Ok(()),
        }
    }
}

impl VideoStream {
    fn of(stream: &Stream) -> Result<Self> {
        let (Some(width @ 1..), Some(height @ 1..)) = (stream.width, stream.height) else { return Err(Error::Broken) };
        let rate = |text: &Option<String>| text.as_deref().and_then(fraction);
        let upright = stream.side_data_list.iter().all(|data| data.rotation.is_none_or(|angle| angle == 0.0))
            && stream.tags.rotate.as_deref().is_none_or(|angle| angle == "0");
        Ok(Self {
            codec: name(stream.codec_name.as_deref()),
            width,
            height,
            frame_rate: rate(&stream.avg_frame_rate).or_else(|| rate(&stream.r_frame_rate)).unwrap_or((0, 1)),
            frames: stream.nb_frames.as_ref().and_then(|count| count.parse().ok()),
            plain: upright && stream.pix_fmt.as_deref() == Some("yuv420p"),
        })
    }

    fn check(&self, duration: Option<f64>) -> Result<()> {
        at_most(MAX_VIDEO_PIXELS, u64::from(self.width) * u64::from(self.height), Unit::Pixels)?;
        let (frames, seconds) = self.frame_rate;
        at_most(MAX_FRAME_RATE, frames.div_ceil(seconds.max(1)), Unit::FramesPerSecond)?;
        at_most(MAX_FRAMES, self.frames.unwrap_or(0).max(self.estimated_frames(duration)), Unit::Frames)
    }

    /// Frames by duration and rate, since a container may not count them, or lie.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of floats saturates")]
    fn estimated_frames(&self, duration: Option<f64>) -> u64 {
        let (frames, seconds) = self.frame_rate;
        (duration.unwrap_or(0.0) * frames as f64 / seconds.max(1) as f64) as u64
    }
}

impl AudioStream {
    fn of(stream: &Stream) -> Self {
        Self {
            codec: name(stream.codec_name.as_deref()),
            channels: stream.channels.unwrap_or(0),
            sample_rate: stream.sample_rate.as_ref().and_then(|rate| rate.parse().ok()).unwrap_or(0),
        }
    }
}

/// The name of a codec, as it may stand in a message.
fn name(text: Option<&str>) -> String {
    let plain = |character: &char| character.is_ascii_alphanumeric() || *character == '_';
    text.unwrap_or("unknown").chars().filter(plain).take(32).collect()
}

/// `"30000/1001"`, reduced; `None` for zero, and for text that is not a fraction.
fn fraction(text: &str) -> Option<(u64, u64)> {
    let (above, below) = text.split_once('/')?;
    let (above, below): (u64, u64) = (above.parse().ok()?, below.parse().ok()?);
    let divisor = u64::try_from(greatest_common_divisor(above.into(), below.into())).ok()?;
    (above > 0 && below > 0).then(|| (above / divisor, below / divisor))
}

#[derive(Deserialize)]
struct ProbeOutput {
    #[serde(default)]
    streams: Vec<Stream>,
    #[serde(default)]
    format: Format,
}

#[derive(Default, Deserialize)]
struct Format {
    duration: Option<String>,
}

#[derive(Deserialize)]
struct Stream {
    index: Option<u32>,
    codec_type: Option<String>,
    codec_name: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    pix_fmt: Option<String>,
    r_frame_rate: Option<String>,
    avg_frame_rate: Option<String>,
    nb_frames: Option<String>,
    channels: Option<u32>,
    sample_rate: Option<String>,
    #[serde(default)]
    disposition: Disposition,
    #[serde(default)]
    side_data_list: Vec<SideData>,
    #[serde(default)]
    tags: Tags,
}

impl Stream {
    /// A cover is a video of one picture, by its disposition.
    fn is_picture(&self) -> bool {
        self.disposition.attached_pic == 1
    }
}

#[derive(Default, Deserialize)]
struct Disposition {
    #[serde(default)]
    attached_pic: u8,
}

#[derive(Deserialize)]
struct SideData {
    rotation: Option<f64>,
}

#[derive(Default, Deserialize)]
struct Tags {
    rotate: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn video(change: &serde_json::Value) -> Result<Streams> {
        let mut stream = json!({
            "index": 0, "codec_type": "video", "codec_name": "h264", "width": 320, "height": 180, "pix_fmt": "yuv420p",
            "avg_frame_rate": "30000/1001", "nb_frames": "30",
        });
        stream.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let answer = json!({ "streams": [stream], "format": { "duration": "1.001" } });
        Streams::parse(answer.to_string().as_bytes(), Container::Mp4, 3600)
    }

    #[test]
    fn silent_video_is_gifv_and_cover_is_no_video() {
        let found = video(&json!({})).unwrap();
        assert_eq!((found.kind(), found.duration), (Kind::Gifv, Some(1.001)));
        assert_eq!(found.video.unwrap().frame_rate, (30_000, 1001));
        let answer = br#"{"streams": [{"codec_type": "audio", "codec_name": "mp3"},
            {"index": 1, "codec_type": "video", "codec_name": "png", "disposition": {"attached_pic": 1}}]}"#;
        let found = Streams::parse(answer, Container::Mp3, 3600).unwrap();
        assert_eq!((found.kind(), found.cover), (Kind::Audio, Some(1)));
    }

    #[test]
    fn exceeded_limits_are_named() {
        let refused = |change| match video(&change) {
            Err(Error::TooLarge { unit, .. }) => unit,
            other => panic!("{other:?}"),
        };
        assert_eq!(refused(json!({ "width": 3841, "height": 2160 })), Unit::Pixels);
        assert_eq!(refused(json!({ "avg_frame_rate": "121/1" })), Unit::FramesPerSecond);
        assert_eq!(refused(json!({ "nb_frames": "36001" })), Unit::Frames);
        video(&json!({ "width": 3840, "height": 2160, "avg_frame_rate": "120/1", "nb_frames": "36000" })).unwrap();
    }

    #[test]
    fn length_of_a_sound_has_a_limit() {
        let answer = |seconds: &str| {
            let answer = json!({ "streams": [{ "codec_type": "audio", "codec_name": "mp3" }],
                "format": { "duration": seconds } });
            Streams::parse(answer.to_string().as_bytes(), Container::Mp3, 60)
        };
        answer("60.0").unwrap();
        for long in ["60.1", "1e300"] {
            assert_eq!(answer(long), Err(Error::TooLarge { limit: 60, unit: Unit::Seconds }), "{long}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        for change in [json!({ "codec_name": "prores" }), json!({ "codec_name": "<script>" })] {
            assert!(matches!(video(&change), Err(Error::Unsupported { .. })), "{change}");
        }
        assert_eq!(video(&json!({ "width": 0 })), Err(Error::Broken));
        assert_eq!(Streams::parse(b"not JSON", Container::Ogg, 1), Err(Error::Broken));
        assert!(matches!(Streams::parse(b"{}", Container::Ogg, 1), Err(Error::Unsupported { .. })));
    }

    #[test]
    fn turned_video_is_not_copied_as_it_is() {
        assert!(video(&json!({})).unwrap().video.unwrap().plain);
        for change in [
            json!({ "side_data_list": [{ "rotation": -90 }] }),
            json!({ "tags": { "rotate": "90" } }),
            json!({ "pix_fmt": "yuv444p" }),
        ] {
            assert!(!video(&change).unwrap().video.unwrap().plain, "{change}");
        }
    }
}
