//! The clock and the id generator; the only place that reads the system time.
//!
//! Everything else receives a [`Clock`], so that a test can fix the time. Ids are Snowflake-like, as in the contract
//! (docs/contract/rules.md#1-transport): milliseconds since the epoch, shifted left by 16 bits, plus the number of
//! the process (7 bits) and a sequence (9 bits), so that ids are ordered by time and no two processes generate the
//! same id.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use chrono::{DateTime, Duration, Utc};

use crate::Time;

/// Bits of an id below its millisecond.
const LOW_BITS: u32 = 16;
/// Number of the low bits that count the ids of one process in one millisecond.
const SEQUENCE_BITS: u32 = 9;
/// Most processes that can generate ids at the same time.
pub const NODES: i64 = 1 << (LOW_BITS - SEQUENCE_BITS);

/// The source of the current time, to the microsecond, which is the precision of the database.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Fixed(Arc<AtomicI64>),
}

impl Clock {
    /// The system clock.
    #[must_use]
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock fixed at `at` until [`Clock::advance`] moves it.
    #[must_use]
    pub fn fixed(at: DateTime<Utc>) -> Self {
        Self(Source::Fixed(Arc::new(AtomicI64::new(at.timestamp_micros()))))
    }

    /// The current time in UTC.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn now(&self) -> Time {
        let micros = match &self.0 {
            Source::System => Utc::now().timestamp_micros(),
            Source::Fixed(micros) => micros.load(Ordering::Relaxed),
        };
        Time::from_micros(micros)
    }

    /// Advances a fixed clock; no effect on the system clock.
    pub fn advance(&self, by: Duration) {
        if let Source::Fixed(micros) = &self.0 {
            micros.fetch_add(by.num_microseconds().unwrap_or(0), Ordering::Relaxed);
        }
    }
}

/// Generates increasing ids, even when the clock does not advance or is set back.
#[derive(Clone, Debug)]
pub struct Ids {
    clock: Clock,
    last: Arc<AtomicI64>,
    /// The number of this process, below [`NODES`].
    node: Arc<AtomicI64>,
}

impl Ids {
    /// A generator that uses the time of `clock` and starts above `floor` (the highest id known to be taken, or 0).
    /// `node` is the number of this process: no other process that generates ids has it.
    #[must_use]
    pub fn new(clock: Clock, node: i64, floor: i64) -> Self {
        let ids = Self { clock, last: Arc::new(AtomicI64::new(floor)), node: Arc::default() };
        ids.move_to(node);
        ids
    }

    /// Uses another number for further ids, since the previous number was lost to another process.
    pub fn move_to(&self, node: i64) {
        self.node.store(node.rem_euclid(NODES), Ordering::Relaxed);
    }

    /// The last generated id, or the floor.
    #[must_use]
    pub fn last(&self) -> i64 {
        self.last.load(Ordering::Relaxed)
    }

    /// The distance of the last id ahead of the clock; negative when it is behind. Large after the clock was set
    /// back.
    #[must_use]
    pub fn ahead(&self) -> Duration {
        Duration::milliseconds((self.last() >> LOW_BITS) - self.clock.now().timestamp_millis())
    }

    /// The next id, as any of the id types.
    #[must_use]
    pub fn next<T: From<i64>>(&self) -> T {
        let node = self.node.load(Ordering::Relaxed) << SEQUENCE_BITS;
        let first = Self::first_at(self.clock.now()) | node;
        let next = |last| if first > last { first } else { following(last, node) };
        let previous = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        T::from(next(previous.unwrap_or_else(|last| last)))
    }

    /// The lowest id of the millisecond of `time`: the bound between rows created before and after it.
    #[must_use]
    pub fn first_at(time: Time) -> i64 {
        time.timestamp_millis() << LOW_BITS
    }
}

/// The lowest id above `last` with the bits of `node`: in the same millisecond until its sequence is exhausted, then
/// in the next one.
fn following(last: i64, node: i64) -> i64 {
    let (millisecond, low) = (last >> LOW_BITS, last & ((1 << LOW_BITS) - 1));
    let same = low >> SEQUENCE_BITS == node >> SEQUENCE_BITS;
    let next = last + 1;
    if same && next >> SEQUENCE_BITS == last >> SEQUENCE_BITS { next } else { (millisecond + 1) << LOW_BITS | node }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_grow_with_a_fixed_clock() {
        let clock = Clock::fixed(DateTime::UNIX_EPOCH + Duration::days(1));
        let ids = Ids::new(clock.clone(), 0, 0);
        let first: i64 = ids.next();
        let second: i64 = ids.next();
        assert_eq!(first, 86_400_000 << 16);
        assert_eq!(second, first + 1);
        clock.advance(Duration::milliseconds(1));
        assert_eq!(ids.next::<i64>(), 86_400_001 << 16);
    }

    #[test]
    fn ids_begin_above_the_highest_one_taken() {
        let ids = Ids::new(Clock::fixed(DateTime::UNIX_EPOCH), 0, 41);
        assert_eq!(ids.next::<i64>(), 42);
    }

    #[test]
    fn processes_never_make_the_same_id_and_each_makes_growing_ones() {
        let clock = Clock::fixed(DateTime::UNIX_EPOCH + Duration::days(1));
        let floor = Ids::first_at(clock.now()) + 77;
        let mut all = std::collections::HashSet::new();
        for node in [0, 1, NODES - 1] {
            let ids = Ids::new(clock.clone(), node, floor);
            let mut last = floor;
            // More ids than the sequence of a millisecond has, and the clock is set back meanwhile.
            for number in 0..3_000 {
                if number == 1_000 {
                    clock.advance(-Duration::hours(1));
                }
                let id: i64 = ids.next();
                assert!(id > last, "{id} after {last}");
                assert_eq!(id >> SEQUENCE_BITS & (NODES - 1), node);
                assert!(all.insert(id), "made twice");
                last = id;
            }
            clock.advance(Duration::hours(1));
        }
    }

    #[test]
    fn number_of_a_process_changes_within_its_ids() {
        let ids = Ids::new(Clock::fixed(DateTime::UNIX_EPOCH), 5, 0);
        let before: i64 = ids.next();
        ids.move_to(3);
        let after: i64 = ids.next();
        assert!(after > before && after == ids.last());
        assert_eq!(after >> SEQUENCE_BITS & (NODES - 1), 3);
    }
}
