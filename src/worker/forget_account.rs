//! Job: deletes plugin data about a removed account that was written after the removal, because a plugin receives its
//! events later than they happen.
//!
//! A disabled plugin may be enabled again and receive old events; these are kept for two weeks, and so the job repeats,
//! with back-off, for about as long.

use super::Run;
use chrono::TimeDelta;
use context::Cx;
use context::queue::{Done, Failure, ForgetAccount, enqueue, enqueue_at, finish};
use service::removal;
use store::job::Claim;

/// The first back-off; it doubles with each run …
const FIRST_BACK_OFF: TimeDelta = TimeDelta::minutes(1);
/// … up to this maximum.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::days(1);
/// Most runs; the last one is about two weeks after the first.
const MAX_RUNS: u32 = 24;

impl Run for ForgetAccount {
    async fn run(self, cx: &Cx, claim: Claim) -> Result<Done, Failure> {
        let mut tx = cx.db.begin().await?;
        match removal::delete_plugin_data_batch(&mut tx, self.account, self.last).await? {
            (true, _) => enqueue(cx, &mut tx, &self).await?,
            (false, true) if self.looks < MAX_RUNS => {
                let next = Self { looks: self.looks + 1, ..self };
                enqueue_at(cx, &mut tx, &next, cx.clock.now() + back_off(next.looks)).await?;
            }
            (false, _) => {}
        }
        finish(&mut tx, claim).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// Exponential back-off: 1, 2, 4 … minutes, at most a day.
fn back_off(looks: u32) -> TimeDelta {
    (FIRST_BACK_OFF * 2_i32.pow(looks.saturating_sub(1).min(20))).min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_goes_on_for_two_weeks() {
        let all = (1..=MAX_RUNS).map(back_off).fold(TimeDelta::zero(), |sum, back_off| sum + back_off);
        assert!(all > TimeDelta::days(13) && all < TimeDelta::days(15), "{all}");
        assert_eq!(back_off(1), FIRST_BACK_OFF);
    }
}
