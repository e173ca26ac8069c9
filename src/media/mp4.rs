//! A minimal MP4 muxer: one H.264 track, no sound, the index before the data so that playback can start immediately.
//!
//! Used by [`gifv`](super::gifv). Writes no dates and no encoder name, so the same frames give the same file.
//!
//! Specs: ISO/IEC 14496-12 (boxes), ISO/IEC 14496-15 (`avc1`, `avcC`)

/// Units per second of all times in the file: milliseconds.
const TIMESCALE: u32 = 1000;

/// The identity transformation, in 16.16 and 2.30 fixed point.
const MATRIX: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// One encoded frame, as length-prefixed NAL units.
pub(super) struct Sample {
    pub bytes: Vec<u8>,
    pub millis: u32,
    /// Whether this is a key frame, at which a player may start.
    pub key: bool,
}

/// A video track under construction.
pub(super) struct Track {
    width: u32,
    height: u32,
    sequence: Vec<u8>,
    picture: Vec<u8>,
    samples: Vec<Sample>,
}

impl Track {
    /// An empty track for frames of the given width and height, which must fit 16 bits each.
    pub(super) fn new((width, height): (u32, u32)) -> Self {
        Self { width, height, sequence: Vec::new(), picture: Vec::new(), samples: Vec::new() }
    }

    /// Adds one NAL unit: parameter sets to the track's header, anything else to `sample`.
    pub(super) fn add_unit(&mut self, sample: &mut Sample, unit: &[u8]) {
        match unit.first().map(|head| head & 0x1F) {
            Some(7) => self.sequence = unit.to_vec(),
            Some(8) => self.picture = unit.to_vec(),
            Some(_) => {
                sample.bytes.extend(count(unit.len()).to_be_bytes());
                sample.bytes.extend(unit);
            }
            None => {}
        }
    }

    /// Appends a frame; an empty one prolongs the frame before it.
    pub(super) fn add_sample(&mut self, sample: Sample) {
        match self.samples.last_mut() {
            Some(last) if sample.bytes.is_empty() => last.millis = last.millis.saturating_add(sample.millis),
            _ => self.samples.push(sample),
        }
    }

    fn duration(&self) -> u32 {
        self.samples.iter().fold(0, |sum: u32, sample| sum.saturating_add(sample.millis))
    }
}

/// A NAL unit without the Annex B start code before it.
pub(super) fn without_start_code(unit: &[u8]) -> &[u8] {
    unit.strip_prefix(&[0, 0, 0, 1]).or_else(|| unit.strip_prefix(&[0, 0, 1])).unwrap_or(unit)
}

/// The bytes of the file; `None` when `track` has no frames or no parameter sets.
pub(super) fn write(track: &Track) -> Option<Vec<u8>> {
    if track.samples.is_empty() || track.sequence.len() < 4 || track.picture.is_empty() {
        return None;
    }
    let types = atom(b"ftyp", &[b"isom".as_slice(), &0x200_u32.to_be_bytes(), b"isomiso2avc1mp41"]);
    // The index holds the offset of the data, which follows from the index's size; that is the same for any offset.
    let index = movie(track, 0).len();
    let start = u32::try_from(types.len() + index + 8).ok()?;
    let mut file = [types, movie(track, start)].concat();
    let data: Vec<&[u8]> = track.samples.iter().map(|sample| sample.bytes.as_slice()).collect();
    file.extend(atom(b"mdat", &data));
    Some(file)
}

/// A box: its size, its type, its content.
fn atom(name: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let length = 8 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(count(length).to_be_bytes());
    bytes.extend(name);
    parts.iter().for_each(|part| bytes.extend(*part));
    bytes
}

/// A length as a 32-bit field; anything longer would not fit into a worker's memory.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_be_bytes).collect()
}

fn movie(track: &Track, start: u32) -> Vec<u8> {
    let header = [words([0, 0, 0, TIMESCALE, track.duration(), 0x1_0000, 0x0100_0000, 0, 0]), words(MATRIX)].concat();
    // Six reserved words, then the next free track id.
    let header = atom(b"mvhd", &[&header, &words([0, 0, 0, 0, 0, 0, 2])]);
    atom(b"moov", &[&header, &atom(b"trak", &[&track_header(track), &media(track, start)])])
}

/// Track 1, enabled and in the presentation (flags 3).
fn track_header(track: &Track) -> Vec<u8> {
    let (width, height) = (track.width << 16, track.height << 16);
    let times = words([3, 0, 0, 1, 0, track.duration(), 0, 0, 0, 0]);
    atom(b"tkhd", &[&times, &words(MATRIX), &words([width, height])])
}

fn media(track: &Track, start: u32) -> Vec<u8> {
    // Language "und", packed.
    let header = atom(b"mdhd", &[&words([0, 0, 0, TIMESCALE, track.duration(), 0x55C4_0000])]);
    let handler = atom(b"hdlr", &[&words([0, 0]), b"vide", &words([0, 0, 0]), b"\0"]);
    let here = atom(b"url ", &[&words([1])]);
    let location = atom(b"dinf", &[&atom(b"dref", &[&words([0, 1]), &here])]);
    let video = atom(b"vmhd", &[&words([1, 0, 0])]);
    let information = atom(b"minf", &[&video, &location, &samples(track, start)]);
    atom(b"mdia", &[&header, &handler, &information])
}

/// The sample table: offset, size and duration of each sample, and the key frames; all samples are one chunk.
fn samples(track: &Track, start: u32) -> Vec<u8> {
    let total = count(track.samples.len());
    let durations = runs(track.samples.iter().map(|sample| sample.millis));
    let keys: Vec<u32> = (1..).zip(&track.samples).filter(|(_, sample)| sample.key).map(|(number, _)| number).collect();
    let sizes = words(track.samples.iter().map(|sample| count(sample.bytes.len())));
    let table = words(durations.iter().flat_map(|&(count, millis)| [count, millis]));
    atom(
        b"stbl",
        &[
            &atom(b"stsd", &[&words([0, 1]), &entry(track)]),
            &atom(b"stts", &[&words([0, count(durations.len())]), &table]),
            &atom(b"stss", &[&words([0, count(keys.len())]), &words(keys)]),
            &atom(b"stsc", &[&words([0, 1, 1, total, 1])]),
            &atom(b"stsz", &[&words([0, 0, total]), &sizes]),
            &atom(b"stco", &[&words([0, 1, start])]),
        ],
    )
}

/// Run-length encoding: each value with the number of times it repeats.
fn runs(values: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((count, last)) if *last == value => *count += 1,
            _ => runs.push((1, value)),
        }
    }
    runs
}

/// The visual sample entry: 72 dpi, depth 24, BT.601 colours, and the parameter sets.
fn entry(track: &Track) -> Vec<u8> {
    let dimensions = words([track.width << 16 | track.height]);
    let colours = atom(b"colr", &[b"nclx", &[0, 6, 0, 6, 0, 6, 0]]);
    let fixed = words([0, 1, 0, 0, 0, 0]);
    let resolution = [words([0x48_0000, 0x48_0000, 0]), vec![0, 1], vec![0; 32], vec![0, 24, 0xFF, 0xFF]].concat();
    atom(b"avc1", &[&fixed, &dimensions, &resolution, &parameters(track), &colours])
}

/// The decoder configuration: lengths of four bytes, one sequence and one picture parameter set.
fn parameters(track: &Track) -> Vec<u8> {
    let sequence = &track.sequence;
    let head = [1, sequence[1], sequence[2], sequence[3], 0xFF, 0xE1];
    let length = |set: &[u8]| u16::try_from(set.len()).unwrap_or(u16::MAX).to_be_bytes();
    atom(b"avcC", &[&head, &length(sequence), sequence, &[1], &length(&track.picture), &track.picture])
}
