//! Job: deletes plugin data about a removed account that was written after the removal, because plugins receive
//! events with a delay.
//!
//! A disabled plugin may be enabled again and receive old events; these are kept for two weeks, and so the job repeats,
//! with back-off, for about as long.

use chrono::TimeDelta;
use context::Cx;
use context::job;
use context::queue::{Failure, ForgetAccount, Next};
use database::Tx;

/// Rows deleted per transaction.
const ROW_BATCH: i64 = 2_000;
/// The first back-off; it doubles with each run …
const FIRST_BACK_OFF: TimeDelta = TimeDelta::minutes(1);
/// … up to this maximum.
const LONGEST_BACK_OFF: TimeDelta = TimeDelta::days(1);
/// Most runs; the last one is about two weeks after the first.
const MAX_RUNS: u32 = 24;

#[model::use_case]
#[job]
async fn forget_account(cx: &Cx, tx: &mut Tx, job: ForgetAccount) -> Result<Next<ForgetAccount>, Failure> {
    let kept = store::plugin_event::exists_up_to(&mut *tx, job.last).await?;
    let more = store::plugin_data::purge_part(tx, job.account, ROW_BATCH).await? > 0;
    Ok(match (more, kept) {
        (true, _) => Next::Now(job),
        (false, true) if job.looks < MAX_RUNS => {
            let next = ForgetAccount { looks: job.looks + 1, ..job };
            Next::At(cx.clock.now() + back_off(next.looks), next)
        }
        (false, _) => Next::Nothing,
    })
}

/// Exponential back-off: 1, 2, 4 … minutes, at most a day.
fn back_off(looks: u32) -> TimeDelta {
    (FIRST_BACK_OFF * 2_i32.pow(looks.saturating_sub(1).min(20))).min(LONGEST_BACK_OFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_repeats_for_two_weeks() {
        let all = (1..=MAX_RUNS).map(back_off).fold(TimeDelta::zero(), |sum, back_off| sum + back_off);
        assert!(all > TimeDelta::days(13) && all < TimeDelta::days(15), "{all}");
        assert_eq!(back_off(1), FIRST_BACK_OFF);
    }
}
