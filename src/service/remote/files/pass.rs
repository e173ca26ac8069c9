//! Passing a file on while it arrives from its server.

use std::time::Duration;

use chrono::TimeDelta;
use context::Cx;
use context::error::Result;
use context::hosts::Ended;
use outbound::{FetchError, Pass, PlainHttp};

use super::{Found, Subject};
use crate::web_page;

/// The time until a server responds, and between two pieces of a file.
const PATIENCE: Duration = Duration::from_secs(15);
/// The time for a whole file.
const TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// When to try again while too many files are passed on.
const BUSY: TimeDelta = TimeDelta::seconds(10);

/// The content types that are passed on: nothing that a browser runs.
pub(super) const KINDS: &[&str] = &[
    "image/jpeg",
    "image/png",
    "image/gif",
    "image/webp",
    "image/avif",
    "video/mp4",
    "video/webm",
    "video/ogg",
    "video/quicktime",
    "audio/mpeg",
    "audio/mp4",
    "audio/x-m4a",
    "audio/ogg",
    "audio/webm",
    "audio/flac",
    "audio/x-flac",
    "audio/wav",
    "audio/x-wav",
    "audio/aac",
];

/// Requests the file, and returns its response while it arrives.
pub(super) async fn on(cx: &Cx, subject: &Subject, range: Option<&str>) -> Result<Found> {
    let now = cx.clock.now();
    let (Some(one), Some(of_host)) = (cx.passing.try_take(""), cx.passing_hosts.try_take(&subject.host)) else {
        return Ok(Found::Missing(now + BUSY));
    };
    let visit = match cx.media_hosts.enter(&subject.host, now) {
        Ok(visit) => visit,
        Err(spared) => return Ok(Found::Missing(spared.until())),
    };
    let pass = Pass {
        target: subject.target.clone(),
        agent: &web_page::agent(cx),
        range,
        patience: PATIENCE,
        timeout: TIMEOUT,
        limit: super::copy::limit(cx, subject),
        kinds: KINDS,
        plain: PlainHttp::Any,
    };
    let passed = cx.outbound.pass(pass).await;
    let now = cx.clock.now();
    visit.end(ended(passed.as_ref().err()), now);
    match passed {
        Ok(streaming) => Ok(Found::Passed(Box::new(streaming.holding((one, of_host))))),
        Err(error) => {
            tracing::debug!(host = subject.host, %error, "a file of another server was not passed on");
            Ok(Found::Missing(now + super::copy::FIRST_BACK_OFF))
        }
    }
}

/// How a request ended for the host of the file.
pub(super) fn ended(error: Option<&FetchError>) -> Ended {
    match error {
        Some(FetchError::Request(_)) => Ended::Silent,
        Some(FetchError::Status(429 | 500..=599)) => Ended::Refused,
        Some(FetchError::Status(_) | FetchError::Kind(_) | FetchError::Redirects) | None => Ended::Answered,
    }
}
