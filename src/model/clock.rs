//! The clock and the id generator; the only place that reads the system time.
//!
//! Everything else receives a [`Clock`], so that a test can fix the time. Ids are Snowflake-like, as in the contract
//! (rules, section 1): milliseconds since the epoch, shifted left by 16 bits, plus a sequence, so that
//! the order of ids is the order of time.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Duration, Utc};

use crate::Time;

/// Bits of an id that hold the sequence number within one millisecond.
const SEQUENCE_BITS: u32 = 16;

/// Tells the time, to the microsecond, which is the precision of the database.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// The system's clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still at `at` until [`Clock::advance`] moves it.
    #[must_use]
    pub fn fixed(at: DateTime<Utc>) -> Self {
        Self(Source::Fixed(Arc::new(AtomicI64::new(at.timestamp_micros()))))
    }

    /// Now, in UTC.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Time {
        let micros = match &self.0 {
            Source::System => Utc::now().timestamp_micros(),
            Source::Fixed(micros) => micros.load(Ordering::Relaxed),
        };
        Time::from_micros(micros)
    }

    /// Advances a fixed clock; does nothing on the system's.
    pub fn advance(&self, by: Duration) {
        if let Source::Fixed(micros) = &self.0 {
            micros.fetch_add(by.num_microseconds().unwrap_or(0), Ordering::Relaxed);
        }
    }
}

/// Generates increasing ids, also when the clock stands still or is set back.
#[derive(Clone, Debug)]
pub struct Ids {
    clock: Clock,
    last: Arc<AtomicI64>,
    /// The first sequence number of each millisecond.
    start: i64,
}

impl Ids {
    /// A generator that uses the time of `clock` and starts above `floor` (the highest id known to be taken, or 0).
    ///
    /// Each process starts the sequence of a millisecond at its own random number, so that two processes (the command
    /// line and a server, or two servers) rarely generate the same id. With a fixed clock, as in tests, it starts at 0,
    /// so that ids are reproducible.
    #[must_use]
    pub fn new(clock: Clock, floor: i64) -> Self {
        let start = match clock.0 {
            Source::Fixed(_) => 0,
            Source::System => {
                let mut bytes = [0; 2];
                crypto::fill_random(&mut bytes);
                i64::from(u16::from_be_bytes(bytes) >> 1)
            }
        };
        Self { clock, last: Arc::new(AtomicI64::new(floor)), start }
    }

    /// The next id, as any of the id types.
    #[must_use]
    pub fn next<T: From<i64>>(&self) -> T {
        let wanted = Self::first_at(self.clock.now()) + self.start;
        let previous = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(wanted.max(last + 1)));
        let last = previous.unwrap_or_else(|last| last);
        T::from(wanted.max(last + 1))
    }

    /// The lowest id of the millisecond of `time`: the bound between rows created before and after it.
    #[must_use]
    pub fn first_at(time: Time) -> i64 {
        time.timestamp_millis() << SEQUENCE_BITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_while_the_clock_stands_still() {
        let clock = Clock::fixed(DateTime::UNIX_EPOCH + Duration::days(1));
        let ids = Ids::new(clock.clone(), 0);
        let first: i64 = ids.next();
        let second: i64 = ids.next();
        assert_eq!(first, 86_400_000 << 16);
        assert_eq!(second, first + 1);
        clock.advance(Duration::milliseconds(1));
        assert_eq!(ids.next::<i64>(), 86_400_001 << 16);
    }

    #[test]
    fn ids_begin_above_the_highest_one_taken() {
        let ids = Ids::new(Clock::fixed(DateTime::UNIX_EPOCH), 41);
        assert_eq!(ids.next::<i64>(), 42);
    }
}
