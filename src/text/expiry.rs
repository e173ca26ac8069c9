//! Finds the expiry of a status in its text: `#exp1d12h`, `#exp30m`.
//!
//! The expiry is a normal hashtag, and stays in the text. Spec: docs/contract/rules.md#10-statuses.

use std::time::Duration;

use super::scan::Scan;

/// The longest accepted expiry, in seconds: ten years. A longer one is ignored, since it is hardly intended.
const MOST_SECONDS: u64 = 3_650 * 24 * 60 * 60;

/// The time between publication and deletion of the text from which `scan` was read; the first mark counts.
#[must_use]
pub fn expiry(scan: &Scan) -> Option<Duration> {
    scan.hashtags().find_map(|tag| lasts(&tag.display))
}

fn lasts(tag: &str) -> Option<Duration> {
    let (start, mut rest) = tag.split_at_checked(3)?;
    if !start.eq_ignore_ascii_case("exp") {
        return None;
    }
    let mut seconds = 0_u64;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = match rest.as_bytes().get(digits)?.to_ascii_lowercase() {
            b'd' => 24 * 60 * 60,
            b'h' => 60 * 60,
            b'm' => 60,
            b's' => 1,
            _ => return None,
        };
        seconds = seconds.checked_add(number.checked_mul(unit)?)?;
        rest = &rest[digits + 1..];
    }
    (1..=MOST_SECONDS).contains(&seconds).then(|| Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan;

    fn seconds(text: &str) -> Option<u64> {
        expiry(&scan(text)).map(|lasts| lasts.as_secs())
    }

    #[test]
    fn mark_says_how_long() {
        assert_eq!(seconds("gone soon #exp30m"), Some(1_800));
        assert_eq!(seconds("#a #exp1d2h3m4s, #exp1s"), Some(93_784));
        assert_eq!(seconds("#EXP90S"), Some(90));
        assert_eq!(seconds("#exp3650d"), Some(MOST_SECONDS));
    }

    #[test]
    fn other_hashtags_say_nothing() {
        for text in
            ["#exp", "#exp5", "#exp5x", "#expm", "#expert", "#exp0s", "#exp3651d", "#exp5m_", "x#exp5m", "exp5m"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(seconds("#exp99999999999999999999d"), None);
        assert_eq!(seconds("#exp9999999999999999999d"), None);
    }
}
