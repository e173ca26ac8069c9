//! Job: asks plugins whether pending notifications may be created (`service::notification::judge_waiting`). One job
//! handles all that are pending.

use super::Run;
use context::Cx;
use context::queue::{Done, Failure, JudgeNotices};
use service::notification;
use store::job::Claim;

impl Run for JudgeNotices {
    async fn run(self, cx: &Cx, _: Claim) -> Result<Done, Failure> {
        notification::judge_waiting(cx).await?;
        Ok(Done::Remove)
    }
}
