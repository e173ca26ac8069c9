//! The server's side of video and audio: `ffprobe` looks at a file, `ffmpeg` makes of it what every client plays.
//!
//! A video becomes an MP4 (H.264, AAC), without being encoded again when it is one; without sound it is a `gifv`. A sound
//! becomes an MP3. Metadata, chapters, subtitles and further streams are left out. An AVIF or HEIC picture becomes a JPEG,
//! which the image worker takes up; whether these `ffmpeg`s can read them is tried once, with small ones. Both programs are
//! the machine's own and run confined, see [`program`]; where they are missing, [`Error::NoConverter`].
//!
//! Spec: docs/contract/rules.md#17-media

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::MAX_FRAMES;
use super::container::{Container, HEAD_BYTES};
use super::error::{Error, Result};
use super::heif::{self, Still};
use super::permits::{Permit, Permits};
use super::program::{self, PRINTED, Task, address, existing};
use super::streams::{DECODERS, ENTRIES, Kind, Streams};
use super::types::{Format, Purpose};
use super::worker;
use confine::Confinement;
use tokio::sync::OnceCell;

/// How long looking at a file may take.
const PROBE_TIME_LIMIT: Duration = Duration::from_secs(10);

/// Files looked at at the same time.
const PROBES: usize = 4;

/// Most bytes of what `ffprobe` says of a file.
const MAX_ANSWER_BYTES: u64 = 1024 * 1024;

/// The encoders that are needed.
const ENCODERS: [&str; 3] = ["libx264", "aac", "libmp3lame"];

/// A frame or a cover, no larger than it is shown.
const PICTURE_SIZE: &str = "scale=w='min(640,iw)':h='min(640,ih)':force_original_aspect_ratio=decrease";

/// How long reading a still picture may take.
const STILL_TIME_LIMIT: Duration = Duration::from_secs(30);

/// Maximum longer side of the JPEG converted from a still picture: for attachments, and for all other purposes.
const STILL_SIDES: (u32, u32) = (3840, 1500);

/// The dimensions of 4:2:0 are even.
const EVEN_SIZE: &str = "scale=trunc(iw/2)*2:trunc(ih/2)*2";

/// Where the two programs are.
#[derive(Clone, Debug)]
pub struct Programs {
    ffmpeg: PathBuf,
    ffprobe: PathBuf,
}

impl Programs {
    /// The programs at these paths, if both are files.
    #[must_use]
    pub fn at(ffmpeg: &Path, ffprobe: &Path) -> Option<Self> {
        Some(Self { ffmpeg: existing(ffmpeg)?, ffprobe: existing(ffprobe)? })
    }
}

/// Runs the two programs; the server has one `Converter`.
#[derive(Debug)]
pub struct Converter {
    executable: PathBuf,
    programs: Option<Programs>,
    time_limit: Duration,
    max_bytes: u64,
    most_seconds: u64,
    probes: Permits,
    conversions: Permits,
    stills: OnceCell<Vec<Still>>,
}

/// What became of a file. Its parts are in the folder that was given for them.
#[derive(Debug)]
pub struct Converted {
    /// The kind of attachment.
    pub kind: Kind,
    /// [`Format::Mp4`] or [`Format::Mp3`].
    pub format: Format,
    /// The new file.
    pub path: PathBuf,
    pub size_bytes: u64,
    /// Of the new file.
    pub streams: Streams,
    /// Its first frame or its cover, as a PNG.
    pub picture: Option<PathBuf>,
}

impl Converter {
    /// `executable` as for [`Sandbox::new`](super::Sandbox::new). `concurrency`: conversions at the same time, each for at most
    /// `time_limit`, of files that become no larger than `max_bytes`, and that last `most_seconds` at most.
    #[must_use]
    pub fn new(
        executable: &Path,
        programs: Option<Programs>,
        concurrency: usize,
        time_limit: Duration,
        max_bytes: u64,
        most_seconds: u64,
    ) -> Self {
        let (probes, conversions) = (Permits::new(PROBES), Permits::new(concurrency));
        let (executable, stills) = (executable.to_owned(), OnceCell::new());
        Self { executable, programs, time_limit, max_bytes, most_seconds, probes, conversions, stills }
    }

    /// Whether video and audio can be processed.
    #[must_use]
    pub fn is_available(&self) -> bool {
        self.programs.is_some()
    }

    /// Waits until a file of `owner` may be converted.
    ///
    /// # Errors
    /// [`Error::Internal`]
    pub async fn permit(&self, owner: i64) -> Result<Permit<'_>> {
        self.conversions.acquire(Some(owner)).await
    }

    /// As [`permit`](Self::permit), but `None` immediately when `owner` has its full share of conversions.
    ///
    /// # Errors
    /// [`Error::Internal`]
    pub async fn permit_within_share(&self, owner: i64) -> Result<Option<Permit<'_>>> {
        self.conversions.acquire_within_share(owner).await
    }

    /// Inspects a file of `owner`. `scratch`: a folder for temporary files.
    ///
    /// # Errors
    /// [`Error::Unsupported`], [`Error::TooLarge`] and [`Error::Broken`] for the file, [`Error::NoConverter`],
    /// [`Error::Timeout`], [`Error::Internal`].
    pub async fn inspect(&self, owner: i64, input: &Path, container: Container, scratch: &Path) -> Result<Streams> {
        let _permit = self.probes.acquire(Some(owner)).await?;
        self.probe(input, container, scratch).await
    }

    /// Converts a file, which takes minutes, with a [permit](Self::permit). `scratch`: an empty folder for what becomes of it.
    ///
    /// # Errors
    /// As [`inspect`](Self::inspect).
    pub async fn convert(
        &self,
        _permit: &Permit<'_>,
        input: &Path,
        container: Container,
        scratch: &Path,
    ) -> Result<Converted> {
        let source = self.probe(input, container, scratch).await?;
        let (kind, as_it_is) = (source.kind(), source.is_playable(container));
        let (format, made) = match kind {
            Kind::Video | Kind::Gifv => (Format::Mp4, Container::Mp4),
            Kind::Audio => (Format::Mp3, Container::Mp3),
        };
        let path = scratch.join("converted").with_extension(format.extension());
        let mut encoding = if kind == Kind::Audio { to_mp3(&source) } else { to_mp4(as_it_is) };
        // One second more than is accepted, so that one whose container lies is not encoded to its end.
        encoding.extend(["-t".into(), (self.most_seconds + 1).to_string().into()]);
        self.ffmpeg(input, container, scratch, encoding, &path).await?;
        let size_bytes = tokio::fs::metadata(&path).await.map_err(Error::internal)?.len();
        let streams = self.probe(&path, made, scratch).await?;
        let picture = match (kind, source.cover) {
            (Kind::Video | Kind::Gifv, _) => Some(self.picture(&path, made, "0:v:0", scratch).await?),
            // A cover that cannot be read is no reason to refuse the sound.
            (Kind::Audio, Some(cover)) => self.picture(input, container, &format!("0:{cover}"), scratch).await.ok(),
            (Kind::Audio, None) => None,
        };
        Ok(Converted { kind, format, path, size_bytes, streams, picture })
    }

    /// The kinds of still pictures that [`still`](Self::still) reads, as far as that was [tried](Self::try_stills).
    #[must_use]
    pub fn stills(&self) -> &[Still] {
        self.stills.get().map_or(&[], Vec::as_slice)
    }

    /// Tries once which kinds of still pictures can be read: neither is by every `ffmpeg`.
    pub async fn try_stills(&self) -> &[Still] {
        let tried = self.stills.get_or_init(async || {
            let mut readable = Vec::new();
            for still in Still::ALL {
                if self.is_available() && self.read_sample(still).await.is_ok() {
                    readable.push(still);
                }
            }
            readable
        });
        tried.await
    }

    async fn read_sample(&self, still: Still) -> Result<()> {
        let scratch = tempfile::tempdir().map_err(Error::internal)?;
        let sample = scratch.path().join("sample");
        tokio::fs::write(&sample, still.sample()).await.map_err(Error::internal)?;
        let output = tempfile::tempdir().map_err(Error::internal)?;
        self.jpeg(&sample, still, Purpose::Emoji, output.path()).await.map(drop)
    }

    /// Makes a JPEG in `scratch` of a still picture of `owner`, upright and no larger than `purpose` needs.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when it cannot be read here, [`Error::TooLarge`] and [`Error::Broken`] for the file,
    /// [`Error::Timeout`], [`Error::Internal`].
    pub async fn still(
        &self,
        owner: i64,
        input: &Path,
        still: Still,
        purpose: Purpose,
        scratch: &Path,
    ) -> Result<PathBuf> {
        if !self.try_stills().await.contains(&still) {
            return Err(still.unsupported());
        }
        let _permit = self.probes.acquire(Some(owner)).await?;
        self.jpeg(input, still, purpose, scratch).await
    }

    async fn jpeg(&self, input: &Path, still: Still, purpose: Purpose, scratch: &Path) -> Result<PathBuf> {
        let declared = heif::read(input, purpose.max_bytes()).await?;
        let side = if purpose == Purpose::Attachment { STILL_SIDES.0 } else { STILL_SIDES.1 };
        let path = scratch.join("still.jpg");
        let mut encoding =
            words("-map 0:v:0 -an -sn -dn -map_metadata -1 -frames:v 1 -c:v mjpeg -q:v 2 -pix_fmt yuvj420p");
        let fitting =
            format!("scale=w='min({side},iw)':h='min({side},ih)':force_original_aspect_ratio=decrease:out_range=full");
        let filters: Vec<String> = std::iter::once(fitting).chain(declared.upright().map(str::to_owned)).collect();
        encoding.extend(["-vf".into(), filters.join(",").into(), "-f".into(), "image2pipe".into()]);
        // Only some versions rotate such pictures, so the filters do it for all.
        let reading = self.ffmpeg_with(&["-noautorotate"], input, Container::Mp4, scratch, encoding, &path);
        tokio::time::timeout(STILL_TIME_LIMIT, reading).await.map_err(|_| Error::Timeout)??;
        let made = super::probe(&tokio::fs::read(&path).await.map_err(Error::internal)?)?;
        // Of a photograph that is stored in tiles, some versions read the first tile alone.
        let (expected, longer) = (declared.width.max(declared.height).min(side), made.width.max(made.height));
        if u64::from(longer) * 10 < u64::from(expected) * 9 { Err(still.unsupported()) } else { Ok(path) }
    }

    /// The versions of the two programs, and the encoders that are missing, for people.
    ///
    /// # Errors
    /// [`Error::NoConverter`], and [`Error::Internal`] when a program cannot be run.
    pub async fn report(&self) -> Result<Vec<String>> {
        let Programs { ffmpeg, ffprobe } = self.programs.as_ref().ok_or(Error::NoConverter)?;
        let mut report = Vec::new();
        for program in [ffmpeg, ffprobe] {
            let printed = self.output(program, &["-version"]).await?;
            report
                .push(printed.lines().next().unwrap_or_default().split(" Copyright").next().unwrap_or_default().into());
        }
        let encoders = self.output(ffmpeg, &["-v", "quiet", "-encoders"]).await?;
        let known: Vec<&str> = encoders.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        let missing = ENCODERS.iter().filter(|encoder| !known.contains(encoder));
        report.extend(missing.map(|encoder| format!("ffmpeg lacks the encoder {encoder}")));
        Ok(report)
    }

    /// How the two programs are confined on this machine.
    ///
    /// # Errors
    /// [`Error::NoConverter`], and [`Error::Internal`] when they are not run, because the kernel refuses a confinement
    /// that it supports.
    pub async fn confinement(&self) -> Result<Confinement> {
        let program = &self.programs.as_ref().ok_or(Error::NoConverter)?.ffmpeg;
        let scratch = tempfile::tempdir().map_err(Error::internal)?;
        let mut command = tokio::process::Command::new(&self.executable);
        command.args([worker::COMMAND, worker::REPORT_PROGRAM]).args([program, Path::new("/dev/null"), scratch.path()]);
        command.env_clear().current_dir("/").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let ended = tokio::time::timeout(PROBE_TIME_LIMIT, command.output()).await.map_err(|_| Error::Timeout)?;
        let ended = ended.map_err(Error::internal)?;
        serde_json::from_slice(&ended.stdout)
            .map_err(|_| Error::internal(format_args!("not confined: {}", ended.status)))
    }

    /// The output of a program that reads no file.
    async fn output(&self, program: &Path, arguments: &[&str]) -> Result<String> {
        let scratch = tempfile::tempdir().map_err(Error::internal)?;
        let arguments = arguments.iter().map(OsString::from).collect();
        let printed = self.read(program, Path::new("/dev/null"), scratch.path(), arguments).await?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    async fn probe(&self, input: &Path, container: Container, scratch: &Path) -> Result<Streams> {
        let programs = self.programs.as_ref().ok_or(Error::NoConverter)?;
        let mut arguments = words("-v error");
        arguments.extend(opened(container));
        arguments.extend(["-show_entries", ENTRIES, "-of", "json"].map(OsString::from));
        arguments.push(address(input));
        let printed = self.read(&programs.ffprobe, input, scratch, arguments).await?;
        Streams::parse(&printed, container, self.most_seconds)
    }

    /// Runs `program` and returns its output.
    async fn read(&self, program: &Path, input: &Path, scratch: &Path, arguments: Vec<OsString>) -> Result<Vec<u8>> {
        let (time_limit, max_bytes) = (PROBE_TIME_LIMIT, MAX_ANSWER_BYTES);
        let task = Task { program, arguments, input, output: scratch, time_limit, max_bytes };
        program::run(&self.executable, task).await.map_err(|error| match error {
            // A file of a million streams.
            Error::TooLarge { .. } => Error::Broken,
            other => other,
        })?;
        tokio::fs::read(scratch.join(PRINTED)).await.map_err(Error::internal)
    }

    /// Writes one picture of `stream` to a PNG.
    async fn picture(&self, input: &Path, container: Container, stream: &str, scratch: &Path) -> Result<PathBuf> {
        let path = scratch.join("picture.png");
        let mut encoding = words("-an -sn -dn -map_metadata -1 -frames:v 1 -c:v png -f image2pipe");
        encoding.extend(["-map", stream, "-vf", PICTURE_SIZE].map(OsString::from));
        self.ffmpeg(input, container, scratch, encoding, &path).await?;
        Ok(path)
    }

    async fn ffmpeg(
        &self,
        input: &Path,
        container: Container,
        scratch: &Path,
        encoding: Vec<OsString>,
        output: &Path,
    ) -> Result<()> {
        self.ffmpeg_with(&[], input, container, scratch, encoding, output).await
    }

    /// Runs `ffmpeg`, with these options of the input besides.
    async fn ffmpeg_with(
        &self,
        reading: &[&str],
        input: &Path,
        container: Container,
        scratch: &Path,
        encoding: Vec<OsString>,
        output: &Path,
    ) -> Result<()> {
        let program = &self.programs.as_ref().ok_or(Error::NoConverter)?.ffmpeg;
        let mut arguments = words("-v error -nostdin -y -threads 2");
        arguments.extend(opened(container));
        arguments.extend(reading.iter().map(OsString::from));
        arguments.extend(["-i".into(), address(input)]);
        arguments.extend(encoding);
        arguments.push(address(output));
        let (time_limit, max_bytes) = (self.time_limit, self.max_bytes);
        let task = Task { program, arguments, input, output: scratch, time_limit, max_bytes };
        program::run(&self.executable, task).await
    }
}

impl Streams {
    /// Whether every client plays the file as it is.
    fn is_playable(&self, container: Container) -> bool {
        container == Container::Mp4
            && self.video.as_ref().is_some_and(|video| video.codec == "h264" && video.plain)
            && self.audio.as_ref().is_none_or(|audio| audio.codec == "aac")
    }
}

/// The container of the file at `path`; `None` for anything that is neither video nor audio.
///
/// # Errors
/// [`Error::Internal`] when the file cannot be read.
pub async fn container(path: &Path) -> Result<Option<Container>> {
    use tokio::io::AsyncReadExt as _;

    let mut head = Vec::with_capacity(HEAD_BYTES);
    let file = tokio::fs::File::open(path).await.map_err(Error::internal)?;
    file.take(HEAD_BYTES as u64).read_to_end(&mut head).await.map_err(Error::internal)?;
    Ok(Container::of(&head))
}

/// The options for opening a file: as the recognised container, from the disk only, with the permitted decoders.
fn opened(container: Container) -> Vec<OsString> {
    let demuxer = container.demuxer();
    ["-protocol_whitelist", "file", "-codec_whitelist", DECODERS, "-f", demuxer].map(OsString::from).into()
}

/// Without metadata, which may hold a place, and without dates and names of programs.
fn plain() -> Vec<OsString> {
    words("-sn -dn -map_metadata -1 -map_chapters -1 -fflags +bitexact -threads 2")
}

fn to_mp4(as_it_is: bool) -> Vec<OsString> {
    let mut arguments = words("-map 0:V:0 -map 0:a:0?");
    arguments.extend(plain());
    if as_it_is {
        arguments.extend(words("-c copy"));
    } else {
        arguments.extend(words("-c:v libx264 -preset veryfast -crf 23 -pix_fmt yuv420p -c:a aac -b:a 128k -ac 2"));
        arguments.extend(["-vf", EVEN_SIZE].map(OsString::from));
    }
    // One frame more than is accepted, so that too many are seen without being encoded all.
    arguments.extend(["-frames:v".into(), (MAX_FRAMES + 1).to_string().into()]);
    arguments.extend(words("-max_muxing_queue_size 1024 -movflags +faststart -f mp4"));
    arguments
}

fn to_mp3(source: &Streams) -> Vec<OsString> {
    let mut arguments = words("-map 0:a:0 -vn");
    arguments.extend(plain());
    arguments.extend(words("-c:a libmp3lame -q:a 2"));
    if source.audio.as_ref().is_some_and(|audio| audio.channels > 2) {
        arguments.extend(words("-ac 2"));
    }
    arguments.extend(words("-f mp3"));
    arguments
}

fn words(text: &str) -> Vec<OsString> {
    text.split(' ').map(OsString::from).collect()
}
