//! Encodes an animation as silent H.264 video, which is a tenth of the size of a GIF.
//!
//! Called by [`process`](super::process()) in the worker. Encodes with OpenH264 (BSD-2-Clause, built from the source
//! its crate bundles): baseline profile, yuv420p, BT.601, constant quality, one thread. Each frame keeps its duration.
//!
//! Spec: ITU-T H.264; the encoder's bounds: <https://github.com/cisco/openh264>

use openh264::OpenH264API;
use openh264::encoder::{EncodedBitStream, FrameType, IntraFramePeriod};
use openh264::encoder::{Encoder, EncoderConfig, Profile, RateControlMode, UsageType, VuiConfig};
use openh264::formats::{RgbaSliceU8, YUVBuffer};

use super::MAX_GIF_PIXELS;
use super::colour;
use super::decode::Frame;
use super::error::{Error, Result};
use super::mp4::{self, Sample, Track};
use super::scale;
use super::types::Motion;

/// The side lengths that OpenH264 can encode; its upper bound for the shorter side is 2160.
const SIDE: std::ops::RangeInclusive<u32> = 16..=3840;

/// The interval between key frames, where a player may start or seek to.
const KEY_INTERVAL: u32 = 120;

/// The dimensions of the video for a `width` x `height` animation: even, as 4:2:0 needs, within the pixel limit.
///
/// `None` when no such video can be encoded.
pub(super) fn dimensions(width: u32, height: u32) -> Option<(u32, u32)> {
    let (width, height) = scale::fit(width, height, MAX_GIF_PIXELS);
    let (width, height) = (width & !1, height & !1);
    (SIDE.contains(&width) && SIDE.contains(&height)).then_some((width, height))
}

/// Encodes `frames`, each scaled to `size` (see [`dimensions`]) and composited onto white.
pub(super) fn encode(frames: impl Iterator<Item = Result<Frame>>, size: (u32, u32)) -> Result<(Vec<u8>, Motion)> {
    let mut encoder = Encoder::with_api_config(OpenH264API::from_source(), config()).map_err(Error::internal)?;
    let mut track = Track::new(size);
    let mut motion = Motion::default();
    for frame in frames {
        let Frame { image, delay } = frame?;
        motion.add(delay);
        let mut image = scale::resize(&image, size.0, size.1)?;
        colour::over_white(&mut image);
        let picture = YUVBuffer::from_rgba8_source(RgbaSliceU8::new(&image, (size.0 as usize, size.1 as usize)));
        let encoded = encoder.encode(&picture).map_err(Error::internal)?;
        append(&mut track, &encoded, u32::try_from(delay.as_millis()).unwrap_or(u32::MAX));
    }
    let file = mp4::write(&track).ok_or_else(|| Error::internal("no picture was encoded"))?;
    Ok((file, motion))
}

fn config() -> EncoderConfig {
    EncoderConfig::new()
        .profile(Profile::Baseline)
        .rate_control_mode(RateControlMode::Off)
        .usage_type(UsageType::CameraVideoRealTime)
        .skip_frames(false)
        .background_detection(false)
        .adaptive_quantization(false)
        .intra_frame_period(IntraFramePeriod::from_num_frames(KEY_INTERVAL))
        .num_threads(1)
        .vui(VuiConfig::bt601())
}

/// Adds one encoded frame; its parameter sets go to the track's header.
fn append(track: &mut Track, encoded: &EncodedBitStream<'_>, millis: u32) {
    let mut sample = Sample { bytes: Vec::new(), millis, key: encoded.frame_type() == FrameType::IDR };
    for layer in (0..encoded.num_layers()).filter_map(|index| encoded.layer(index)) {
        for unit in (0..layer.nal_count()).filter_map(|index| layer.nal_unit(index)) {
            track.add_unit(&mut sample, mp4::without_start_code(unit));
        }
    }
    track.add_sample(sample);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_even_and_encodable() {
        assert_eq!(dimensions(101, 57), Some((100, 56)));
        assert_eq!(dimensions(3840, 2160), Some((1280, 720)));
        assert_eq!(dimensions(15, 400), None);
        assert_eq!(dimensions(9000, 20), None);
    }
}
