//! Takes away what plugins wrote of a removed account after it was gone: they hear of what it did when they get to it.
//!
//! One that is off may be switched on and hear of it then; what is kept for plugins is kept for two weeks.

use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::{Done, Failure, Job, enqueue, enqueue_at, finish};
use crate::app::App;
use crate::service::removal;
use model::job::Lane;
use model::{AccountId, JobId};

/// How long after the first look one looks again; then after twice as long, and so on …
const PAUSE: TimeDelta = TimeDelta::minutes(1);
/// … up to this.
const LONGEST: TimeDelta = TimeDelta::days(1);
/// So often one looks: the last look is some two weeks after the first.
const LOOKS: u32 = 24;

/// Looks again and again until plugins have done everything that happened before an account was removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct ForgetAccount {
    /// Which.
    pub account: AccountId,
    /// The last event of before.
    pub last: i64,
    /// How often one has looked.
    pub looks: u32,
}

impl Job for ForgetAccount {
    const KIND: &'static str = "forget_account";
    const LANE: Lane = Lane::Background;

    fn key(&self) -> Option<String> {
        Some(self.account.to_string())
    }

    async fn run(self, app: &App, id: JobId) -> Result<Done, Failure> {
        let mut tx = app.db.begin().await?;
        match removal::forget_part(&mut tx, self.account, self.last).await? {
            (true, _) => enqueue(app, &mut tx, &self).await?,
            (false, true) if self.looks < LOOKS => {
                let next = Self { looks: self.looks + 1, ..self };
                enqueue_at(app, &mut tx, &next, app.clock.now() + pause(next.looks)).await?;
            }
            (false, _) => {}
        }
        finish(&mut tx, id).await?;
        tx.commit().await?;
        Ok(Done::Removed)
    }
}

/// 1, 2, 4 … minutes, a day.
fn pause(looks: u32) -> TimeDelta {
    (PAUSE * 2_i32.pow(looks.saturating_sub(1).min(20))).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_looks_for_two_weeks() {
        let all = (1..=LOOKS).map(pause).fold(TimeDelta::zero(), |sum, pause| sum + pause);
        assert!(all > TimeDelta::days(13) && all < TimeDelta::days(15), "{all}");
        assert_eq!(pause(1), PAUSE);
    }
}
