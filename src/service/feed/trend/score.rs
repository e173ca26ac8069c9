//! Computes scores from usage, and their decay: pure functions.
//!
//! Spec: docs/contract/rules.md#23-discovery.

use chrono::TimeDelta;
use model::trend::TrendKind;

/// Fewest people (hashtags, links), or reblogs and favourites (statuses), that make a trend.
pub(super) const THRESHOLD: i64 = 5;

/// How a kind of trend is scored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scoring {
    /// The time after which a score is half as high.
    pub half_life: TimeDelta,
    /// The lowest score of a trend.
    pub least: f64,
}

impl Scoring {
    pub(super) fn of(kind: TrendKind) -> Self {
        match kind {
            TrendKind::Tag => Self { half_life: TimeDelta::hours(4), least: 1.0 },
            TrendKind::Link => Self { half_life: TimeDelta::hours(8), least: 1.0 },
            TrendKind::Status => Self { half_life: TimeDelta::hours(1), least: 0.3 },
        }
    }

    /// `score` after `age`; 0 below the least score.
    pub(super) fn decayed(self, score: f64, age: TimeDelta) -> f64 {
        let half_lives = seconds(age).max(0.0) / seconds(self.half_life);
        let decayed = score * 0.5_f64.powf(half_lives);
        if decayed < self.least { 0.0 } else { decayed }
    }
}

fn seconds(time: TimeDelta) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a score, not a count")]
    let milliseconds = time.num_milliseconds() as f64;
    milliseconds / 1_000.0
}

/// How far `observed` exceeds the `expected` value; 0 below the [`THRESHOLD`]. An expected value of 0 counts as 1.
pub(super) fn burst(observed: f64, expected: f64) -> f64 {
    if observed < count(THRESHOLD) || expected > observed {
        return 0.0;
    }
    let expected = expected.max(1.0);
    (observed - expected).powi(2) / expected
}

/// A count as a floating-point number, for scores.
#[expect(clippy::cast_precision_loss, reason = "a score, not a count")]
pub(super) fn count(count: i64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn score_measures_use_above_the_expected_use() {
        assert!(same(burst(5.0, 0.0), 16.0) && same(burst(5.0, 1.0), 16.0));
        assert!(same(burst(10.0, 5.0), 5.0));
        assert!(same(burst(5.0, 5.0), 0.0));
    }

    #[test]
    fn little_or_falling_use_is_not_a_trend() {
        for (observed, expected) in [(4.9, 0.0), (0.0, 0.0), (9.0, 10.0)] {
            assert!(same(burst(observed, expected), 0.0), "{observed} of {expected}");
        }
    }

    #[test]
    fn score_halves_and_ends() {
        let tags = Scoring::of(TrendKind::Tag);
        assert!(same(tags.decayed(16.0, TimeDelta::zero()), 16.0));
        assert!(same(tags.decayed(16.0, TimeDelta::hours(4)), 8.0));
        assert!(same(tags.decayed(16.0, TimeDelta::hours(16)), 1.0));
        assert!(same(tags.decayed(16.0, TimeDelta::hours(17)), 0.0));
        let statuses = Scoring::of(TrendKind::Status);
        assert!(same(statuses.decayed(16.0, TimeDelta::hours(1)), 8.0));
        assert!(same(statuses.decayed(16.0, TimeDelta::minutes(-5)), 16.0), "a clock that went back is no bonus");
    }
}
