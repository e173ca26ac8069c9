//! How often a plugin may notify one account: a count for each account and hour, in this process.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

const HOUR: Duration = Duration::from_secs(3600);
/// Accounts after which those whose hour is over are dropped.
const ACCOUNTS: usize = 10_000;

/// The notifications of the current hour of each account.
#[derive(Debug, Default)]
pub(super) struct Notified(HashMap<i64, (Instant, u32)>);

impl Notified {
    /// Counts a notification for `account`; false when it had `most` within an hour.
    pub(super) fn count(&mut self, account: i64, most: u32, now: Instant) -> bool {
        if self.0.len() >= ACCOUNTS && !self.0.contains_key(&account) {
            self.0.retain(|_, (began, _)| now.saturating_duration_since(*began) < HOUR);
        }
        let (began, count) = self.0.entry(account).or_insert((now, 0));
        if now.saturating_duration_since(*began) >= HOUR {
            (*began, *count) = (now, 0);
        }
        if *count >= most {
            return false;
        }
        *count += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_is_notified_so_often_within_an_hour() {
        let (mut notified, now) = (Notified::default(), Instant::now());
        assert_eq!((0..10).filter(|_| notified.count(1, 3, now)).count(), 3);
        assert!(notified.count(2, 3, now), "each account has an hour of its own");
        assert!(!notified.count(1, 3, now + HOUR - Duration::from_secs(1)));
        assert!(notified.count(1, 3, now + HOUR));
    }
}
