//! Job: asks plugins whether pending notifications may be created (`service::notification::judge_waiting`). One job
//! handles all that are pending.

use super::Run;
use rookery_core::Cx;
use rookery_core::queue::{Done, Failure, JudgeNotices};
use rookery_core::service::notification;
use store::job::Claim;

impl Run for JudgeNotices {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        notification::judge_waiting(cx).await?;
        Ok(Done::Remove)
    }
}
